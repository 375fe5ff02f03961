//! The project's files that are not code and that tests may read. Which tests can reach a file at all is told by
//! the analysis of their code.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use fewer_core::{DigestBuilder, Domain};
use fewer_objects::NamedDigest;
use rayon::prelude::*;

use crate::project::Project;

const FILE: Domain = Domain::new("data.file");
/// So many bytes of a file tell what wrote it.
pub const BEGINNING: usize = 120;
const VARIABLE: Domain = Domain::new("variable");

/// Endings of files that the compiler reads.
const CODE: &[&str] = &[
    "c", "cc", "cpp", "cxx", "c++", "C", "h", "hh", "hpp", "hxx", "h++", "H", "inl", "ipp", "tpp", "tcc",
    "inc", "def", "s", "S", "asm", "cu", "cuh", "m", "mm", "ixx", "cppm",
];

/// Endings of files that the build reads.
const BUILD: &[&str] = &["cmake", "am", "ac", "mk", "m4", "make", "ninja", "pc"];

/// Endings of what a build leaves behind. Where git knows such a file, it is nothing that a build left.
const PRODUCTS: &[&str] =
    &["o", "a", "so", "lo", "la", "d", "Po", "Plo", "Tpo", "gcno", "gcda", "log", "trs"];

/// Files and directories by name that belong to the build, wherever they are.
const BUILD_NAMES: &[&str] = &[
    "CMakeLists.txt",
    "CMakeCache.txt",
    "CMakePresets.json",
    "CMakeFiles",
    "CTestTestfile.cmake",
    "compile_commands.json",
    "autom4te.cache",
    "config.status",
    "fewer.toml",
];

/// The same at the top of the project only: elsewhere they may be anything.
const TOP_NAMES: &[&str] = &[
    "Testing",
    "configure~",
    "config.log",
    "config.h.in~",
    "stamp-h1",
    "libtool",
    "build-aux",
    "ar-lib",
    "compile",
    "config.guess",
    "config.sub",
    "depcomp",
    "install-sh",
    "ltmain.sh",
    "missing",
    "test-driver",
];

/// Every such file with its content, named `file PATH`, sorted.
pub fn collect(project: &Project, build_directory: &Path) -> Vec<NamedDigest> {
    let tracked: HashSet<PathBuf> = tracked(project);
    let files: Vec<PathBuf> = listed(project)
        .into_iter()
        .filter(|path| match &project.settings.data_files {
            Some(wanted) => wanted.is_match(path),
            None if tracked.contains(path) => may_be_data(path),
            None => {
                may_be_data(path)
                    && !has_ending(path, PRODUCTS)
                    && !is_in_build_directory(project, build_directory, path)
            }
        })
        .collect();
    let mut digests: Vec<NamedDigest> = files
        .par_iter()
        .filter_map(|path| {
            let file = project.root.join(path);
            let beginning = fewer_files::beginning(&file, BEGINNING).unwrap_or_default();
            let is_left_behind = has_built_content(&beginning) && !tracked.contains(path);
            if is_left_behind || is_own_report(&beginning) {
                return None;
            }
            let digest = fewer_files::digest_of_anything(FILE, &file)?;
            Some(NamedDigest { name: element_name(path), digest })
        })
        .collect();
    digests.sort_by(|a, b| a.name.cmp(&b.name));
    digests
}

/// The files below a directory outside of the sources that are neither built nor otherwise known, sorted.
pub fn below(directory: &Path, title: &str, is_known: impl Fn(&Path) -> bool) -> Vec<NamedDigest> {
    let mut files = Vec::new();
    walk(directory, Path::new(""), &mut files);
    files.sort();
    let unknown = files.into_iter().filter_map(|file| {
        let path = directory.join(&file);
        if is_known(&path) || is_built(&path) {
            return None;
        }
        let digest = fewer_files::digest_of_anything(FILE, &path)?;
        Some(NamedDigest { name: element_name(&Path::new(title).join(file)), digest })
    });
    unknown.collect()
}

/// The environment variables that tests depend on, as the settings name them.
pub fn variables(project: &Project) -> Vec<NamedDigest> {
    let variable = |name: &String| {
        let mut digest = DigestBuilder::new(VARIABLE);
        match std::env::var_os(name) {
            Some(value) => digest.text("set").bytes(value.as_encoded_bytes()),
            None => digest.text("unset"),
        };
        NamedDigest { name: format!("variable {name}"), digest: digest.finish() }
    };
    project.settings.variables.iter().map(variable).collect()
}

/// How a file is called in the graph. Example: `file testdata/a.txt`.
pub fn element_name(path: &Path) -> String {
    format!("file {}", path.display())
}

/// The path in an element's name, if it stands for a file.
pub fn path_of_element(name: &str) -> Option<&str> {
    name.strip_prefix("file ")
}

/// Whether the compiler reads such files.
pub fn is_code(path: &Path) -> bool {
    has_ending(path, CODE)
}

/// Whether such files are compiled only as part of others.
pub fn is_header(path: &Path) -> bool {
    has_ending(path, &["h", "hh", "hpp", "hxx", "h++", "H", "inl", "ipp", "tpp", "tcc", "inc", "def", "cuh"])
}

