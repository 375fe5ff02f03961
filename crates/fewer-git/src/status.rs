//! Reading `git status --porcelain=v2 -z`, and the content of what it names.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fewer_core::{Digest, DigestBuilder, Domain};

use crate::WorkTree;
use crate::command::{path, records};
use crate::object_hash::ObjectHash;

const CONTENT: Domain = Domain::new("git.content");

/// A path that differs from the commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChangedPath {
    pub(crate) path: PathBuf,
    /// Not known to git.
    pub(crate) is_untracked: bool,
    /// The blob in the index, where only the file's content differs from it.
    pub(crate) replaces: Option<ObjectHash>,
}

/// Every path that differs from the commit. A line without the form git documents counts as a path itself, so
/// that nothing is overlooked.
pub(crate) fn changed_paths(listing: &[u8]) -> Vec<ChangedPath> {
    let mut changed = Vec::new();
    let mut lines = records(listing);
    while let Some(line) = lines.next() {
        // How many fields come before the path.
        let fields = match line.first() {
            Some(b'1') => 8,
            Some(b'2') => 9,
            Some(b'u') => 10,
            Some(b'?') => 1,
            Some(b'!' | b'#') => continue,
            Some(_) | None => 0,
        };
        let is_untracked = line.first() == Some(&b'?');
        let name = line.splitn(fields + 1, |byte| *byte == b' ').last().unwrap_or(line);
        changed.push(ChangedPath { path: path(name), is_untracked, replaces: replaced(line) });
        if line.first() == Some(&b'2') {
            changed.extend(lines.next().map(|name| ChangedPath {
                path: path(name),
                is_untracked,
                replaces: None,
            }));
        }
    }
    changed
}

/// `1 .M N... MODE MODE MODE HASH HASH PATH`
fn replaced(line: &[u8]) -> Option<ObjectHash> {
    let fields: Vec<&[u8]> = line.splitn(9, |byte| *byte == b' ').collect();
    let [b"1", b".M", b"N...", _, indexed, there, _, hash, _] = fields[..] else { return None };
    if indexed == there { ObjectHash::parse(hash) } else { None }
}

/// What is at a path: a file's bytes and whether it is executable, where a link leads, a submodule's own state,
/// or that nothing is there.
pub(crate) fn content(path: &Path) -> Digest {
    let mut digest = DigestBuilder::new(CONTENT);
    let Ok(metadata) = path.symlink_metadata() else { return digest.text("gone").finish() };
    if metadata.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        return digest.text("link").bytes(target.as_os_str().as_encoded_bytes()).finish();
    }
    if metadata.is_dir() {
        let inner = WorkTree::at(path).and_then(|tree| tree.state(|_| false).ok());
        let state = inner.map_or(Digest::default(), |state| state.digest);
        return digest.text("submodule").digest(state).finish();
    }
    match fewer_files::digest(CONTENT, path) {
        Ok(content) => {
            let is_executable = metadata.permissions().mode() & 0o111 != 0;
            digest.text("file").number(u64::from(is_executable)).digest(content).finish()
        }
        Err(_) => digest.text("unreadable").number(metadata.len()).finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_gives_its_path() {
        let listing =
            b"1 .M N... 100644 100644 100644 aaaa 0123456789012345678901234567890123456789 src/a b.cpp\0\
            2 R. N... 100644 100644 100644 aaaa bbbb R100 new name.h\0old.h\0\
            u UU N... 100644 100644 100644 100644 aaaa bbbb cccc both.cpp\0? untracked file\0! ignored\0";
        let expected: Vec<(PathBuf, bool)> =
            [("src/a b.cpp", false), ("new name.h", false), ("old.h", false), ("both.cpp", false)]
                .into_iter()
                .chain([("untracked file", true)])
                .map(|(path, is_untracked)| (PathBuf::from(path), is_untracked))
                .collect();
        let changed = changed_paths(listing);
        let blobs: Vec<usize> = (0..5).filter(|&at| changed[at].replaces.is_some()).collect();
        assert_eq!(blobs, [0]);
        let found: Vec<_> = changed.into_iter().map(|it| (it.path, it.is_untracked)).collect();
        assert_eq!(found, expected);
    }
}
