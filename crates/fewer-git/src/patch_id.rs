//! Commits that make the same change, found by `git patch-id --stable`. Messages are not looked at.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::command::Call;
use crate::commit_log::{CommitLog, CommitRecord, Scope};
use crate::history::{History, Tips, lines};
use crate::object_hash::CommitHash;
use crate::repository::{HistoryError, Repository};

/// For each commit that repeats the change of another one, which is neither its ancestor nor its descendant, the
/// earliest such commit of all branches.
pub(crate) fn originals(
    repository: &Repository,
    scope: &Scope,
    records: &[CommitRecord],
) -> Result<HashMap<CommitHash, CommitRecord>, HistoryError> {
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
    for mut same in commits_by_patch(repository, &tips)?.into_values() {
        // A commit that was never rewritten is the original of one made in the same second.
        same.sort_unstable_by_key(|commit| (pool[commit].committed, pool[commit].rewritten, *commit));
        for (place, copy) in same.iter().enumerate().filter(|(_, copy)| wanted.contains(*copy)) {
            let original = same[..place].iter().find(|original| is_apart(&history, original, copy));
            originals.extend(original.map(|original| (*copy, pool[original].clone())));
        }
    }
    Ok(originals)
}

/// Commits by the id of their patch; those without a change have none.
fn commits_by_patch(
    repository: &Repository,
    commits: &[CommitHash],
) -> Result<BTreeMap<Vec<u8>, Vec<CommitHash>>, HistoryError> {
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
    let listing = listing.map_err(|error| repository.explained(error))?;
    let mut by_patch: BTreeMap<Vec<u8>, Vec<CommitHash>> = BTreeMap::new();
    for line in listing.split(|byte| *byte == b'\n') {
        let Some(space) = line.iter().position(|byte| *byte == b' ') else { continue };
        if let Some(commit) = CommitHash::parse(&line[space + 1..]) {
            by_patch.entry(line[..space].to_vec()).or_default().push(commit);
        }
    }
    Ok(by_patch)
}

fn is_apart(history: &History, a: &CommitHash, b: &CommitHash) -> bool {
    let (Some(a), Some(b)) = (history.index(a), history.index(b)) else { return false };
    !history.graph().is_ancestor(a, b) && !history.graph().is_ancestor(b, a)
}