/// Settings of tools, or below a directory of them.
pub fn is_hidden(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
}

/// Whether only people read such files. Elsewhere a Markdown file may well be what a test reads.
pub fn is_for_people(path: &Path) -> bool {
    let is_documentation = path
        .components()
        .next()
        .is_some_and(|first| ["doc", "docs"].iter().any(|name| first.as_os_str() == *name));
    let conventional = ["README", "CHANGELOG", "CONTRIBUTING", "CODE_OF_CONDUCT", "SECURITY", "ARCHITECTURE"];
    let is_conventional = conventional.iter().any(|prefix| file_name(path).starts_with(prefix));
    (has_ending(path, &["md"]) && (is_documentation || is_conventional))
        || ["LICENSE", "LICENCE", "COPYING"].iter().any(|prefix| file_name(path).starts_with(prefix))
}

/// A template that the build fills in: `config.h.in`, `Makefile.in`, but not `case1.in`.
fn is_template(path: &Path) -> bool {
    let Some(filled) = file_name(path).strip_suffix(".in").map(PathBuf::from) else { return false };
    is_code(&filled)
        || has_ending(&filled, BUILD)
        || is_of_build(&filled)
        || has_ending(&filled, &["sh", "py"])
}

fn is_of_build(path: &Path) -> bool {
    let name = file_name(path);
    ["Makefile", "GNUmakefile", "makefile", "meson", "configure"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether a path, by its name alone, is left behind by builds.
pub fn is_build_product(path: &Path) -> bool {
    has_ending(path, PRODUCTS)
        || path.components().any(|part| part.as_os_str() == ".fewer" || part.as_os_str() == "CMakeFiles")
}

fn tracked(project: &Project) -> HashSet<PathBuf> {
    let files = project.work_tree.as_ref().and_then(|tree| tree.tracked_files(&project.root).ok());
    files.unwrap_or_default().into_iter().collect()
}

/// Paths below the project's directory: what git knows or would add, else whatever is there.
pub fn listed(project: &Project) -> Vec<PathBuf> {
    if let Some(tree) = &project.work_tree
        && let Ok(files) = tree.list_files(&project.root)
    {
        return files;
    }
    let mut files = Vec::new();
    walk(&project.root, Path::new(""), &mut files);
    files.sort();
    files
}

fn walk(root: &Path, below: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(root.join(below)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let path = below.join(&name);
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !name.to_string_lossy().starts_with('.') => walk(root, &path, files),
            Ok(kind) if !kind.is_dir() => files.push(path),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Whether tests may read such files, by the name alone. What builds leave behind is to be sorted out before.
pub fn may_be_data(path: &Path) -> bool {
    let is_elsewhere = path.components().enumerate().any(|(depth, part)| {
        let part = part.as_os_str().to_string_lossy();
        BUILD_NAMES.contains(&part.as_ref()) || (depth == 0 && TOP_NAMES.contains(&part.as_ref()))
    });
    !is_hidden(path)
        && !is_code(path)
        && !has_ending(path, BUILD)
        && !is_template(path)
        && !is_for_people(path)
        && !is_of_build(path)
        && !is_elsewhere
}

/// A build inside the source tree has no directory of its own.
fn is_in_build_directory(project: &Project, build_directory: &Path, path: &Path) -> bool {
    build_directory != project.root && project.root.join(path).starts_with(build_directory)
}

/// Whether a file is an object, a program or an archive.
pub fn is_built(path: &Path) -> bool {
    fewer_files::beginning(path, BEGINNING).is_ok_and(|beginning| has_built_content(&beginning))
}

fn has_built_content(content: &[u8]) -> bool {
    [&b"\x7fELF"[..], b"!<arch>\n", b"!<thin>\n"].iter().any(|magic| content.starts_with(magic))
}

/// What fewer itself was asked to write somewhere in the project.
pub fn is_own_report(content: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(&content[..content.len().min(BEGINNING)]);
    beginning.starts_with("{\n  \"format\": \"fewer-")
        || (beginning.starts_with("<?xml") && beginning.contains("<testsuites name=\"fewer\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_told_from_code_and_build_files() {
        for path in [
            "testdata/a.txt",
            "tests/golden.json",
            "data",
            "scripts/x.py",
            "a/b.csv",
            "tests/data/case1.in",
            "tests/spec.md",
            "tests/recorded.log",
            "tests/missing",
        ] {
            assert!(may_be_data(Path::new(path)), "{path}");
        }
        for path in [
            "src/a.cpp",
            "a.hpp",
            "CMakeLists.txt",
            "sub/CMakeLists.txt",
            "x.cmake",
            "Makefile",
            "Makefile.am",
            "configure.ac",
            "README.md",
            "LICENSE-MIT",
            ".clang-format",
            ".github/workflows/a.yml",
            "fewer.toml",
            "config.status",
            "config.h.in",
            "Makefile.in",
            "docs/design.md",
            "build-aux/missing",
        ] {
            assert!(!may_be_data(Path::new(path)), "{path}");
        }
    }
}
