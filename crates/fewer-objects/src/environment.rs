//! What a program runs on that the project did not build: system libraries, by build id. Compilers and declared
//! variables join it in the analysis.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use fewer_core::{Digest, DigestBuilder, Domain};

use crate::file_bytes::read_file;
use crate::image::{ImageSummary, read_image};
use crate::intakes::NamedDigest;
use crate::relocatable::section_places;

const LIBRARY: Domain = Domain::new("environment.library");

/// Finds and identifies system libraries; each file is read once.
pub struct LibraryFinder {
    directories: Vec<PathBuf>,
    known: HashMap<PathBuf, Option<(Digest, Vec<String>)>>,
}

impl LibraryFinder {
    /// Looks where the loader looks: `extra` first (from `LD_LIBRARY_PATH`), then the system's directories.
    pub fn new(extra: Vec<PathBuf>) -> LibraryFinder {
        let mut directories = extra;
        directories.extend(configured_directories(Path::new("/etc/ld.so.conf"), 0));
        for directory in ["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"] {
            directories.push(PathBuf::from(directory));
        }
        LibraryFinder { directories, known: HashMap::new() }
    }

    /// The libraries a program needs that the project does not build, with what identifies each.
    pub fn libraries(
        &mut self,
        image: &ImageSummary,
        origin: &Path,
        is_own: impl Fn(&str) -> bool,
    ) -> Vec<NamedDigest> {
        let run_path: Vec<PathBuf> = image
            .run_path
            .iter()
            .map(|path| {
                PathBuf::from(
                    path.replace("$ORIGIN", &origin.to_string_lossy())
                        .replace("${ORIGIN}", &origin.to_string_lossy()),
                )
            })
            .collect();
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut pending: Vec<String> = image.needed.clone();
        while let Some(name) = pending.pop() {
            if is_own(&name) || !seen.insert(name.clone()) {
                continue;
            }
            let digest = match self.identify(&name, &run_path) {
                Some((digest, needed)) => {
                    pending.extend(needed);
                    digest
                }
                None => DigestBuilder::new(LIBRARY).text("not found").text(&name).finish(),
            };
            found.push(NamedDigest { name: format!("library {name}"), digest });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    fn identify(&mut self, name: &str, run_path: &[PathBuf]) -> Option<(Digest, Vec<String>)> {
        let path = run_path
            .iter()
            .chain(&self.directories)
            .map(|directory| directory.join(name))
            .find(|path| path.is_file())?;
        self.known.entry(path.clone()).or_insert_with(|| read_library(&path)).clone()
    }
}

/// The build id of a library, or its content where it has none; and what it needs itself.
fn read_library(path: &Path) -> Option<(Digest, Vec<String>)> {
    let bytes = read_file(path).ok()?;
    let build_id = section_places(&bytes)?
        .into_iter()
        .find(|section| section.name == b".note.gnu.build-id")
        .and_then(|section| bytes.get(section.range));
    let digest = Digest::of(LIBRARY, build_id.unwrap_or(&bytes));
    Some((digest, needed_libraries(&bytes)))
}

fn needed_libraries(bytes: &[u8]) -> Vec<String> {
    read_image(bytes).needed
}

/// The directories named by the loader's configuration and the files it includes.
fn configured_directories(path: &Path, depth: u32) -> Vec<PathBuf> {
    let Ok(text) = fewer_files::read_to_string(path) else { return Vec::new() };
    let mut directories = Vec::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or("").trim()) {
        if let Some(pattern) = line.strip_prefix("include ") {
            let parent = Path::new(pattern.trim()).parent().unwrap_or(Path::new("/etc"));
            let parent = Path::new("/etc").join(parent);
            let Ok(entries) = std::fs::read_dir(parent) else { continue };
            let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            files.sort();
            for file in files.iter().filter(|file| depth < 4 && file.extension().is_some_and(|e| e == "conf"))
            {
                directories.extend(configured_directories(file, depth + 1));
            }
        } else if line.starts_with('/') {
            directories.push(PathBuf::from(line));
        }
    }
    directories
}
