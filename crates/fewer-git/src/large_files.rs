//! Files that git-lfs keeps elsewhere, told without starting it: git stores a pointer with the SHA-256 of the content.
//! Where filters are not started, git itself takes every such file for changed whose times it cannot rely on.

use std::collections::HashSet;
use std::fmt::Write;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::command::{Call, GitError, git, records};
use crate::harmless::Drivers;
use crate::object_hash::ObjectHash;

/// Pointers are shorter, says their specification.
const LONGEST_POINTER: usize = 1024;

/// A file whose content differs from the blob that the index names.
pub(crate) struct Suspect {
    pub(crate) path: PathBuf,
    pub(crate) blob: ObjectHash,
}

/// Those that are as their pointers say.
pub(crate) fn unchanged(root: &Path, suspects: Vec<Suspect>) -> Result<HashSet<PathBuf>, GitError> {
    if suspects.is_empty() || !Drivers::of(root).has_large_files() {
        return Ok(HashSet::new());
    }
    let kept = kept_elsewhere(root, &suspects)?;
    let mut unchanged = HashSet::new();
    for suspect in suspects.into_iter().filter(|suspect| kept.contains(&suspect.path)) {
        let blob = git(root, &["cat-file", "blob", &suspect.blob.to_string()])?;
        if Pointer::parse(&blob).is_some_and(|pointer| pointer.fits(&root.join(&suspect.path))) {
            unchanged.insert(suspect.path);
        }
    }
    Ok(unchanged)
}

/// Those that have the attribute.
fn kept_elsewhere(root: &Path, suspects: &[Suspect]) -> Result<HashSet<PathBuf>, GitError> {
    let mut input = Vec::new();
    for suspect in suspects {
        input.extend_from_slice(suspect.path.as_os_str().as_encoded_bytes());
        input.push(0);
    }
    let mut stream = Call::new(root, &["check-attr", "-z", "--stdin", "filter"]).start(input)?;
    let listing = stream.rest()?;
    stream.finish()?;
    let fields: Vec<&[u8]> = records(&listing).collect();
    let is_large = |entry: &&[&[u8]]| matches!(entry, [_, _, b"lfs"]);
    Ok(fields.chunks(3).filter(is_large).map(|entry| crate::command::path(entry[0])).collect())
}

#[derive(Debug, PartialEq, Eq)]
struct Pointer {
    sha256: String,
    size: u64,
}

impl Pointer {
    fn parse(blob: &[u8]) -> Option<Pointer> {
        let text = std::str::from_utf8(blob).ok().filter(|text| text.len() < LONGEST_POINTER)?;
        let mut lines = text.lines();
        let is_pointer = lines.next()?.starts_with("version https://git-lfs.github.com/spec/");
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        // Extensions change content on its way, in ways that only they know.
        let is_plain = !text.lines().any(|line| line.starts_with("ext-"));
        (is_pointer && is_plain).then_some(())?;
        Some(Pointer { sha256: value("oid sha256:")?.to_string(), size: value("size ")?.parse().ok()? })
    }

    fn fits(&self, path: &Path) -> bool {
        let file = fewer_files::open(path);
        file.is_ok_and(|file| {
            file.metadata().is_ok_and(|metadata| metadata.len() == self.size)
                && sha256(file).is_ok_and(|digest| digest == self.sha256)
        })
    }
}

fn sha256(mut content: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut content, &mut hash)?;
    Ok(hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_told_from_other_files() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n";
        let expected = Pointer { sha256: "ab".to_string(), size: 12 };
        assert_eq!(Pointer::parse(pointer.as_bytes()), Some(expected));
        let extended = pointer.replace("oid", "ext-0-foo sha256:cd\noid");
        assert_eq!(Pointer::parse(extended.as_bytes()), None);
        assert_eq!(Pointer::parse(b"version 2\noid sha256:ab\nsize 12\n"), None);
    }

    #[test]
    fn a_hash_is_the_one_that_others_compute() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&b"abc"[..]).unwrap(), expected);
    }
}
