//! Documentation tests: rustdoc makes a program of each when it runs, so nothing is there to look at before. Those of
//! a library are one test, which always runs, where `cargo test` with the user's arguments runs them.

use std::fs;
use std::path::Path;

use fewer_core::{Mapping, TestId, TestNode};
use fewer_runners::TestProgram;
use fewer_runners::cargo::{Cargo, Package, Packages};

use crate::examination::{Starter, WHOLE_PROGRAM};

/// The one test of a package's documentation, if it may have any, in its sources or in what its build script wrote.
pub fn test_of(
    cargo: &Cargo,
    packages: &Packages,
    package: &Package,
    script_output: Option<&Path>,
) -> Option<(TestNode, Starter)> {
    let source = package.documented_library()?;
    let arguments = cargo.documentation_tests(package, &packages.default_members)?;
    if !may_hold_code(source.parent()?) && !script_output.is_some_and(may_hold_code) {
        return None;
    }
    let target = format!("{}/doc", package.name);
    let mut program = TestProgram::new(&target, &cargo.program, &cargo.directory);
    program.arguments = arguments;
    let cause = "documentation tests are compiled when they run".to_string();
    let test = TestNode {
        id: TestId::new(&target, WHOLE_PROGRAM),
        roots: Vec::new(),
        mapping: Mapping::Unmapped { cause },
        disabled: false,
    };
    Some((test, Starter::Documentation(program)))
}

/// Whether a comment for rustdoc below a directory may hold code. What cannot be told from the text (documentation
/// or modules from another place, or made by a macro) may.
fn may_hold_code(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return true };
    entries.flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => return may_hold_code(&path),
            // It may lead back here.
            Ok(kind) if kind.is_symlink() && path.is_dir() => return true,
            Ok(_) => {}
            Err(_) => return true,
        }
        path.extension().is_some_and(|ending| ending == "rs")
            && fewer_files::read_to_string(&path).map_or(true, |text| text.lines().any(is_of_code))
    })
}

/// A fence, an indented block, or documentation that is not a plain comment line.
fn is_of_code(line: &str) -> bool {
    let line = line.trim_start();
    let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
    match comment {
        Some(text) => {
            text.contains("```")
                || text.contains("~~~")
                || text.starts_with("     ")
                || text.starts_with('\t')
        }
        None => {
            ["#[doc", "#![doc", "/**", "/*!"].iter().any(|start| line.starts_with(start))
                || ["doc =", "path ="].iter().any(|part| line.contains(part))
                || (line.contains("include!") && !line.contains("OUT_DIR"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_documentation_is_told_from_prose() {
        for line in [
            "/// ```",
            "    //! ```no_run",
            "///     let x = 1;",
            "#![doc = include_str!(\"../README.md\")]",
            "/** x */",
            "#[path = \"../elsewhere.rs\"]",
            "include!(\"../elsewhere.rs\");",
        ] {
            assert!(is_of_code(line), "{line}");
        }
        for line in [
            "/// Prose.",
            "// ``` plain",
            "let x = 1;",
            "//! - a list",
            "///   more of it",
            "include!(concat!(env!(\"OUT_DIR\"), \"/x.rs\"));",
        ] {
            assert!(!is_of_code(line), "{line}");
        }
    }
}
