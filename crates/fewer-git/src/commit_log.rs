//! What commits say of themselves: tree, parents, who and when, and which commit their message says they copy or
//! take back. Read in one stream; whether the message is right is not judged here.

use std::collections::HashMap;

use crate::command::{Call, GitError};
use crate::history::lines;
use crate::object_hash::{CommitHash, ObjectHash};
use crate::repository::{HistoryError, Range, Repository};

/// Which commits to look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Every ref, and what is checked out in every work tree.
    All,
    Range(Range),
    /// These and no others; those that are not in the repository are left out.
    Commits(Vec<CommitHash>),
}

/// The commits of a scope, children before parents.
#[derive(Clone, Debug)]
pub struct CommitLog {
    pub records: Vec<CommitRecord>,
    /// Names after `.mailmap`, in the order in which they were met.
    pub authors: Vec<String>,
}

/// One commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitRecord {
    pub commit: CommitHash,
    pub tree: ObjectHash,
    pub parents: Vec<CommitHash>,
    /// Index into `CommitLog::authors`.
    pub author: u32,
    /// Seconds since 1970.
    pub committed: i64,
    /// When it was written, in seconds: a copy keeps it.
    pub authored: i64,
    /// Whether author and committer are not the same person, by name or address.
    pub is_of_two: bool,
    /// Whether author and committer differ, be it in their date alone: it was rebased, amended, picked or applied.
    pub rewritten: bool,
    pub mention: Option<Mention>,
}

/// A commit that a message names, as written: perhaps abbreviated, perhaps unknown here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Mention {
    CherryPick {
        of: String,
    },
    Revert {
        of: String,
        /// For a merge: the parent that it was taken back to.
        to: Option<String>,
    },
}

const FORMAT: &str = "--format=%H%n%T%n%P%n%aN%n%an <%ae>%n%at%n%cn <%ce>%n%ct%n%B%x00";

impl CommitLog {
    /// The commits that refs lead to and that are neither this one nor before it.
    pub(crate) fn beside(repository: &Repository, commit: CommitHash) -> Result<CommitLog, HistoryError> {
        CommitLog::listed(repository, &["--all", "--not", &commit.to_string()], Vec::new())
    }

    pub fn read(repository: &Repository, scope: &Scope) -> Result<CommitLog, HistoryError> {
        if matches!(scope, Scope::Commits(commits) if commits.is_empty()) {
            return Ok(CommitLog { records: Vec::new(), authors: Vec::new() });
        }
        let (options, input): (&[&str], _) = match scope {
            Scope::All => (&["--all"], Vec::new()),
            Scope::Range(Range { from, to }) => (
                &["--stdin"],
                format!("{to}\n{}", from.map_or(String::new(), |from| format!("^{from}\n"))).into_bytes(),
            ),
            Scope::Commits(commits) => {
                (&["--no-walk=unsorted", "--ignore-missing", "--stdin"], lines(commits))
            }
        };
        CommitLog::listed(repository, options, input)
    }

    fn listed(repository: &Repository, options: &[&str], input: Vec<u8>) -> Result<CommitLog, HistoryError> {
        let arguments = [&["rev-list", "--no-commit-header", "--encoding=UTF-8", FORMAT], options].concat();
        let mut stream = Call::new(&repository.directory, &arguments).start(input)?;
        let mut log = CommitLog { records: Vec::new(), authors: Vec::new() };
        let (mut authors, mut text) = (HashMap::new(), Vec::new());
        // Each ends with a NUL and a line break; after the last one only the line break is left.
        while stream.next(0, &mut text)? && !text.trim_ascii().is_empty() {
            let record = log.record(&text, &mut authors).ok_or_else(|| stream.name.misunderstood(&text))?;
            log.records.push(record);
        }
        stream.finish().map_err(|error| repository.explained(error))?;
        Ok(log)
    }

    fn record(&mut self, text: &[u8], authors: &mut HashMap<Vec<u8>, u32>) -> Option<CommitRecord> {
        let text = text.strip_prefix(b"\n").unwrap_or(text);
        let mut fields = text.splitn(9, |byte| *byte == b'\n');
        let mut field = || fields.next();
        let (commit, tree, parents) = (field()?, field()?, field()?);
        let (author, author_as_written, authored) = (field()?, field()?, field()?);
        let (committer, committed, message) = (field()?, field()?, field()?);
        let author = *authors.entry(author.to_vec()).or_insert_with(|| {
            self.authors.push(String::from_utf8_lossy(author).into_owned());
            self.authors.len() as u32 - 1
        });
        let parents = parents.split(|byte| *byte == b' ').filter(|parent| !parent.is_empty());
        Some(CommitRecord {
            commit: CommitHash::parse(commit)?,
            tree: ObjectHash::parse(tree)?,
            parents: parents.map(CommitHash::parse).collect::<Option<_>>()?,
            author,
            committed: seconds(committed),
            authored: seconds(authored),
            is_of_two: author_as_written != committer,
            rewritten: author_as_written != committer || authored != committed,
            mention: mention(message),
        })
    }
}

