//! What CTest told of the tests that a build directory declares. Its files are programs, so a command that starts nothing of
//! the project takes what was told at the last run, and says what may have come since.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use fewer_core::{Digest, DigestBuilder, Domain};
use fewer_runners::ctest::{self, CtestEntry};
use serde::{Deserialize, Serialize};

use crate::records::TOLD_BY_CTEST_FILE;
use crate::session::{Session, Starts};

const FILES: Domain = Domain::new("ctest.files");
const FILE: Domain = Domain::new("ctest.file");
/// In which a build directory says that it declares tests.
const TEST_FILE: &str = "CTestTestfile.cmake";

/// What is known of the entries of a build directory.
#[derive(Default)]
pub struct Told {
    pub entries: Vec<CtestEntry>,
    /// Whether the build directory declares tests.
    pub has_any: bool,
    /// Why there may be entries that are not known.
    pub unknown: Option<String>,
}

/// As it is kept beside the records.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    directory: PathBuf,
    configuration: Option<String>,
    /// Of all that CTest may have read.
    files: String,
    listing: String,
}

impl Told {
    /// Asked, or as it was told last.
    pub fn of(session: &Session<'_>, build_directory: &Path) -> anyhow::Result<Told> {
        // CTest waits for what is no file.
        let test_file = build_directory.join(TEST_FILE);
        match fewer_files::open(&test_file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Told::default()),
            opened => opened.with_context(|| format!("{} is not read", test_file.display()))?,
        };
        match session.starts {
            Starts::Project => Told::asked(session, build_directory),
            Starts::Nothing => Told::remembered(session, build_directory),
        }
    }

    fn asked(session: &Session<'_>, build_directory: &Path) -> anyhow::Result<Told> {
        let configuration = session.project.settings.configuration.clone();
        let files = files_of(build_directory).to_string();
        let listing = ctest::told(build_directory, configuration.as_deref(), &session.cancel)?;
        let entries = ctest::entries(build_directory, &listing)?;
        let kept = Kept { directory: build_directory.to_path_buf(), configuration, files, listing };
        if self::kept(session).as_ref() != Some(&kept) {
            session.keep(TOLD_BY_CTEST_FILE, &serde_json::to_vec(&kept)?)?;
        }
        Ok(Told { entries, has_any: true, unknown: None })
    }

    fn remembered(session: &Session<'_>, build_directory: &Path) -> anyhow::Result<Told> {
        let configuration = &session.project.settings.configuration;
        let is_of_this =
            |kept: &Kept| kept.directory == build_directory && kept.configuration == *configuration;
        let Some(kept) = kept(session).filter(is_of_this) else {
            let unknown = "only `ctest` can tell which tests its files declare, and it has not been asked yet: `fewer run` does so";
            return Ok(Told { has_any: true, unknown: Some(unknown.to_string()), ..Told::default() });
        };
        let is_old = kept.files != files_of(build_directory).to_string();
        let unknown = "CTest's files have changed since `ctest` was asked, and may declare more tests: `fewer run` asks again";
        Ok(Told {
            entries: ctest::entries(build_directory, &kept.listing)?,
            has_any: true,
            unknown: is_old.then(|| unknown.to_string()),
        })
    }
}

fn kept(session: &Session<'_>) -> Option<Kept> {
    serde_json::from_slice(&session.kept(TOLD_BY_CTEST_FILE)?).ok()
}

/// Of every file of CMake's language below a build directory, but for those of CMake's own targets.
fn files_of(build_directory: &Path) -> Digest {
    let mut files = Vec::new();
    let mut open = vec![build_directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != "CMakeFiles" => open.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|ending| ending == "cmake") => {
                    files.push(path);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    files.sort();
    let mut digest = DigestBuilder::new(FILES);
    for file in files {
        digest.text(&file.to_string_lossy());
        digest.digest(fewer_files::digest(FILE, &file).unwrap_or_default());
    }
    digest.finish()
}
