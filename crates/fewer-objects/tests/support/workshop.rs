//! A copy of a case's tree with its build directory: builds it, changes it, builds again what the change
//! touched. Knows nothing of what the case expects.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::case::Case;
use super::toolchain::{Toolchain, finish};

pub struct Workshop<'c> {
    case: &'c Case,
    toolchain: &'c Toolchain,
    tree: PathBuf,
    /// The text of every file at the last build.
    built: BTreeMap<String, String>,
}

impl<'c> Workshop<'c> {
    /// Copies the base of a case into a directory of its own.
    pub fn open(case: &'c Case, toolchain: &'c Toolchain, directory: &Path) -> Result<Workshop<'c>, String> {
        let tree = directory.join(&case.name).join(toolchain.variant.name);
        fs::create_dir_all(tree.join("build")).map_err(|error| format!("{}: {error}", tree.display()))?;
        let workshop = Workshop { case, toolchain, tree, built: BTreeMap::new() };
        for (name, text) in read_tree(&case.directory.join("base"))? {
            fs::write(workshop.tree.join(&name), text).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(workshop)
    }

    pub fn build_directory(&self) -> PathBuf {
        self.tree.join("build")
    }

    /// Compiles what is new since the last build (all of it, if a header or a flag is), and links everything.
    pub fn build(&mut self, flags: &[String]) -> Result<(), String> {
        let files = read_tree(&self.tree)?;
        let needs_all = !flags.is_empty() || headers(&files) != headers(&self.built);
        for (source, text) in files.iter().filter(|(name, _)| name.ends_with(".cpp")) {
            if needs_all || self.built.get(source) != Some(text) {
                self.toolchain.compile(&self.tree, source, &self.object(source), flags)?;
            }
        }
        if !self.case.leave_objects {
            for gone in sources(&self.built).iter().filter(|&source| !files.contains_key(source)) {
                fs::remove_file(self.object(gone)).map_err(|error| format!("{gone}: {error}"))?;
            }
        }
        for (executable, members) in self.case.executables(&sources(&files)) {
            let objects: Vec<PathBuf> = members.iter().map(|source| self.object(source)).collect();
            let has_main = members.iter().any(|source| files[source].contains("int main("));
            self.toolchain.link(&objects, &self.build_directory().join(executable), has_main)?;
        }
        self.built = files;
        Ok(())
    }

    /// Compiles everything again as if there were no compiled header, and links.
    pub fn build_without_precompiled_header(&mut self) -> Result<(), String> {
        for source in sources(&self.built) {
            self.toolchain.compile_with(&self.tree, &source, &self.object(&source), &[], false)?;
        }
        self.build(&[])
    }

    /// Puts a copy of the build directory beside it, for people who look into a failure.
    pub fn keep_build(&self) -> Result<(), String> {
        let mut command = Command::new("cp");
        command.current_dir(&self.tree).args(["-a", "build", "build.before"]);
        finish(command)
    }

    /// Applies the case's patch.
    pub fn change(&self) -> Result<(), String> {
        let Some(patch) = self.case.patch() else { return Ok(()) };
        let mut command = Command::new("git");
        // Whatever repository the copy may lie in, it is none of this patch's business.
        command.env("GIT_CEILING_DIRECTORIES", self.tree.parent().unwrap_or(&self.tree));
        command.current_dir(&self.tree).arg("apply").arg(patch);
        finish(command)
    }

    fn object(&self, source: &str) -> PathBuf {
        self.build_directory().join(source).with_extension(self.toolchain.variant.ending())
    }
}

fn read_tree(directory: &Path) -> Result<BTreeMap<String, String>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.insert(name, fs::read_to_string(&path).map_err(failed)?);
        }
    }
    Ok(files)
}

fn sources(files: &BTreeMap<String, String>) -> Vec<String> {
    files.keys().filter(|name| name.ends_with(".cpp")).cloned().collect()
}

fn headers(files: &BTreeMap<String, String>) -> BTreeMap<&String, &String> {
    files.iter().filter(|(name, _)| name.ends_with(".h")).collect()
}
