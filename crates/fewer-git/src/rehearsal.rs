//! Merges, cherry-picks and reverts as git itself would do them, without touching the work tree, the index, the
//! refs or the object database: what git writes goes into a temporary object directory.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::Range as Span;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use tempfile::TempDir;

use crate::command::{Call, GitError, GitErrorKind, git, path};
use crate::object_hash::{CommitHash, ObjectHash};
use crate::repository::{HistoryError, Repository};
use crate::{IN_SUBMODULES, WorkTree};

/// What is tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// Of two or more commits, ours first. More than two are merged one after the other. Unrelated ones are
    /// merged against nothing, as git does when told to.
    Merge(Vec<CommitHash>),
    /// The change from `base` to `change` on top of `onto`: a cherry-pick of c is (parent of c, c), a revert
    /// of r is (r, parent of r). `None` is the empty tree.
    Apply { base: Option<CommitHash>, onto: CommitHash, change: Option<CommitHash> },
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rehearsed {
    Clean {
        tree: ObjectHash,
    },
    /// The paths are sorted; there are conflicts that belong to no path.
    Conflict {
        paths: Vec<PathBuf>,
    },
    /// git could not try, in its words: an object is missing.
    Impossible(String),
}

/// How far a long work has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    pub done: usize,
    pub total: usize,
}

/// A place to try things in; it is removed when dropped.
#[derive(Debug)]
pub struct Rehearsal<'a> {
    repository: &'a Repository,
    scratch: TempDir,
    alternates: OsString,
}

