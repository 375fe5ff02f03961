//! Which objects are compiled from which files, as the build wrote it down: `.d` files beside the objects,
//! AutoMake's `.Po` files, Ninja's own log; where there is nothing of that, by the names of the objects.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use fewer_objects::BuildTree;
use rayon::prelude::*;

use crate::ninja_log;

/// The objects of a build with the files each is made from.
pub struct Dependencies {
    objects: Vec<Object>,
}

struct Object {
    name: String,
    modified: Option<SystemTime>,
    /// Absolute paths; `None` where the build wrote nothing down.
    files: Option<BTreeSet<PathBuf>>,
}

/// An object that is older than a file it is made from, or made from a file that is gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Older {
    pub object: String,
    pub file: PathBuf,
}

impl Dependencies {
    pub fn read(build_directory: &Path, root: &Path, tree: &BuildTree) -> Dependencies {
        let ninja = ninja_log::dependencies(build_directory);
        let objects = tree
            .objects
            .par_iter()
            .map(|object| {
                let path = normal(&build_directory.join(&object.name));
                let files =
                    ninja.get(&path).cloned().or_else(|| written_beside(&path, build_directory, root));
                Object { name: object.name.clone(), modified: object.modified, files }
            })
            .collect();
        Dependencies { objects }
    }

    /// Of objects of which it is told by other means: each by name, when it was made, and the files it is made from.
    pub fn told(
        objects: impl Iterator<Item = (String, Option<SystemTime>, Option<BTreeSet<PathBuf>>)>,
    ) -> Dependencies {
        let objects = objects.map(|(name, modified, files)| Object { name, modified, files });
        Dependencies { objects: objects.collect() }
    }

    /// Every object with the absolute paths of the files it is made from, where the build wrote them down.
    pub fn objects(&self) -> impl Iterator<Item = (&str, Option<impl Iterator<Item = &Path>>)> {
        self.objects.iter().map(|object| {
            let files = object.files.as_ref().map(|files| files.iter().map(PathBuf::as_path));
            (object.name.as_str(), files)
        })
    }

    /// The objects that a file below a directory is newer than, or that are made from a file that is gone. An object that
    /// no program holds may be left over from the gone file.
    pub fn outdated(&self, top: &Path, is_linked: impl Fn(&str) -> bool) -> Vec<Older> {
        let inputs = self.objects.iter().filter_map(|object| object.files.as_ref()).flatten();
        let own: BTreeSet<&PathBuf> = inputs.filter(|file| file.starts_with(top)).collect();
        let written: HashMap<&PathBuf, Option<SystemTime>> =
            own.into_par_iter().map(|file| (file, modified(file))).collect();
        let older = self.objects.iter().filter_map(|object| {
            let compiled = object.modified?;
            let is_newer = |file: &&PathBuf| match written.get(*file) {
                Some(Some(written)) => *written > compiled,
                Some(None) => is_linked(&object.name),
                None => false,
            };
            let file = object.files.as_ref()?.iter().find(is_newer)?;
            Some(Older { object: object.name.clone(), file: file.clone() })
        });
        older.collect()
    }

    /// The objects of which it is not known what they are made from, with the time they were made at.
    pub fn unwritten(&self) -> impl Iterator<Item = (&str, SystemTime)> {
        let unwritten = self.objects.iter().filter(|object| object.files.is_none());
        unwritten.filter_map(|object| Some((object.name.as_str(), object.modified?)))
    }

    /// The objects made from a file, sorted. Members of archives are found by name like objects without a record.
    pub fn objects_of(&self, file: &Path) -> Vec<String> {
        let file = normal(file);
        let real = file.canonicalize().ok();
        let is_named = |files: &BTreeSet<PathBuf>| {
            files.contains(&file) || real.as_ref().is_some_and(|real| files.contains(real))
        };
        let mut objects: Vec<String> = self
            .objects
            .iter()
            .filter(|object| match &object.files {
                Some(files) => is_named(files),
                None => is_called_after(&object.name, &file),
            })
            .map(|object| object.name.clone())
            .collect();
        objects.sort();
        objects
    }
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

/// What a compiler wrote beside an object: `a.o.d`, `a.d`, or AutoMake's `.deps/a.Po`.
fn written_beside(object: &Path, build_directory: &Path, root: &Path) -> Option<BTreeSet<PathBuf>> {
    let name = object.file_name()?.to_string_lossy().into_owned();
    let stem = name.strip_suffix(".o").or_else(|| name.strip_suffix(".lo")).unwrap_or(&name);
    let directory = object.parent()?;
    let candidates = [
        directory.join(format!("{name}.d")),
        directory.join(format!("{stem}.d")),
        directory.join(".deps").join(format!("{stem}.Po")),
        directory.join(".deps").join(format!("{stem}.Plo")),
    ];
    let text = candidates.iter().find_map(|path| fewer_files::read_to_string(path).ok())?;
    let named = make_prerequisites(&text);
    // Relative paths are relative to wherever the compiler ran.
    let bases: BTreeSet<&Path> =
        [build_directory, root].into_iter().chain(object.ancestors().skip(1).take(4)).collect();
    let mut files = BTreeSet::new();
    for name in named {
        if Path::new(&name).is_absolute() {
            files.insert(normal(Path::new(&name)));
        } else {
            let mut found =
                bases.iter().map(|base| normal(&base.join(&name))).filter(|path| path.exists()).peekable();
            // Relative to a place that is not known: then not all files are.
            found.peek()?;
            files.extend(found);
        }
    }
    (!files.is_empty()).then_some(files)
}

/// The prerequisites of all rules of a dependency file in Make's syntax.
pub fn make_prerequisites(text: &str) -> Vec<String> {
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let mut files = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let Some((_, prerequisites)) = line.split_once(": ") else { continue };
        let mut word = String::new();
        let mut characters = prerequisites.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if matches!(characters.peek(), Some(' ' | '#' | '\\')) => word.extend(characters.next()),
                '$' if characters.peek() == Some(&'$') => word.extend(characters.next()),
                ' ' | '\t' => files.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
                other => word.push(other),
            }
        }
        files.extend((!word.is_empty()).then_some(word));
    }
    files
}

