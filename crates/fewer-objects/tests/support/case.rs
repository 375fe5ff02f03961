//! A case of the contract: a base tree, a change, and the tests that must, must not or may be selected. Reads
//! and checks `case.toml`; builds and runs nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The executable of a case that names none.
pub const ONLY_EXECUTABLE: &str = "tests";

/// Whether a change can be seen in the tests' outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Oracle {
    /// Every `must` test passes before (or does not exist yet) and fails after.
    #[default]
    Outcome,
    /// No outcome can change, for the reason given in `oracle_why`.
    None,
}

/// What one variant expects instead, where an optimiser legitimately makes a difference.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relaxation {
    pub must_not: Vec<String>,
    pub why: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    purpose: String,
    must: Vec<String>,
    must_not: Vec<String>,
    #[serde(default)]
    oracle: Oracle,
    oracle_why: Option<String>,
    notes: Option<String>,
    #[serde(default)]
    flags_after: Vec<String>,
    #[serde(default)]
    leave_objects: bool,
    #[serde(default)]
    executables: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    variant: BTreeMap<String, Relaxation>,
}

#[derive(Clone, Debug)]
pub struct Case {
    /// Example: `virtual-override-added`.
    pub name: String,
    pub purpose: String,
    pub directory: PathBuf,
    /// Ids (`EXECUTABLE::Suite.Name`) of the tests that the change must select.
    pub must: Vec<String>,
    must_not: Vec<String>,
    pub oracle: Oracle,
    /// Compiler flags that the second build has and the first has not.
    pub flags_after: Vec<String>,
    /// The second build leaves the object files of deleted sources in place, as most build systems do.
    pub leave_objects: bool,
    executables: BTreeMap<String, Vec<String>>,
    relaxations: BTreeMap<String, Relaxation>,
}

impl Case {
    /// All cases below a directory, sorted by name. A malformed case is a panic that names it.
    pub fn all(contract: &Path) -> Vec<Case> {
        let entries =
            fs::read_dir(contract).unwrap_or_else(|error| panic!("{}: {error}", contract.display()));
        let mut directories: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        directories.retain(|path| path.is_dir());
        directories.sort();
        directories.iter().map(|directory| Case::read(directory)).collect()
    }

    fn read(directory: &Path) -> Case {
        let path = directory.join("case.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file: CaseFile =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Err(complaint) = file.check(directory) {
            panic!("{}: {complaint}", path.display());
        }
        let ids = |names: &[String]| names.iter().map(|name| file.id(name)).collect();
        Case {
            name: directory.file_name().unwrap().to_string_lossy().into_owned(),
            directory: directory.to_path_buf(),
            must: ids(&file.must),
            must_not: ids(&file.must_not),
            relaxations: file
                .variant
                .iter()
                .map(|(variant, relaxation)| {
                    let must_not = ids(&relaxation.must_not);
                    (variant.clone(), Relaxation { must_not, ..relaxation.clone() })
                })
                .collect(),
            purpose: file.purpose,
            oracle: file.oracle,
            flags_after: file.flags_after,
            leave_objects: file.leave_objects,
            executables: file.executables,
        }
    }

    /// The tests that the change must not select in a variant, by its name and those it is like.
    pub fn must_not(&self, variants: &[&str]) -> &[String] {
        let relaxation = variants.iter().find_map(|variant| self.relaxations.get(*variant));
        relaxation.map_or(&self.must_not, |relaxation| &relaxation.must_not)
    }

    /// The executables with those of their sources that exist.
    pub fn executables(&self, sources: &[String]) -> BTreeMap<String, Vec<String>> {
        if self.executables.is_empty() {
            return BTreeMap::from([(ONLY_EXECUTABLE.to_string(), sources.to_vec())]);
        }
        let existing = |listed: &Vec<String>| {
            listed.iter().filter(|&source| sources.contains(source)).cloned().collect()
        };
        self.executables.iter().map(|(name, listed)| (name.clone(), existing(listed))).collect()
    }

    /// The change, unless it is one of flags only.
    pub fn patch(&self) -> Option<PathBuf> {
        Some(self.directory.join("change.patch")).filter(|path| path.exists())
    }
}

impl CaseFile {
    fn id(&self, name: &str) -> String {
        if name.contains("::") { name.to_string() } else { format!("{ONLY_EXECUTABLE}::{name}") }
    }

    fn check(&self, directory: &Path) -> Result<(), String> {
        let stated = |text: &str| !text.trim().is_empty();
        let has_executable = |id: &String| {
            let executable = id.split("::").next().unwrap_or_default();
            self.executables.contains_key(executable)
                || self.executables.is_empty() && executable == ONLY_EXECUTABLE
        };
        let ids: Vec<String> = self.must.iter().chain(&self.must_not).map(|name| self.id(name)).collect();
        if !stated(&self.purpose) || self.notes.as_deref().is_some_and(|notes| !stated(notes)) {
            return Err("an empty purpose or note says nothing".to_string());
        }
        if ids.is_empty() {
            return Err("neither must nor must_not names a test".to_string());
        }
        if let Some(id) = ids.iter().find(|id| !has_executable(id)) {
            return Err(format!("{id} names no executable of the case"));
        }
        if (self.oracle == Oracle::None) != self.oracle_why.as_deref().is_some_and(stated) {
            return Err("oracle = \"none\" and oracle_why belong together".to_string());
        }
        if self.variant.values().any(|relaxation| !stated(&relaxation.why)) {
            return Err("a variant differs without saying why".to_string());
        }
        if self.flags_after.is_empty() && !directory.join("change.patch").exists() {
            return Err("there is neither a change.patch nor flags_after".to_string());
        }
        Ok(())
    }
}
