//! How a file of requirements is read: as what `fewer-requirements` knows, or as Parquet, which `fewer-lab` prints as
//! CSV. Nothing here knows Parquet but its first bytes.

use std::path::Path;

use anyhow::bail;
use fewer_core::reduction::RequirementKind;
use fewer_requirements::{Findings, Format};

use crate::lab;

/// Every Parquet file begins so.
const MAGIC: &[u8; 4] = b"PAR1";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reader {
    Known(Format),
    /// A matrix; what it holds is said by the user.
    Parquet(RequirementKind),
}

impl Reader {
    /// By name and content.
    pub fn detect(path: &Path, kind: Option<RequirementKind>) -> anyhow::Result<Reader> {
        if is_parquet(path) {
            return Ok(Reader::Parquet(kind.unwrap_or(RequirementKind::Statements)));
        }
        match Format::detect(path, kind)? {
            Some(format) => Ok(Reader::Known(format)),
            None => bail!(
                "{}: cannot tell what wrote this file; say it with --from, like --from lcov",
                path.display()
            ),
        }
    }

    /// As on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Reader::Known(format) => format.word(),
            Reader::Parquet(_) => "parquet",
        }
    }

    pub fn read(self, path: &Path) -> anyhow::Result<Findings> {
        match self {
            Reader::Known(format) => Ok(format.read(path)?),
            Reader::Parquet(kind) => Ok(Format::Csv(kind).parse(path, &rows(path)?)?),
        }
    }
}

/// A file that cannot be read is none: whoever reads it next says why.
fn is_parquet(path: &Path) -> bool {
    fewer_files::beginning(path, MAGIC.len()).is_ok_and(|beginning| beginning == *MAGIC)
}

/// A Parquet file as CSV.
fn rows(path: &Path) -> anyhow::Result<Vec<u8>> {
    let printed = lab::command().arg("rows").arg(path).output().map_err(lab::not_started)?;
    if printed.status.success() {
        return Ok(printed.stdout);
    }
    let said = String::from_utf8_lossy(&printed.stderr);
    let said = said.trim();
    bail!("{}", said.strip_prefix("fewer: ").unwrap_or(said))
}
