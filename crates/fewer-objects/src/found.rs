//! Finding the files of a build: every file below the build directory whose first bytes say that it is an object,
//! an archive or a linked file. What earlier scans remember of a file stands for looking at it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::bitcode::is_bitcode;
use crate::file_records::{FileRecords, Held, Status};
use crate::relocatable::{FileKind, peek};
use crate::scan::{NamedFile, ScanError};

/// A file worth reading.
pub struct Found {
    pub path: PathBuf,
    /// Path below the build directory.
    pub name: String,
    pub kind: FoundKind,
    pub modified: Option<SystemTime>,
    pub size: u64,
    pub status: Status,
    /// What it holds, if that is remembered.
    pub known: Option<Held>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    Object,
    Bitcode,
    Archive,
    Image,
}

/// The files of a build directory, sorted by name. Those that hold nothing for the readers are remembered in
/// `records`, where `known` does not know them yet.
pub fn find(
    root: &Path,
    known: &FileRecords,
    records: &mut FileRecords,
    scan_began: SystemTime,
) -> Result<Vec<Found>, ScanError> {
    let mut search = Search { root, known, records, scan_began, found: Vec::new() };
    search.walk(root)?;
    search.found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(search.found)
}

/// Those of the files given that hold something for the readers, sorted by name.
pub fn given(
    files: &[NamedFile],
    known: &FileRecords,
    records: &mut FileRecords,
    scan_began: SystemTime,
) -> Vec<Found> {
    let mut search = Search { root: Path::new(""), known, records, scan_began, found: Vec::new() };
    for NamedFile { name, path } in files {
        if let Ok(metadata) = fs::metadata(path) {
            search.take(name.clone(), path.clone(), &metadata);
        }
    }
    search.found.sort_by(|a, b| a.name.cmp(&b.name));
    search.found
}

struct Search<'s> {
    root: &'s Path,
    known: &'s FileRecords,
    records: &'s mut FileRecords,
    scan_began: SystemTime,
    found: Vec<Found>,
}

impl Search<'_> {
    fn walk(&mut self, directory: &Path) -> Result<(), ScanError> {
        let error = |source| ScanError { path: directory.to_path_buf(), source };
        // CMake keeps what it tried out there; only the directories of targets are of the project.
        let is_cmakes = directory.file_name().is_some_and(|name| name == "CMakeFiles");
        for entry in fs::read_dir(directory).map_err(error)? {
            let entry = entry.map_err(error)?;
            let kind = entry.file_type().map_err(error)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() {
                if !is_skipped_directory(&name) && (!is_cmakes || name.ends_with(".dir")) {
                    self.walk(&entry.path())?;
                }
            } else if is_cmakes {
                continue;
            } else if kind.is_symlink() {
                self.look_behind(&entry.path());
            } else if kind.is_file() {
                self.look_at(&entry, &name);
            }
        }
        Ok(())
    }

    fn look_at(&mut self, entry: &fs::DirEntry, name: &str) {
        // Gone since the directory was read.
        let Ok(metadata) = entry.metadata() else { return };
        // A program may have any name.
        if !has_text_ending(name) || is_executable(&metadata) {
            let path = entry.path();
            self.take(self.name_of(&path), path, &metadata);
        }
    }

    /// A link to a program that lies outside the directory stands for the program. What lies within is found where it
    /// is.
    fn look_behind(&mut self, link: &Path) {
        let Ok(path) = link.canonicalize() else { return };
        let is_within = self.root.canonicalize().is_ok_and(|root| path.starts_with(root));
        let Ok(metadata) = path.metadata() else { return };
        if is_within || !metadata.is_file() || !is_executable(&metadata) || !is_program(&path) {
            return;
        }
        self.take(self.name_of(link), link.to_path_buf(), &metadata);
    }

    fn name_of(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    fn take(&mut self, name: String, path: PathBuf, metadata: &fs::Metadata) {
        let status = Status::of(metadata);
        let known = self.known.known(&name, &status);
        let kind = match known {
            Some(Held::Other) => None,
            Some(Held::Object { is_bitcode: true, .. }) => Some(FoundKind::Bitcode),
            Some(Held::Object { is_bitcode: false, .. }) => Some(FoundKind::Object),
            Some(Held::Image) => Some(FoundKind::Image),
            Some(Held::Archive(_)) => Some(FoundKind::Archive),
            None => classify(&path),
        };
        match kind {
            Some(kind) => self.found.push(Found {
                name,
                kind,
                modified: metadata.modified().ok(),
                size: metadata.len(),
                status,
                known: known.cloned(),
                path,
            }),
            None => self.records.remember(&name, status, Held::Other, self.scan_began),
        }
    }
}

fn is_executable(metadata: &fs::Metadata) -> bool {
    metadata.permissions().mode() & 0o111 != 0
}

/// Whether it is linked, and not as a library, by its name: those of the system are executable as well.
fn is_program(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_library = name.ends_with(".so") || name.contains(".so.");
    !is_library && classify(path) == Some(FoundKind::Image)
}

fn is_skipped_directory(name: &str) -> bool {
    matches!(name, ".git" | ".fewer" | "CMakeTmp" | "CMakeScratch") || name.starts_with("CompilerId")
}

/// Endings of files that are no objects, and programs only if they may be executed; opening every source file of a tree
/// would cost more than reading.
fn has_text_ending(name: &str) -> bool {
    const ENDINGS: [&str; 22] = [
        ".h",
        ".hpp",
        ".hh",
        ".c",
        ".cc",
        ".cpp",
        ".cxx",
        ".txt",
        ".cmake",
        ".d",
        ".json",
        ".make",
        ".ts",
        ".md",
        ".py",
        ".xml",
        ".log",
        ".internal",
        ".marks",
        ".ninja",
        ".in",
        ".gch",
    ];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn classify(path: &Path) -> Option<FoundKind> {
    let head = &*fewer_files::beginning(path, 64).ok()?;
    if head.starts_with(b"!<arch>\n") || head.starts_with(b"!<thin>\n") {
        return Some(FoundKind::Archive);
    }
    if is_bitcode(head) {
        return Some(FoundKind::Bitcode);
    }
    match peek(head) {
        Some(FileKind::Relocatable) => Some(FoundKind::Object),
        Some(FileKind::Image) => Some(FoundKind::Image),
        None if head.starts_with(b"\x7fELF") && path.extension().is_some_and(|ending| ending == "o") => {
            Some(FoundKind::Object)
        }
        None => None,
    }
}
