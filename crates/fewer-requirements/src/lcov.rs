//! LCOV tracefiles: `TN:` names the test, `SF:` the file, `DA:` a line and how often it was executed. Functions,
//! branches and sums are left alone.

use fewer_core::reduction::RequirementKind;

use crate::error::{Problem, quoted};
use crate::findings::Findings;
use crate::gcov::normal;

/// Records that a tracefile may hold beside those that are read.
const OTHER_RECORDS: [&str; 17] = [
    "VER", "FN", "FNDA", "FNF", "FNH", "FNL", "FNA", "BRDA", "BRF", "BRH", "MCDC", "MCF", "MCH", "LF", "LH",
    "BA", "LC",
];

/// The statements of every test that a tracefile names.
pub(crate) fn parse(bytes: &[u8]) -> Result<Findings, Problem> {
    let mut findings = Findings::new(RequirementKind::Statements);
    let mut nameless = false;
    let mut test = String::new();
    walk(bytes, |record| match record {
        Record::Test(name) => {
            test = name.to_string();
            if !test.is_empty() {
                findings.test(&test);
            }
        }
        Record::Covered { .. } if test.is_empty() => nameless = true,
        Record::Covered { file, line } => {
            let statement = findings.statement(file, line);
            findings.satisfied(&test, statement);
        }
    })?;
    if findings.is_empty() {
        return Err(Problem::whole(
            "'TN:' records that name tests (geninfo --test-name, lcov -t)",
            "a tracefile without any",
        ));
    }
    if nameless {
        findings
            .notes
            .insert("what was covered outside of any test ('TN:' without a name) is left out".into());
    }
    Ok(findings)
}

/// The executed lines of a tracefile of one test, whatever it is called.
pub fn covered_lines(bytes: &[u8]) -> Result<Vec<(String, u64)>, crate::RequirementsError> {
    let mut lines = Vec::new();
    let problem = walk(bytes, |record| {
        if let Record::Covered { file, line } = record {
            lines.push((normal(file), line));
        }
    });
    problem.map_err(|problem| problem.in_file("the output of llvm-cov".as_ref()))?;
    Ok(lines)
}

enum Record<'r> {
    Test(&'r str),
    Covered { file: &'r str, line: u64 },
}

fn walk(bytes: &[u8], mut found: impl FnMut(Record<'_>)) -> Result<(), Problem> {
    let mut file: Option<String> = None;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let number = index as u64 + 1;
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches('\r');
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if text == "end_of_record" {
            if file.take().is_none() {
                return Err(Problem::at(number, "'SF:FILE' before the end of a record", "'end_of_record'"));
            }
            continue;
        }
        match text.split_once(':') {
            Some(("TN", name)) => found(Record::Test(name.trim())),
            Some(("SF", path)) if !path.is_empty() => file = Some(path.to_string()),
            Some(("DA", data)) => {
                let Some(file) = &file else {
                    return Err(Problem::at(number, "'SF:FILE' before the first 'DA:'", quoted(text)));
                };
                let (line, count) =
                    executed(data).ok_or_else(|| Problem::at(number, "'DA:LINE,COUNT'", quoted(text)))?;
                if count {
                    found(Record::Covered { file, line });
                }
            }
            Some((other, _)) if OTHER_RECORDS.contains(&other) => {}
            Some(_) | None => {
                return Err(Problem::at(
                    number,
                    "a record of a tracefile (TN:, SF:, DA:, end_of_record)",
                    quoted(text),
                ));
            }
        }
    }
    match file {
        Some(_) => Err(Problem::whole("'end_of_record' at the end", "a tracefile that was cut off")),
        None => Ok(()),
    }
}

/// The line of a `DA:` record and whether it was executed.
fn executed(data: &str) -> Option<(u64, bool)> {
    let mut fields = data.split(',');
    let line = fields.next()?.parse().ok().filter(|&line| line > 0)?;
    // Some tools write large counts as fractions, and broken ones as negative numbers.
    let count: f64 = fields.next()?.parse().ok()?;
    Some((line, count > 0.0))
}
