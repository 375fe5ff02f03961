//! JaCoCo's XML report of one test: every report is one test, called like its file.

use std::path::Path;

use fewer_core::reduction::RequirementKind;

use crate::error::Problem;
use crate::findings::Findings;
use crate::xml::{self, Piece};

/// The covered lines. The test's name is the file's, without the extension: `shop.CartTest#addsUp.xml`.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Findings, Problem> {
    let test = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut findings = Findings::new(RequirementKind::Statements);
    findings.test(&test);
    let (mut package, mut file, mut is_report) = (String::new(), None, false);
    xml::walk(bytes, "a report of JaCoCo", |piece| {
        match piece {
            Piece::Open(tag) => match tag.name().as_str() {
                "report" => is_report = true,
                "package" => package = tag.required("name")?,
                "sourcefile" => file = Some(format!("{package}/{}", tag.required("name")?)),
                "line" => {
                    let Some(file) = &file else {
                        return Err(Problem::at(tag.line, "<line> in a <sourcefile>", "one outside"));
                    };
                    let line = tag.number("nr")?;
                    if tag.number("ci")? > 0 {
                        let statement = findings.statement(file, line);
                        findings.satisfied(&test, statement);
                    }
                }
                _ => {}
            },
            Piece::Close(text) if text.name == "sourcefile" => file = None,
            Piece::Close(_) => {}
        }
        Ok(())
    })?;
    if is_report {
        Ok(findings)
    } else {
        Err(Problem::whole("a report of JaCoCo (<report>)", "another document"))
    }
}
