//! Commits that make the same change, found by `git patch-id --stable`. Messages are not looked at.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::command::Call;
use crate::commit_log::{CommitLog, CommitRecord, Scope};
use crate::history::{History, Tips, lines};
use crate::object_hash::CommitHash;
use crate::repository::{HistoryError, Repository};

/// For each commit that repeats the change of another one, which is neither its ancestor nor its descendant, the
/// earliest such commit of all branches; and how many changes cannot be read because an object is missing.
pub(crate) fn originals(
    repository: &Repository,
    scope: &Scope,
    records: &[CommitRecord],
) -> Result<(HashMap<CommitHash, CommitRecord>, usize), HistoryError> {
    let everything = match scope {
        Scope::All => Vec::new(),
        Scope::Range(_) | Scope::Commits(_) => CommitLog::read(repository, &Scope::All)?.records,
    };
    let pool: HashMap<CommitHash, &CommitRecord> = records
        .iter()
        .chain(&everything)
        .filter(|record| record.parents.len() < 2)
        .map(|record| (record.commit, record))
        .collect();
    let wanted: HashSet<CommitHash> = records.iter().map(|record| record.commit).collect();
    let mut tips: Vec<CommitHash> = pool.keys().copied().collect();
    tips.sort_unstable();
    let history = History::load(repository, &Tips::Commits(tips.clone()))?;
    let mut originals = HashMap::new();
    let mut patches = Patches::default();
    patches.read(repository, &tips)?;
    for mut same in patches.commits.into_values() {
        same.sort_unstable_by_key(|commit| age(pool[commit]));
        for (place, copy) in same.iter().enumerate().filter(|(_, copy)| wanted.contains(*copy)) {
            let original = same[..place].iter().find(|original| is_apart(&history, original, copy));
            originals.extend(original.map(|original| (*copy, pool[original].clone())));
        }
    }
    Ok((originals, patches.unreadable))
}

/// The commit beside this one whose change it repeats, if it is older and was written at the same time, as copies are.
pub(crate) fn original_of(
    repository: &Repository,
    copy: &CommitRecord,
) -> Result<Option<CommitRecord>, HistoryError> {
    let could_be = |other: &CommitRecord| {
        other.authored == copy.authored && other.parents.len() == 1 && age(other) < age(copy)
    };
    if copy.parents.len() != 1 {
        return Ok(None);
    }
    let beside = CommitLog::beside(repository, copy.commit)?;
    let mut candidates: Vec<CommitRecord> = beside.records.into_iter().filter(could_be).collect();
    if candidates.is_empty() {
        return Ok(None);
    }
    candidates.sort_unstable_by_key(age);
    let mut commits: Vec<CommitHash> = candidates.iter().map(|candidate| candidate.commit).collect();
    commits.push(copy.commit);
    let mut patches = Patches::default();
    patches.read(repository, &commits)?;
    let same = patches.commits.into_values().find(|same| same.contains(&copy.commit)).unwrap_or_default();
    Ok(candidates.into_iter().find(|candidate| same.contains(&candidate.commit)))
}

/// A commit that was never rewritten is the original of one made in the same second.
fn age(record: &CommitRecord) -> (i64, bool, CommitHash) {
    (record.committed, record.rewritten, record.commit)
}

/// Commits by the id of their patch; those without a change have none.
#[derive(Default)]
struct Patches {
    commits: BTreeMap<Vec<u8>, Vec<CommitHash>>,
    /// How many have objects that are missing.
    unreadable: usize,
}

impl Patches {
    /// Git gives up at the first object that is missing: what it was asked is then asked in halves.
    fn read(&mut self, repository: &Repository, commits: &[CommitHash]) -> Result<(), HistoryError> {
        match (listing(repository, commits), commits) {
            (Ok(listing), _) => self.take(&listing),
            (Err(HistoryError::MissingObject(_)), [_]) => self.unreadable += 1,
            (Err(HistoryError::MissingObject(_)), _) => {
                let (first, rest) = commits.split_at(commits.len() / 2);
                self.read(repository, first)?;
                self.read(repository, rest)?;
            }
            (Err(error), _) => return Err(error),
        }
        Ok(())
    }

    fn take(&mut self, listing: &[u8]) {
        for line in listing.split(|byte| *byte == b'\n') {
            let Some(space) = line.iter().position(|byte| *byte == b' ') else { continue };
            if let Some(commit) = CommitHash::parse(&line[space + 1..]) {
                self.commits.entry(line[..space].to_vec()).or_default().push(commit);
            }
        }
    }
}

/// Per line the id of a patch and its commit.
fn listing(repository: &Repository, commits: &[CommitHash]) -> Result<Vec<u8>, HistoryError> {
    // Ids do not depend on how the user likes his diffs.
    let options = [
        "diff-tree",
        "--stdin",
        "--root",
        "-p",
        "--full-index",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--diff-algorithm=myers",
    ];
    let patches = Call::new(&repository.directory, &options).start(lines(commits))?;
    let listing = patches.pipe_into(Call::new(&repository.directory, &["patch-id", "--stable"]));
    listing.map_err(|error| repository.explained(error))
}

fn is_apart(history: &History, a: &CommitHash, b: &CommitHash) -> bool {
    let (Some(a), Some(b)) = (history.index(a), history.index(b)) else { return false };
    !history.graph().is_ancestor(a, b) && !history.graph().is_ancestor(b, a)
}
