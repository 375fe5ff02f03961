//! What Ninja remembers of the files that objects are made from (`.ninja_deps`), read without Ninja: it would make the
//! directories that a plan names, and put its logs in order.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::dependencies::normal;

const SIGNATURE: &[u8] = b"# ninjadeps\n";
/// Set in the size of a record that tells what an object is made from; the others are paths.
const TELLS: u32 = 1 << 31;
/// Ninja itself refuses longer records.
const LONGEST: u32 = (1 << 19) - 1;
/// The files by object, all absolute.
pub fn dependencies(build_directory: &Path) -> HashMap<PathBuf, BTreeSet<PathBuf>> {
    let read = || -> Option<HashMap<PathBuf, BTreeSet<PathBuf>>> {
        let log = place(build_directory)?.join(".ninja_deps");
        parse(&fewer_files::read(&log).ok()?, build_directory)
    };
    read().unwrap_or_default()
}

/// Where the logs are: where the plan says, if that is below the build directory.
fn place(build_directory: &Path) -> Option<PathBuf> {
    let plan = fewer_files::read(&build_directory.join("build.ninja")).ok()?;
    let named = plan.split(|byte| *byte == b'\n').find_map(|line| {
        let value = line.strip_prefix(b"builddir")?.trim_ascii_start().strip_prefix(b"=")?;
        std::str::from_utf8(value.trim_ascii()).ok()
    });
    let place = normal(&build_directory.join(named.unwrap_or_default()));
    place.starts_with(normal(build_directory)).then_some(place)
}

/// `None` for another version. What is cut off, as by an interrupted build, is not known.
fn parse(bytes: &[u8], build_directory: &Path) -> Option<HashMap<PathBuf, BTreeSet<PathBuf>>> {
    let mut words = Words(bytes.strip_prefix(SIGNATURE)?);
    let words_of_time = match words.next()? {
        3 => 1,
        4 => 2,
        _ => return None,
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut dependencies = HashMap::new();
    while let Some(size) = words.next() {
        let length = size & !TELLS;
        if length > LONGEST || !length.is_multiple_of(4) {
            break;
        }
        let Some(record) = words.take(length as usize) else { break };
        if size & TELLS == 0 {
            // The path, filled up with zeros, and a check sum.
            let path = record.get(..record.len().saturating_sub(4)).unwrap_or_default();
            let end = path.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            paths.push(normal(&build_directory.join(String::from_utf8_lossy(&path[..end]).as_ref())));
            continue;
        }
        let mut numbers = Words(record);
        let Some(object) = numbers.next().and_then(|object| paths.get(object as usize)).cloned() else {
            break;
        };
        let files = std::iter::from_fn(|| numbers.next()).skip(words_of_time);
        let Some(files) = files.map(|file| paths.get(file as usize).cloned()).collect() else { break };
        dependencies.insert(object, files);
    }
    Some(dependencies)
}

/// Numbers, one after the other.
struct Words<'b>(&'b [u8]);

impl<'b> Words<'b> {
    fn next(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    /// A log that Ninja wrote: `b.o` of `b.c` and `b.h`.
    fn project() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let build = place.path().canonicalize().unwrap();
        let plan = "builddir = logs\nrule cc\n  command = touch $out && echo '$out: $in b.h' > $out.d\n  \
                    depfile = $out.d\n  deps = gcc\nbuild b.o: cc b.c\n";
        for (file, text) in [("build.ninja", plan), ("b.c", ""), ("b.h", "")] {
            fs::write(build.join(file), text).unwrap();
        }
        assert!(Command::new("ninja").current_dir(&build).output().unwrap().status.success());
        (place, build)
    }

    #[test]
    fn ninjas_log_is_read() {
        let (_place, build) = project();
        let files = ["b.c", "b.h"].map(|name| build.join(name));
        let expected = HashMap::from([(build.join("b.o"), BTreeSet::from(files))]);
        assert_eq!(dependencies(&build), expected);
        fs::write(build.join("build.ninja"), "builddir = ../elsewhere\n").unwrap();
        assert!(dependencies(&build).is_empty(), "logs elsewhere are nobody's");
    }

    #[test]
    fn a_log_that_is_cut_or_damaged_is_known_as_far_as_it_goes() {
        let (_place, build) = project();
        let whole = fs::read(build.join("logs/.ninja_deps")).unwrap();
        for end in 0..whole.len() {
            assert!(parse(&whole[..end], &build).unwrap_or_default().len() <= 1);
            let mut damaged = whole.clone();
            damaged[end] ^= 0xff;
            parse(&damaged, &build);
        }
        let mut newer = whole;
        newer[SIGNATURE.len()] = 9;
        assert_eq!(parse(&newer, &build), None);
    }
}
