//! A case of the contract: a base tree, a change, and the tests that must or must not be selected. Reads and
//! checks `case.toml`; compiles and runs nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// Whether a change can be seen in the tests' outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Oracle {
    /// Every `must` test passes before and fails after.
    #[default]
    Outcome,
    /// No outcome can change, or the framework is not run here.
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    Source,
    Classes,
}

/// Tests that one reader selects although they need not run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extra {
    pub reader: Reader,
    pub tests: Vec<String>,
    pub reason: String,
}

fn both() -> Vec<Reader> {
    vec![Reader::Source, Reader::Classes]
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub directory: PathBuf,
    pub purpose: String,
    pub must: Vec<String>,
    pub must_not: Vec<String>,
    #[serde(default)]
    pub member_must_not: Vec<String>,
    #[serde(default)]
    pub firewall_misses: Vec<String>,
    #[serde(default)]
    pub oracle: Oracle,
    #[serde(default = "both")]
    pub readers: Vec<Reader>,
    #[serde(default)]
    pub extra: Vec<Extra>,
    #[serde(rename = "notes")]
    _notes: Option<String>,
}

impl Case {
    /// All cases below a directory, sorted by name. A malformed case is a panic that names it.
    pub fn all(contract: &Path) -> Vec<Case> {
        let entries =
            fs::read_dir(contract).unwrap_or_else(|error| panic!("{}: {error}", contract.display()));
        let mut directories: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        directories.retain(|path| path.is_dir());
        directories.sort();
        directories.into_iter().map(Case::read).collect()
    }

    fn read(directory: PathBuf) -> Case {
        let path = directory.join("case.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut case: Case =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        case.name = directory.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            case.extra.iter().all(|extra| !extra.reason.is_empty()),
            "{}: a reason is missing",
            case.name
        );
        case.directory = directory;
        case
    }

    /// Writes the tree as it was before and as it is after the change.
    pub fn unfold(&self, before: &Path, after: &Path) {
        for tree in [before, after] {
            copy(&self.directory.join("base"), tree);
        }
        let patch = self.directory.join("change.patch").canonicalize().unwrap();
        let output = Command::new("patch")
            .args(["-p1", "--silent", "--no-backup-if-mismatch", "--remove-empty-files", "-i"])
            .arg(&patch)
            .current_dir(after)
            .output()
            .unwrap_or_else(|error| panic!("patch: {error}"));
        assert!(output.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&output.stdout));
    }

    pub fn extras(&self, reader: Reader) -> Vec<&String> {
        self.extra.iter().filter(|extra| extra.reader == reader).flat_map(|extra| &extra.tests).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
