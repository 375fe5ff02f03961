//! What a git repository knows of the commits of a history: author, time, modified files.

use std::collections::HashMap;
use std::path::Path;

use fewer_git::{CommitLog, CommitRecord, HistoryError, Repository, Scope};
use fewer_lab::import::{CommitFacts, CommitSource};

/// Shorter names could mean several commits.
const SHORTEST: usize = 7;

/// All commits that any ref leads to.
pub struct GitCommits {
    repository: Repository,
    log: CommitLog,
    by_hash: HashMap<String, usize>,
    /// Sorted, for abbreviated names.
    hashes: Vec<String>,
}

impl GitCommits {
    pub fn open(directory: &Path) -> Result<GitCommits, HistoryError> {
        let repository = Repository::open(directory)?;
        let log = CommitLog::read(&repository, &Scope::All)?;
        let by_hash: HashMap<String, usize> =
            log.records.iter().enumerate().map(|(at, record)| (record.commit.to_string(), at)).collect();
        let mut hashes: Vec<String> = by_hash.keys().cloned().collect();
        hashes.sort_unstable();
        Ok(GitCommits { repository, log, by_hash, hashes })
    }

    fn find(&self, name: &str) -> Option<&CommitRecord> {
        if let Some(&at) = self.by_hash.get(name) {
            return Some(&self.log.records[at]);
        }
        if name.len() < SHORTEST {
            return None;
        }
        let first = self.hashes.partition_point(|hash| hash.as_str() < name);
        let mut matching = self.hashes[first..].iter().take_while(|hash| hash.starts_with(name));
        match (matching.next(), matching.next()) {
            (Some(hash), None) => Some(&self.log.records[self.by_hash[hash]]),
            (Some(_) | None, _) => None,
        }
    }

    /// Against the first parent; of the first commit, everything.
    fn modified(&self, records: &[&CommitRecord]) -> Result<Vec<Vec<String>>, HistoryError> {
        let pairs: Vec<_> = records
            .iter()
            .filter_map(|record| record.parents.first().map(|parent| (*parent, record.commit)))
            .collect();
        let mut changes = self.repository.changes(&pairs)?;
        let mut lists = Vec::with_capacity(records.len());
        for record in records {
            let paths: Vec<String> = match record.parents.first() {
                Some(_) => {
                    let changes = changes.next().transpose()?.unwrap_or_default();
                    changes.iter().map(|change| change.path.to_string_lossy().into_owned()).collect()
                }
                None => {
                    let tree = self.repository.tree(record.commit)?;
                    tree.iter().map(|entry| entry.path.to_string_lossy().into_owned()).collect()
                }
            };
            lists.push(paths);
        }
        Ok(lists)
    }
}

impl CommitSource for GitCommits {
    fn commit(&self, name: &str) -> Option<CommitFacts> {
        let record = self.find(name)?;
        let author = self.log.authors[record.author as usize].clone();
        Some(CommitFacts { time: record.committed * 1_000_000, author })
    }

    fn files(&self, names: &[&str]) -> Result<Vec<Vec<String>>, String> {
        let records: Vec<&CommitRecord> = names.iter().filter_map(|name| self.find(name)).collect();
        self.modified(&records).map_err(|error| error.to_string())
    }
}