impl<'a> Rehearsal<'a> {
    pub fn new(repository: &'a Repository) -> Result<Rehearsal<'a>, HistoryError> {
        check_version(repository)?;
        let scratch = tempfile::tempdir().map_err(HistoryError::Scratch)?;
        for directory in ["objects", "commits"] {
            fs::create_dir(scratch.path().join(directory)).map_err(HistoryError::Scratch)?;
        }
        let mut alternates = quoted(&repository.objects);
        if let Some(more) = std::env::var_os("GIT_ALTERNATE_OBJECT_DIRECTORIES") {
            alternates.push(":");
            alternates.push(more);
        }
        Ok(Rehearsal { repository, scratch, alternates })
    }

    pub fn try_one(&self, attempt: &Attempt) -> Result<Rehearsed, HistoryError> {
        let mut results = self.try_all(std::slice::from_ref(attempt), &mut |_| ())?;
        Ok(results.pop().expect("a result for the attempt"))
    }

    /// A result for each attempt. Many attempts share a git process, and all processors are used.
    pub fn try_all(
        &self,
        attempts: &[Attempt],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Rehearsed>, HistoryError> {
        let mut results: Vec<Option<Rehearsed>> = vec![None; attempts.len()];
        let mut steps = self.applications(attempts, &mut results)?;
        steps.extend(attempts.iter().enumerate().filter_map(|(attempt, what)| match what {
            Attempt::Merge(heads) if heads.len() >= 2 => {
                Some(Step { attempt, pair: [heads[0], heads[1]], merged: 2 })
            }
            Attempt::Merge(heads) => {
                let cause = format!("{} commits cannot be merged", heads.len());
                results[attempt] = Some(Rehearsed::Impossible(cause));
                None
            }
            Attempt::Apply { .. } => None,
        }));
        // In the order of the attempts, which mostly is that of the history: what one merge reads, the next
        // finds in git's caches.
        steps.sort_by_key(|step| step.attempt);
        while !steps.is_empty() {
            let mut done = results.iter().flatten().count();
            let merged = self.merge_all(&steps, &mut |rehearsed, step| {
                done += usize::from(open_end(&attempts[step.attempt], step, rehearsed).is_none());
                progress(Progress { done, total: attempts.len() });
            })?;
            steps = self.following(attempts, &steps, merged, &mut results)?;
        }
        progress(Progress { done: attempts.len(), total: attempts.len() });
        Ok(results.into_iter().map(|result| result.expect("every attempt ends")).collect())
    }

    /// The paths below the top-level directory whose content in the work tree differs from a tree that was made
    /// here.
    pub(crate) fn changed_since(&self, tree: ObjectHash) -> Result<Vec<PathBuf>, HistoryError> {
        let tree = tree.to_string();
        let options = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let listing = self.call(&[&options[..], &[IN_SUBMODULES, &tree, "--"]].concat()).output()?;
        let mut changed: Vec<PathBuf> = crate::command::records(&listing).map(path).collect();
        if let Some(tree) = WorkTree::open(&self.repository.directory) {
            changed.extend(tree.changed_submodules()?);
        }
        changed.sort();
        changed.dedup();
        Ok(changed)
    }

    /// A git that writes into the temporary object directory.
    fn call(&self, arguments: &[&str]) -> Call {
        let objects = self.scratch.path().join("objects");
        let variables: [(&str, &OsStr); 2] = [
            ("GIT_OBJECT_DIRECTORY", objects.as_os_str()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.alternates),
        ];
        Call::new(&self.repository.directory, arguments).environment(variables)
    }

    /// Applying a change is merging two imagined commits whose only parent is the base. (`git merge-tree
    /// --merge-base` would do, but is newer.)
    fn applications(
        &self,
        attempts: &[Attempt],
        results: &mut [Option<Rehearsed>],
    ) -> Result<Vec<Step>, HistoryError> {
        let applied = attempts.iter().enumerate().filter_map(|(attempt, what)| match what {
            Attempt::Apply { base, onto, change } => Some((attempt, [*base, Some(*onto), *change])),
            Attempt::Merge(_) => None,
        });
        let applied: Vec<(usize, [Option<CommitHash>; 3])> = applied.collect();
        let trees = self.trees(applied.iter().flat_map(|(_, commits)| commits.iter().flatten()))?;
        let empty = self.repository.format().empty_tree();
        let mut found: Vec<(usize, [ObjectHash; 3])> = Vec::new();
        for (attempt, commits) in applied {
            let missing = commits.iter().flatten().find(|commit| !trees.contains_key(*commit));
            match missing {
                Some(commit) => {
                    let cause = HistoryError::MissingCommit(commit.to_string()).to_string();
                    results[attempt] = Some(Rehearsed::Impossible(cause));
                }
                None => {
                    found.push((attempt, commits.map(|commit| commit.map_or(empty, |commit| trees[&commit]))))
                }
            }
        }
        let bases: Vec<String> = found.iter().map(|(_, [base, ..])| imagined(*base, &[])).collect();
        let bases = self.write_commits(&bases)?;
        let sides: Vec<String> = found
            .iter()
            .zip(&bases)
            .flat_map(|((_, [_, onto, change]), base)| {
                [imagined(*onto, &[*base]), imagined(*change, &[*base])]
            })
            .collect();
        let sides = self.write_commits(&sides)?;
        let pairs = sides.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
        Ok(found
            .iter()
            .zip(pairs)
            .map(|((attempt, _), pair)| Step { attempt: *attempt, pair, merged: 2 })
            .collect())
    }

    /// What each step says about its attempt: its result, or a further step. As git's octopus does, the next
    /// commit is merged into the result so far, whose parents are all commits merged so far. (That strategy
    /// does not follow renames; this does, so that it finds at least as many merges clean.)
    fn following(
        &self,
        attempts: &[Attempt],
        steps: &[Step],
        merged: Vec<Rehearsed>,
        results: &mut [Option<Rehearsed>],
    ) -> Result<Vec<Step>, HistoryError> {
        let (mut next, mut commits) = (Vec::new(), Vec::new());
        for (step, rehearsed) in steps.iter().zip(merged) {
            match open_end(&attempts[step.attempt], step, &rehearsed) {
                Some((tree, heads)) => {
                    commits.push(imagined(tree, &heads[..step.merged]));
                    next.push((step.attempt, heads[step.merged], step.merged + 1));
                }
                None => results[step.attempt] = Some(rehearsed),
            }
        }
        let commits = self.write_commits(&commits)?;
        let steps = next.into_iter().zip(commits);
        Ok(steps
            .map(|((attempt, head, merged), so_far)| Step { attempt, pair: [so_far, head], merged })
            .collect())
    }

    /// The trees of those commits that are there.
    fn trees<'c>(
        &self,
        commits: impl Iterator<Item = &'c CommitHash>,
    ) -> Result<HashMap<CommitHash, ObjectHash>, HistoryError> {
        let mut commits: Vec<CommitHash> = commits.copied().collect();
        commits.sort_unstable();
        commits.dedup();
        if commits.is_empty() {
            return Ok(HashMap::new());
        }
        let input: String = commits.iter().map(|commit| format!("{commit}^{{tree}}\n")).collect();
        let mut stream = self.call(&["cat-file", "--batch-check=%(objectname)"]).start(input.into_bytes())?;
        let (mut trees, mut line) = (HashMap::new(), Vec::new());
        for commit in commits {
            stream.next(b'\n', &mut line)?;
            trees.extend(ObjectHash::parse(&line).map(|tree| (commit, tree)));
        }
        stream.finish()?;
        Ok(trees)
    }

    /// Writes commits into the temporary object directory.
    fn write_commits(&self, texts: &[String]) -> Result<Vec<CommitHash>, HistoryError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let directory = self.scratch.path().join("commits");
        let mut names = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let file = directory.join(number.to_string());
            fs::write(&file, text).map_err(HistoryError::Scratch)?;
            names.extend_from_slice(file.as_os_str().as_encoded_bytes());
            names.push(b'\n');
        }
        let call = self.call(&["hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths"]);
        let mut stream = call.start(names)?;
        let listing = stream.rest()?;
        let name = stream.name.clone();
        stream.finish()?;
        let commits: Vec<CommitHash> =
            listing.split(|byte| *byte == b'\n').filter_map(CommitHash::parse).collect();
        if commits.len() == texts.len() { Ok(commits) } else { Err(name.misunderstood(&listing).into()) }
    }

    /// In as many processes at a time as there are processors.
    fn merge_all(
        &self,
        steps: &[Step],
        done: &mut dyn FnMut(&Rehearsed, &Step),
    ) -> Result<Vec<Rehearsed>, HistoryError> {
        let mut results: Vec<Option<Rehearsed>> = vec![None; steps.len()];
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let batch = (steps.len() / threads).clamp(1, BATCH);
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel::<Result<(usize, Vec<Rehearsed>), GitError>>();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    loop {
                        let start = next.fetch_add(batch, Ordering::Relaxed);
                        let end = (start + batch).min(steps.len());
                        // The receiver is gone after an error.
                        if start >= end
                            || sender
                                .send(self.merge_span(steps, start..end).map(|found| (start, found)))
                                .is_err()
                        {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for found in receiver {
                let (start, found) = found?;
                for (at, rehearsed) in (start..).zip(found) {
                    done(&rehearsed, &steps[at]);
                    results[at] = Some(rehearsed);
                }
            }
            Ok(results.into_iter().map(|result| result.expect("every step ends")).collect())
        })
    }

    /// One process. If it gives up, what it did not answer is tried again in halves, down to the merge that
    /// cannot be tried.
    fn merge_span(&self, steps: &[Step], span: Span<usize>) -> Result<Vec<Rehearsed>, GitError> {
        let pairs =
            steps[span.clone()].iter().map(|Step { pair: [ours, theirs], .. }| format!("{ours} {theirs}\n"));
        let mut stream = self.call(&MERGE_TREE).start(pairs.collect::<String>().into_bytes())?;
        let answer = stream.rest()?;
        let name = stream.name.clone();
        let end = stream.finish();
        let mut results = parse(&answer).ok_or_else(|| name.misunderstood(&answer))?;
        results.truncate(span.len());
        let rest = span.start + results.len()..span.end;
        match (end, rest.len()) {
            (_, 0) => {}
            (Err(GitError { kind: GitErrorKind::Refused(message), .. }), 1) => {
                results.push(Rehearsed::Impossible(message));
            }
            (Err(_), length) if length > 1 => {
                let middle = rest.start + length / 2;
                results.extend(self.merge_span(steps, rest.start..middle)?);
                results.extend(self.merge_span(steps, middle..rest.end)?);
            }
            (Err(error), _) => return Err(error),
            (Ok(()), _) => return Err(name.misunderstood(&answer)),
        }
        Ok(results)
    }
}