/// Whether an object's name says that it is made from a file: `foo.cpp.o`, `foo.o`, `prog-foo.o`.
fn is_called_after(object: &str, file: &Path) -> bool {
    let Some(name) = file.file_name().map(|name| name.to_string_lossy().into_owned()) else { return false };
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let object = object_stem(object);
    let is_header =
        ["h", "hh", "hpp", "hxx"].iter().any(|end| file.extension().is_some_and(|own| own == *end));
    object == name || (!is_header && (object == stem || object.ends_with(&format!("-{stem}"))))
}

/// Without directory and ending. Example: `lexer.cpp` of `liba.a(lexer.cpp.o)`.
fn object_stem(object: &str) -> &str {
    let object = object.strip_suffix(')').unwrap_or(object);
    let object = object.rsplit(['/', '(']).next().unwrap_or(object);
    object.strip_suffix(".o").or_else(|| object.strip_suffix(".lo")).unwrap_or(object)
}

/// Per object the only file that it is called after, unless another object is, too.
pub fn called_after<'f>(objects: &[&str], files: &[&'f PathBuf]) -> Vec<Option<&'f PathBuf>> {
    let mut by_stem: HashMap<&OsStr, Vec<&'f PathBuf>> = HashMap::new();
    for &file in files {
        by_stem.entry(file.file_stem().unwrap_or_default()).or_default().push(file);
    }
    let mut sharing: HashMap<&PathBuf, usize> = HashMap::new();
    let mut found = Vec::with_capacity(objects.len());
    for object in objects {
        let stem = object_stem(object);
        let ends = stem.match_indices('-').map(|(at, _)| &stem[at + 1..]);
        let stems: BTreeSet<&OsStr> = [stem, stem.rsplit_once('.').map_or(stem, |(stem, _)| stem)]
            .into_iter()
            .chain(ends)
            .map(OsStr::new)
            .collect();
        let named = stems.iter().filter_map(|stem| by_stem.get(stem)).flatten().copied();
        let named: Vec<&PathBuf> = named.filter(|file| is_called_after(object, file)).collect();
        named.iter().for_each(|file| *sharing.entry(file).or_default() += 1);
        found.push(named);
    }
    let only = |named: Vec<&'f PathBuf>| match named.as_slice() {
        [file] if sharing.get(file) == Some(&1) => Some(*file),
        [..] => None,
    };
    found.into_iter().map(only).collect()
}

/// Without `.` and `..`, so that two spellings of a path are one.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_rules_are_read_with_their_escapes() {
        let text = "a.o: src/a\\ b.cpp include/x.h \\\n ../y.h\n# comment: no\ninclude/x.h:\nz.o: $$w.h\n";
        assert_eq!(make_prerequisites(text), ["src/a b.cpp", "include/x.h", "../y.h", "$w.h"]);
    }

    #[test]
    fn a_source_is_known_by_its_name_only_where_nothing_else_can_be_meant() {
        let files: Vec<PathBuf> = ["a.cpp", "b.cpp", "x/c.cpp", "y/c.cpp"].map(PathBuf::from).to_vec();
        let files: Vec<&PathBuf> = files.iter().collect();
        let found =
            called_after(&["build/a.o", "build/b.o", "build/old/b.o", "build/c.o", "build/d.o"], &files);
        assert_eq!(found, [Some(files[0]), None, None, None, None]);
    }

    #[test]
    fn objects_are_known_by_the_names_of_their_sources() {
        for (object, file, expected) in [
            ("CMakeFiles/t.dir/src/lexer.cpp.o", "src/lexer.cpp", true),
            ("build/lexer.o", "src/lexer.cpp", true),
            ("core_test-lexer.o", "src/lexer.cpp", true),
            ("liba.a(lexer.o)", "src/lexer.cpp", true),
            ("build/flexer.o", "src/lexer.cpp", false),
            ("build/lexer.o", "src/lexer.h", false),
        ] {
            assert_eq!(is_called_after(object, Path::new(file)), expected, "{object} {file}");
        }
    }
}
