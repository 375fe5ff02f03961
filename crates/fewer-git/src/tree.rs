//! The files of a commit without a checkout: what is in its tree, what changed between commits, and the content
//! of blobs. Submodules are opaque entries.

use std::io::Write;
use std::path::PathBuf;
use std::process::ChildStdin;

use crate::command::{Call, GitError, GitErrorKind, Running, path, records};
use crate::object_hash::{CommitHash, ObjectHash};
use crate::repository::{HistoryError, Repository};

/// A file of a commit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TreeEntry {
    /// Relative to the top-level directory.
    pub path: PathBuf,
    pub content: TreeContent,
}

/// What is at a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TreeContent {
    pub mode: FileMode,
    /// A blob; of a submodule the commit in the other repository.
    pub hash: ObjectHash,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FileMode {
    File,
    Executable,
    Link,
    Submodule,
}

/// A path whose content differs between two commits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeChange {
    pub path: PathBuf,
    pub old: Option<TreeContent>,
    pub new: Option<TreeContent>,
}

/// The changes between pairs of commits, one list for each pair; see `Repository::changes`.
pub struct Changes {
    stream: Option<Running>,
    left: usize,
    /// The header of the next pair has been read already.
    is_header_read: bool,
    record: Vec<u8>,
}

/// Contents of blobs, from one process that stays open.
pub struct Blobs {
    stream: Running,
    questions: ChildStdin,
}

impl Repository {
    /// Every file of a commit, sorted by path.
    pub fn tree(&self, commit: CommitHash) -> Result<Vec<TreeEntry>, HistoryError> {
        let call = Call::new(&self.directory, &["ls-tree", "-r", "-z", "--full-tree", &commit.to_string()]);
        let name = call.name().clone();
        let listing = call.output().map_err(|error| self.explained(error))?;
        let entries: Option<Vec<TreeEntry>> = records(&listing).map(tree_entry).collect();
        let mut entries = entries.ok_or_else(|| name.misunderstood(&listing))?;
        entries.sort();
        Ok(entries)
    }

    /// For each pair (old, new) the paths that differ, sorted, without looking for renames. One process for all.
    pub fn changes(&self, pairs: &[(CommitHash, CommitHash)]) -> Result<Changes, HistoryError> {
        let input: String = pairs.iter().map(|(old, new)| format!("{new} {old}\n")).collect();
        let options =
            ["diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--always"];
        let stream = Call::new(&self.directory, &options).start(input.into_bytes())?;
        Ok(Changes { stream: Some(stream), left: pairs.len(), is_header_read: false, record: Vec::new() })
    }

    pub fn blobs(&self) -> Result<Blobs, HistoryError> {
        let (stream, questions) = Call::new(&self.directory, &["cat-file", "--batch"]).open()?;
        Ok(Blobs { stream, questions })
    }
}

impl Iterator for Changes {
    type Item = Result<Vec<TreeChange>, GitError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return self.stream.take().and_then(|stream| stream.finish().err()).map(Err);
        }
        self.left -= 1;
        let mut stream = self.stream.take()?;
        match self.group(&mut stream) {
            Ok(Some(changes)) => {
                self.stream = Some(stream);
                Some(Ok(changes))
            }
            // It ended before the last pair: git knows why.
            Ok(None) => {
                let name = stream.name.clone();
                Some(Err(stream.finish().err().unwrap_or_else(|| name.misunderstood(b""))))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl Changes {
    /// A header, which is the commit, and then pairs of a description and a path, up to the next header.
    fn group(&mut self, stream: &mut Running) -> Result<Option<Vec<TreeChange>>, GitError> {
        if !self.is_header_read && !stream.next(0, &mut self.record)? {
            return Ok(None);
        }
        self.is_header_read = false;
        let mut changes = Vec::new();
        let mut name = Vec::new();
        while stream.next(0, &mut self.record)? {
            if !self.record.starts_with(b":") {
                self.is_header_read = true;
                break;
            }
            let has_path = stream.next(0, &mut name)?;
            let change = tree_change(&self.record, &name).filter(|_| has_path);
            changes.push(change.ok_or_else(|| stream.name.misunderstood(&self.record))?);
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Some(changes))
    }
}

impl Blobs {
    /// The content; `None` if the object is not there.
    pub fn read(&mut self, blob: ObjectHash) -> Result<Option<Vec<u8>>, GitError> {
        self.ask(blob)?;
        self.answer()
    }

    /// The contents of many, in order. A few questions are always ahead of the answers, so that neither side
    /// waits for the other.
    pub fn read_all(
        &mut self,
        blobs: &[ObjectHash],
        mut take: impl FnMut(ObjectHash, Option<Vec<u8>>),
    ) -> Result<(), GitError> {
        const AHEAD: usize = 64;
        for at in 0..blobs.len() + AHEAD {
            if let Some(blob) = blobs.get(at) {
                self.ask(*blob)?;
            }
            if let Some(blob) = at.checked_sub(AHEAD).and_then(|at| blobs.get(at)) {
                take(*blob, self.answer()?);
            }
        }
        Ok(())
    }

    fn ask(&mut self, blob: ObjectHash) -> Result<(), GitError> {
        let asked = writeln!(self.questions, "{blob}");
        asked.map_err(|error| self.stream.name.failed(GitErrorKind::Pipe(error)))
    }

    fn answer(&mut self) -> Result<Option<Vec<u8>>, GitError> {
        let mut header = Vec::new();
        self.stream.next(b'\n', &mut header)?;
        if header.ends_with(b" missing") {
            return Ok(None);
        }
        let size = header.rsplit(|byte| *byte == b' ').next();
        let size = size.and_then(|size| std::str::from_utf8(size).ok()?.parse::<usize>().ok());
        let size = size.ok_or_else(|| self.stream.name.misunderstood(&header))?;
        let mut content = self.stream.exactly(size + 1)?;
        content.pop();
        Ok(Some(content))
    }
}

/// `MODE TYPE HASH<TAB>PATH`
fn tree_entry(record: &[u8]) -> Option<TreeEntry> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let mut fields = record[..tab].split(|byte| *byte == b' ');
    let (mode, _, hash) = (fields.next()?, fields.next()?, fields.next()?);
    let content = TreeContent { mode: FileMode::parse(mode)?, hash: ObjectHash::parse(hash)? };
    Some(TreeEntry { path: path(&record[tab + 1..]), content })
}

/// `:MODE MODE HASH HASH STATUS`
fn tree_change(record: &[u8], name: &[u8]) -> Option<TreeChange> {
    let mut fields = record.strip_prefix(b":")?.split(|byte| *byte == b' ');
    let modes = [fields.next()?, fields.next()?];
    let hashes = [fields.next()?, fields.next()?];
    let content = |side: usize| {
        let hash = ObjectHash::parse(hashes[side])?;
        if hash.is_null() {
            return Some(None);
        }
        Some(Some(TreeContent { mode: FileMode::parse(modes[side])?, hash }))
    };
    Some(TreeChange { path: path(name), old: content(0)?, new: content(1)? })
}

impl FileMode {
    /// Old repositories have files with other permissions, which git reads as one of these.
    fn parse(mode: &[u8]) -> Option<FileMode> {
        match mode {
            b"120000" => Some(FileMode::Link),
            b"160000" => Some(FileMode::Submodule),
            [b'1', b'0', b'0', owner, ..] if owner & 1 == 1 => Some(FileMode::Executable),
            [b'1', b'0', b'0', ..] => Some(FileMode::File),
            _ => None,
        }
    }
}