/// One merge of two commits on the way of an attempt.
struct Step {
    attempt: usize,
    pair: [CommitHash; 2],
    /// How many of the attempt's commits are merged after it.
    merged: usize,
}

/// Merges of one process: enough to forget its start, few enough for the progress to move.
const BATCH: usize = 100;

const MERGE_TREE: [&str; 6] =
    ["merge-tree", "--write-tree", "--stdin", "--no-messages", "--name-only", "--allow-unrelated-histories"];

/// The tree so far and all commits, if a step leaves commits to merge.
fn open_end<'a>(
    attempt: &'a Attempt,
    step: &Step,
    rehearsed: &Rehearsed,
) -> Option<(ObjectHash, &'a [CommitHash])> {
    match (attempt, rehearsed) {
        (Attempt::Merge(heads), Rehearsed::Clean { tree }) if step.merged < heads.len() => {
            Some((*tree, heads))
        }
        (
            Attempt::Merge(_) | Attempt::Apply { .. },
            Rehearsed::Clean { .. } | Rehearsed::Conflict { .. } | Rehearsed::Impossible(_),
        ) => None,
    }
}

/// Answers that are complete: `1` (clean) or `0`, the tree, the paths in conflict, and an empty record.
fn parse(answer: &[u8]) -> Option<Vec<Rehearsed>> {
    let mut results = Vec::new();
    let mut records = answer.split(|byte| *byte == 0);
    while let Some(status) = records.next() {
        let Some(tree) = records.next() else { break };
        let mut paths: Vec<PathBuf> = Vec::new();
        let is_complete = loop {
            match records.next() {
                Some(b"") => break true,
                Some(name) => paths.push(path(name)),
                None => break false,
            }
        };
        if !is_complete {
            break;
        }
        paths.sort();
        paths.dedup();
        results.push(match status {
            b"1" => Rehearsed::Clean { tree: ObjectHash::parse(tree)? },
            b"0" => Rehearsed::Conflict { paths },
            _ => return None,
        });
    }
    Some(results)
}

/// The text of a commit that never was.
fn imagined(tree: ObjectHash, parents: &[CommitHash]) -> String {
    let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
    let who = "fewer <fewer@localhost> 0 +0000";
    format!("tree {tree}\n{parents}author {who}\ncommitter {who}\n\n")
}

/// A path in a list that is separated by colons.
fn quoted(path: &Path) -> OsString {
    let text = path.as_os_str();
    let bytes = text.as_encoded_bytes();
    if !bytes.contains(&b':') && !bytes.starts_with(b"\"") {
        return text.to_os_string();
    }
    OsString::from(format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Before 2.39 there is no `git merge-tree --write-tree --stdin`.
fn check_version(repository: &Repository) -> Result<(), HistoryError> {
    let text = git(&repository.directory, &["version"])?;
    let found = String::from_utf8_lossy(&text).trim().to_string();
    let mut numbers = found.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (2, 39) { Ok(()) } else { Err(HistoryError::OldGit { found }) }
}
