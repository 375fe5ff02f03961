//! A git repository, opened from any of its work trees or bare: where its parts are, what its revisions name,
//! and every reason for which a history cannot be trusted. It changes nothing.

use std::path::{Path, PathBuf};

use crate::command::{Call, GitError, GitErrorKind, git, path};
use crate::object_hash::{CommitHash, ObjectFormat};

/// A repository as seen from one directory.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(crate) directory: PathBuf,
    /// Of this work tree; shared things are in `common_directory`.
    pub(crate) git_directory: PathBuf,
    pub(crate) common_directory: PathBuf,
    pub(crate) objects: PathBuf,
    format: ObjectFormat,
    is_bare: bool,
}

/// What a range of revisions stands for: every ancestor of `to`, and `to`, but no ancestor of `from`, nor `from`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    pub from: Option<CommitHash>,
    pub to: CommitHash,
}

/// How far the recorded history is the one that git shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Condition {
    /// Commits whose parents were left out by a shallow clone.
    pub shallow: Vec<CommitHash>,
    /// Whether `info/grafts` gives commits other parents than they record.
    pub grafted: bool,
    /// Objects that git reads in place of others, as `git replace` arranged.
    pub replaced: usize,
}

/// Why a question about the history has no answer that can be relied on. Each says what to do about it; the
/// safe answer is to run everything.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("{} is in no git repository; run this inside of one, or make one with `git init`", .0.display())]
    NotARepository(PathBuf),
    #[error(
        "the repository has no commit yet, so that there is nothing to compare with; make one with `git commit`"
    )]
    NoCommits,
    #[error("`{revision}` names no commit that is known here; {remedy}")]
    UnknownRevision { revision: String, remedy: String },
    #[error("`{0}` could mean several objects; give more digits of the hash")]
    AmbiguousRevision(String),
    #[error("`{0}` names an object that is no commit; name a commit, a branch or a tag")]
    NotACommit(String),
    #[error("`{0}` is no range of the form A..B, A.. or A; for the commits of B since it left A use `A..B`")]
    NotARange(String),
    #[error(
        "commit {0} is not in this repository: it was never fetched, or was dropped after a force-push; get it \
         with `git fetch origin {0}`"
    )]
    MissingCommit(String),
    #[error(
        "object {0} is not in this repository, which is incomplete; complete it with `git fetch --refetch origin`"
    )]
    MissingObject(String),
    #[error("this is a shallow clone, which ends before {what}; complete it with `git fetch --unshallow`")]
    Shallow { what: String },
    #[error(
        "{a} and {b} have no common ancestor, so that no change between them can be told; name a base of the same \
         history, or join the histories with `git merge --allow-unrelated-histories`"
    )]
    Unrelated { a: CommitHash, b: CommitHash },
    #[error("{found} cannot redo merges; install git 2.39 or newer")]
    OldGit { found: String },
    #[error(
        "no temporary directory for redoing merges ({0}); make room, or set TMPDIR to a directory that can be written"
    )]
    Scratch(#[source] std::io::Error),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// The repository around `directory`.
    pub fn open(directory: &Path) -> Result<Repository, HistoryError> {
        let question = [
            "rev-parse",
            "--path-format=absolute",
            "--git-dir",
            "--git-common-dir",
            "--git-path",
            "objects",
            "--show-object-format",
            "--is-bare-repository",
        ];
        let call = Call::new(directory, &question);
        let name = call.name().clone();
        let answer = call.output().map_err(|error| match &error.kind {
            GitErrorKind::Refused(text) if text.contains("not a git repository") => {
                HistoryError::NotARepository(directory.to_path_buf())
            }
            GitErrorKind::Start(_) if !directory.is_dir() => {
                HistoryError::NotARepository(directory.to_path_buf())
            }
            GitErrorKind::Start(_)
            | GitErrorKind::Refused(_)
            | GitErrorKind::Pipe(_)
            | GitErrorKind::Answer(_) => HistoryError::Git(error),
        })?;
        let lines: Vec<&[u8]> = answer.split(|byte| *byte == b'\n').collect();
        let [git_directory, common_directory, objects, format, is_bare, _] = lines[..] else {
            return Err(name.misunderstood(&answer).into());
        };
        let format = match format {
            b"sha1" => ObjectFormat::Sha1,
            b"sha256" => ObjectFormat::Sha256,
            _ => return Err(name.misunderstood(&answer).into()),
        };
        Ok(Repository {
            directory: directory.to_path_buf(),
            git_directory: path(git_directory),
            common_directory: path(common_directory),
            objects: path(objects),
            format,
            is_bare: is_bare == b"true",
        })
    }

    pub fn format(&self) -> ObjectFormat {
        self.format
    }

    pub fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// Whether parents of commits are hidden or changed.
    pub fn condition(&self) -> Result<Condition, HistoryError> {
        let replaced = git(&self.directory, &["for-each-ref", "--format=%(refname)", "refs/replace/"])?;
        let grafts =
            fewer_files::read_to_string(&self.common_directory.join("info/grafts")).unwrap_or_default();
        let is_graft = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        Ok(Condition {
            shallow: self.shallow_commits(),
            grafted: grafts.lines().any(is_graft),
            replaced: replaced.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count(),
        })
    }

    /// The commits at which a shallow clone ends, sorted.
    pub(crate) fn shallow_commits(&self) -> Vec<CommitHash> {
        let text = fewer_files::read(&self.common_directory.join("shallow")).unwrap_or_default();
        let mut commits: Vec<CommitHash> =
            text.split(|byte| *byte == b'\n').filter_map(CommitHash::parse).collect();
        commits.sort_unstable();
        commits
    }

    /// The commit that a revision names; an empty one is `HEAD`.
    pub fn resolve(&self, revision: &str) -> Result<CommitHash, HistoryError> {
        let revision = if revision.is_empty() { "HEAD" } else { revision };
        let commit = format!("{revision}^{{commit}}");
        let call = Call::new(&self.directory, &["rev-parse", "--verify", "--end-of-options", &commit]);
        let name = call.name().clone();
        match call.output() {
            Ok(answer) => CommitHash::parse(answer.trim_ascii()).ok_or(name.misunderstood(&answer).into()),
            Err(GitError { kind: GitErrorKind::Refused(message), .. }) => {
                Err(self.unresolved(revision, &message))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// `A..B`, `A..`, `..B`, or one revision with everything before it; an empty text is `HEAD`.
    pub fn range(&self, text: &str) -> Result<Range, HistoryError> {
        if text.contains("...") {
            return Err(HistoryError::NotARange(text.to_string()));
        }
        match text.split_once("..") {
            None => Ok(Range { from: None, to: self.resolve(text)? }),
            Some((_, to)) if to.contains("..") => Err(HistoryError::NotARange(text.to_string())),
            Some((from, to)) => Ok(Range { from: Some(self.resolve(from)?), to: self.resolve(to)? }),
        }
    }

    /// The tip of the branch that others start from: what the remote calls its head, `main` or `master`, or
    /// what is checked out.
    pub fn main_branch(&self) -> Result<CommitHash, HistoryError> {
        let names = ["refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"];
        names.iter().find_map(|name| self.resolve(name).ok()).map_or_else(|| self.resolve("HEAD"), Ok)
    }

    /// All best common ancestors, sorted. An error where there is none, and where a shallow clone may hide one.
    pub fn merge_bases(&self, a: CommitHash, b: CommitHash) -> Result<Vec<CommitHash>, HistoryError> {
        let (first, second) = (a.to_string(), b.to_string());
        let listing = match git(&self.directory, &["merge-base", "--all", &first, &second]) {
            Ok(listing) => listing,
            // It says nothing where there is no base.
            Err(GitError { kind: GitErrorKind::Refused(text), .. }) if text == "exit status: 1" => Vec::new(),
            Err(error) => return Err(self.explained(error)),
        };
        let mut bases: Vec<CommitHash> =
            listing.split(|byte| *byte == b'\n').filter_map(CommitHash::parse).collect();
        bases.sort_unstable();
        if self.hides_ancestors(&first, &second)? {
            return Err(HistoryError::Shallow { what: format!("the common ancestors of {a} and {b}") });
        }
        if bases.is_empty() { Err(HistoryError::Unrelated { a, b }) } else { Ok(bases) }
    }

    /// A commit where a shallow clone ends hides ancestors. They cannot be better than a common ancestor that
    /// is above them on both sides, but they may be common ancestors unless both sides lead through it.
    fn hides_ancestors(&self, a: &str, b: &str) -> Result<bool, HistoryError> {
        let shallow = self.shallow_commits();
        if shallow.is_empty() {
            return Ok(false);
        }
        let listing = git(&self.directory, &["rev-list", &format!("{a}...{b}")])?;
        let mut commits = listing.split(|byte| *byte == b'\n').filter_map(CommitHash::parse);
        Ok(commits.any(|commit| shallow.binary_search(&commit).is_ok()))
    }

    fn unresolved(&self, revision: &str, message: &str) -> HistoryError {
        let verify = |name: &str| git(&self.directory, &["rev-parse", "--verify", "--end-of-options", name]);
        if message.contains("ambiguous") {
            return HistoryError::AmbiguousRevision(revision.to_string());
        }
        if let Ok(answer) = verify(revision) {
            let hash = String::from_utf8_lossy(&answer).trim().to_string();
            return match git(&self.directory, &["cat-file", "-e", &hash]) {
                Ok(_) => HistoryError::NotACommit(revision.to_string()),
                Err(_) => self.missing(&hash),
            };
        }
        let is_shallow = !self.shallow_commits().is_empty();
        let start = revision.split(['~', '^', '@']).next().unwrap_or(revision);
        let start = if start.is_empty() { "HEAD" } else { start };
        if start == "HEAD" && verify("HEAD").is_err() {
            return HistoryError::NoCommits;
        }
        if is_shallow && start != revision && verify(start).is_ok() {
            return HistoryError::Shallow { what: format!("`{revision}`") };
        }
        HistoryError::UnknownRevision { revision: revision.to_string(), remedy: self.remedy(revision) }
    }

    fn missing(&self, hash: &str) -> HistoryError {
        if self.shallow_commits().is_empty() {
            return HistoryError::MissingCommit(hash.to_string());
        }
        HistoryError::Shallow { what: format!("commit {hash}") }
    }

    fn remedy(&self, revision: &str) -> String {
        let remotes = git(&self.directory, &["remote"]).unwrap_or_default();
        let remotes = String::from_utf8_lossy(&remotes).into_owned();
        let branch = revision.split_once('/').filter(|(remote, _)| remotes.lines().any(|it| it == *remote));
        match branch {
            Some((remote, branch)) => {
                format!(
                    "check the name, or fetch it with `git fetch {remote} {branch}:refs/remotes/{revision}`"
                )
            }
            None if remotes.is_empty() => "check the name with `git log --all`".to_string(),
            None => format!("check the name, or fetch it with `git fetch origin {revision}`"),
        }
    }

    /// A refusal of git over an object that is not there, in our words.
    pub(crate) fn explained(&self, error: GitError) -> HistoryError {
        let GitErrorKind::Refused(message) = &error.kind else { return error.into() };
        let named = |sign: &str| {
            let rest = &message[message.find(sign)? + sign.len()..];
            let hash = rest.split(|c: char| !c.is_ascii_hexdigit()).next()?;
            CommitHash::parse(hash.as_bytes()).map(|hash| hash.to_string())
        };
        let commit =
            ["Could not read ", "bad object ", "not a valid object name "].into_iter().find_map(named);
        if let Some(commit) = commit {
            return self.missing(&commit);
        }
        let object =
            ["unable to read tree ", "unable to read ", "could not fetch "].into_iter().find_map(named);
        object.map_or(HistoryError::Git(error), HistoryError::MissingObject)
    }
}

impl Condition {
    /// One sentence for each thing that makes the history differ from the recorded one, with the command that
    /// mends it.
    pub fn caveats(&self) -> Vec<String> {
        let mut caveats = Vec::new();
        if !self.shallow.is_empty() {
            caveats.push(
                "this is a shallow clone, so that commits are hidden; complete it with `git fetch --unshallow`"
                    .to_string(),
            );
        }
        if self.grafted {
            caveats.push(
                "info/grafts gives commits other parents than they record; turn it into replacements that can \
                 be shared with `git replace --convert-graft-file`"
                    .to_string(),
            );
        }
        if self.replaced > 0 {
            caveats.push(format!(
                "{} replaced objects are read as git reads them, though other clones may not have them; list \
                 them with `git replace -l`",
                self.replaced
            ));
        }
        caveats
    }
}
