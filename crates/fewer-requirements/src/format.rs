//! The formats that can be read, how they are told apart, and reading one.

use std::path::Path;

use fewer_core::reduction::RequirementKind;

use crate::error::{Problem, RequirementsError};
use crate::findings::Findings;
use crate::{cargo_mutants, coverage_py, jacoco, lcov, pit, stryker, table};

/// The largest file that is read: what a coverage tool writes of a large suite, a line per test and statement.
const LARGEST: u64 = 192 << 20;

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    Lcov,
    CoveragePy,
    PitMutations,
    PitLines,
    Jacoco,
    /// Killed mutants.
    Stryker,
    /// Places of mutants that are covered.
    StrykerCoverage,
    CargoMutants,
    /// Pairs or a matrix; what it holds is said by the user.
    Csv(RequirementKind),
}

impl Format {
    /// By name and content; `None` where both say nothing.
    pub fn detect(path: &Path, kind: Option<RequirementKind>) -> Result<Option<Format>, RequirementsError> {
        let bytes = read(path)?;
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_statements = kind == Some(RequirementKind::Statements);
        Ok(if bytes.starts_with(coverage_py::MAGIC) {
            Some(Format::CoveragePy)
        } else if head.contains("<mutations") {
            Some(Format::PitMutations)
        } else if head.contains("<coverage>") && head.contains("<block ") {
            Some(Format::PitLines)
        } else if head.contains("//JACOCO//") || head.contains("<report name=") {
            Some(Format::Jacoco)
        } else if head.starts_with("TN:") || head.starts_with("SF:") {
            Some(Format::Lcov)
        } else if name == "outcomes.json" {
            Some(Format::CargoMutants)
        } else if name.ends_with(".json") {
            Some(if is_statements { Format::StrykerCoverage } else { Format::Stryker })
        } else if name.ends_with(".csv") {
            Some(Format::Csv(kind.unwrap_or(RequirementKind::Statements)))
        } else {
            None
        })
    }

    /// As on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Format::Lcov => "lcov",
            Format::CoveragePy => "coverage-py",
            Format::PitMutations => "pit-mutations",
            Format::PitLines => "pit-lines",
            Format::Jacoco => "jacoco",
            Format::Stryker => "stryker",
            Format::StrykerCoverage => "stryker-coverage",
            Format::CargoMutants => "cargo-mutants",
            Format::Csv(_) => "csv",
        }
    }

    /// Whether what it says is about statements or mutants.
    pub fn kind(self) -> RequirementKind {
        match self {
            Format::Lcov
            | Format::CoveragePy
            | Format::PitLines
            | Format::Jacoco
            | Format::StrykerCoverage => RequirementKind::Statements,
            Format::PitMutations | Format::Stryker | Format::CargoMutants => RequirementKind::Mutants,
            Format::Csv(kind) => kind,
        }
    }

    /// What a file of this format says.
    pub fn read(self, path: &Path) -> Result<Findings, RequirementsError> {
        let bytes = read(path)?;
        self.parse(path, &bytes)
    }

    /// What the bytes of a file say. Files that belong to it (logs) are looked for beside `path`.
    pub fn parse(self, path: &Path, bytes: &[u8]) -> Result<Findings, RequirementsError> {
        let findings = match self {
            Format::Lcov => lcov::parse(bytes),
            Format::CoveragePy => coverage_py::read(path),
            Format::PitMutations => pit::parse_mutations(bytes),
            Format::PitLines => pit::parse_line_coverage(bytes),
            Format::Jacoco => jacoco::parse(path, bytes),
            Format::Stryker | Format::StrykerCoverage => stryker::parse(bytes, self.kind()),
            Format::CargoMutants => cargo_mutants::read(path, bytes),
            Format::Csv(kind) => table::parse(bytes, kind),
        };
        findings.map_err(|problem| problem.in_file(path))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, RequirementsError> {
    fewer_files::read_at_most(path, LARGEST).map_err(|error| Problem::Unreadable(error).in_file(path))
}