/// Broken commits have no date.
fn seconds(date: &[u8]) -> i64 {
    std::str::from_utf8(date).ok().and_then(|date| date.parse().ok()).unwrap_or(0)
}

/// Full hashes of names as messages have them; names that mean no single commit here are left out.
pub(crate) fn commits_named<'a>(
    repository: &Repository,
    names: impl Iterator<Item = &'a str>,
) -> Result<HashMap<String, CommitHash>, GitError> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let input: String = names.iter().map(|name| format!("{name}^{{commit}}\n")).collect();
    let mut stream = Call::new(&repository.directory, &["cat-file", "--batch-check=%(objectname)"])
        .start(input.into_bytes())?;
    let (mut found, mut line) = (HashMap::new(), Vec::new());
    for name in names {
        if !stream.next(b'\n', &mut line)? {
            break;
        }
        found.extend(CommitHash::parse(&line).map(|commit| (name.to_string(), commit)));
    }
    stream.finish()?;
    Ok(found)
}

/// The last thing that was done counts: a revert that was picked is a cherry-pick, and a commit that was picked
/// twice was picked from the commit named last.
fn mention(message: &[u8]) -> Option<Mention> {
    let lines = || message.split(|byte| *byte == b'\n').enumerate();
    let picked = lines().filter_map(|(_, line)| hash_after(line, b"(cherry picked from commit ")).last();
    if let Some((of, _)) = picked {
        return Some(Mention::CherryPick { of });
    }
    let (at, (of, rest)) =
        lines().filter_map(|(at, line)| Some((at, hash_after(line, b"This reverts commit ")?))).next()?;
    // The hash of a SHA-256 repository moves the second half to the next line in some versions.
    let next = lines().nth(at + 1).map_or(&b""[..], |(_, line)| line);
    let sentence = [rest.trim_ascii(), next.trim_ascii()].join(&b' ');
    let sentence = sentence.strip_prefix(b",").unwrap_or(&sentence).trim_ascii();
    let to = hash_after(sentence, b"reversing changes made to ").map(|(to, _)| to);
    Some(Mention::Revert { of, to })
}

/// The hash, of at least seven digits, with which a line goes on after its start; and the rest of the line.
fn hash_after<'a>(line: &'a [u8], start: &[u8]) -> Option<(String, &'a [u8])> {
    let rest = line.strip_prefix(start)?;
    let length = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let hash = std::str::from_utf8(&rest[..length]).ok()?.to_ascii_lowercase();
    let is_word_over = !rest.get(length).is_some_and(u8::is_ascii_alphanumeric);
    ((7..=64).contains(&length) && is_word_over).then_some((hash, &rest[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revert(of: &str, to: Option<&str>) -> Option<Mention> {
        Some(Mention::Revert { of: of.to_string(), to: to.map(str::to_string) })
    }

    #[test]
    fn a_message_names_the_commit_it_takes_back() {
        let message = b"Revert \"x\"\n\nThis reverts commit 0123456789abcdef0123456789abcdef01234567.\n";
        assert_eq!(mention(message), revert("0123456789abcdef0123456789abcdef01234567", None));
        let message = b"Revert \"x\"\n\nThis reverts commit 01234567 (x, 2024-01-01).\n";
        assert_eq!(mention(message), revert("01234567", None));
        for message in [
            "This reverts commit abcdef1, reversing\nchanges made to abcdef2.",
            "This reverts commit abcdef1, reversing changes made to abcdef2.",
        ] {
            assert_eq!(mention(message.as_bytes()), revert("abcdef1", Some("abcdef2")));
        }
    }

    #[test]
    fn the_last_pick_counts_and_a_picked_revert_is_a_pick() {
        let message = b"x\n\nThis reverts commit aaaaaaa.\n(cherry picked from commit bbbbbbb)\n(cherry picked from commit ccccccc)\n";
        assert_eq!(mention(message), Some(Mention::CherryPick { of: "ccccccc".to_string() }));
    }

    #[test]
    fn quotations_and_other_words_are_no_mentions() {
        for message in [
            "> This reverts commit aaaaaaa.",
            "This reverts commit r1234.",
            "This reverts commit aaaaaaax",
            "",
        ] {
            assert_eq!(mention(message.as_bytes()), None, "{message}");
        }
    }
}
