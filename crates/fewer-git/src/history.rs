//! The commit graph of a repository, loaded from one stream of `git rev-list`: git itself honours shallow
//! clones, grafts, replaced objects, alternates and both object formats. The graph's algorithms are the core's.

use fewer_core::history::{CommitGraph, CommitGraphBuilder, CommitIndex};

use crate::command::{Call, Running};
use crate::object_hash::{CommitHash, ObjectHash, decode};
use crate::repository::{HistoryError, Repository};

/// Where a history is read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tips {
    /// Every ref, and what is checked out in every work tree.
    All,
    Commits(Vec<CommitHash>),
}

/// Every commit that the tips lead to.
#[derive(Clone, Debug)]
pub struct History {
    graph: CommitGraph,
    hashes: Hashes,
    shallow: Vec<CommitIndex>,
}

impl History {
    pub fn load(repository: &Repository, tips: &Tips) -> Result<History, HistoryError> {
        let (option, input) = match tips {
            Tips::All => ("--all", Vec::new()),
            Tips::Commits(commits) => ("--stdin", lines(commits)),
        };
        let mut stream = Call::new(&repository.directory, &["rev-list", "--parents", option]).start(input)?;
        let listing = Listing::read(&mut stream, repository.format().width());
        // What git complains of explains a stream that ends early.
        let name = stream.name.clone();
        stream.finish().map_err(|error| repository.explained(error))?;
        let listing = listing.map_err(|line| name.misunderstood(&line))?;
        let (graph, hashes) =
            listing.in_topological_order().map_err(|hash| HistoryError::MissingCommit(hash.to_string()))?;
        let mut history = History { graph, hashes, shallow: Vec::new() };
        history.shallow =
            repository.shallow_commits().iter().filter_map(|commit| history.index(commit)).collect();
        history.shallow.sort_unstable();
        Ok(history)
    }

    pub fn graph(&self) -> &CommitGraph {
        &self.graph
    }

    pub fn hash(&self, commit: CommitIndex) -> CommitHash {
        CommitHash(self.hashes.get(commit.0))
    }

    pub fn index(&self, commit: &CommitHash) -> Option<CommitIndex> {
        self.hashes.find(commit.as_bytes()).map(CommitIndex)
    }

    /// The same, where the commit has to be known.
    pub fn require(&self, commit: &CommitHash) -> Result<CommitIndex, HistoryError> {
        self.index(commit).ok_or_else(|| match self.shallow[..] {
            [] => HistoryError::MissingCommit(commit.to_string()),
            [..] => HistoryError::Shallow { what: format!("commit {commit}") },
        })
    }

    /// Whether a shallow clone hides this commit's parents: it only looks like a root.
    pub fn is_shallow(&self, commit: CommitIndex) -> bool {
        self.shallow.binary_search(&commit).is_ok()
    }

    /// Every commit whose parents are hidden, sorted.
    pub fn shallow(&self) -> &[CommitIndex] {
        &self.shallow
    }
}

/// Hashes, one a line.
pub(crate) fn lines(commits: &[CommitHash]) -> Vec<u8> {
    commits.iter().flat_map(|commit| format!("{commit}\n").into_bytes()).collect()
}

/// What `git rev-list --parents` says. Commits are numbered by their first mention, be it as a parent.
struct Listing {
    hashes: Hashes,
    /// Commits in the order in which they were listed: usually children first, but clocks may be wrong.
    listed: Vec<u32>,
    /// Where each listed commit's parents end.
    ends: Vec<u32>,
    parents: Vec<u32>,
}

impl Listing {
    /// The line itself where it is not understood.
    fn read(stream: &mut Running, width: usize) -> Result<Listing, Vec<u8>> {
        let hashes = Hashes { width, bytes: Vec::new(), slots: vec![EMPTY; 1024] };
        let mut listing = Listing { hashes, listed: Vec::new(), ends: Vec::new(), parents: Vec::new() };
        let (mut line, mut raw) = (Vec::new(), [0; 32]);
        let raw = &mut raw[..width];
        while stream.next(b'\n', &mut line).unwrap_or(false) {
            let is_understood = line.len() % (2 * width + 1) == 2 * width;
            for (place, digits) in line.chunks(2 * width + 1).enumerate() {
                if !is_understood || !decode(&digits[..2 * width], raw) {
                    return Err(line);
                }
                let commit = listing.hashes.intern(raw);
                let list = if place == 0 { &mut listing.listed } else { &mut listing.parents };
                list.push(commit);
            }
            listing.ends.push(listing.parents.len() as u32);
        }
        Ok(listing)
    }

    /// Parents before children; the hash of a parent that was not listed where there is one.
    fn in_topological_order(mut self) -> Result<(CommitGraph, Hashes), ObjectHash> {
        let count = self.listed.len();
        let mut place = vec![EMPTY; self.hashes.len()];
        for (at, &commit) in self.listed.iter().enumerate() {
            place[commit as usize] = at as u32;
        }
        if let Some(unlisted) = place.iter().position(|at| *at == EMPTY) {
            return Err(self.hashes.get(unlisted as u32));
        }
        let mut builder = CommitGraphBuilder::with_capacity(count, self.parents.len());
        let mut order = Vec::with_capacity(count);
        let mut index = vec![EMPTY; count];
        let (mut stack, mut parents) = (Vec::new(), Vec::new());
        for &start in self.listed.iter().rev() {
            stack.push(start);
            while let Some(&commit) = stack.last() {
                let known = self.parents_at(place[commit as usize]);
                let before = stack.len();
                stack.extend(known.iter().rev().filter(|parent| index[**parent as usize] == EMPTY));
                if stack.len() > before {
                    continue;
                }
                stack.pop();
                if index[commit as usize] == EMPTY {
                    parents.clear();
                    parents.extend(known.iter().map(|parent| CommitIndex(index[*parent as usize])));
                    index[commit as usize] = builder.commit(&parents).0;
                    order.push(commit);
                }
            }
        }
        self.hashes.reorder(&order, &index);
        Ok((builder.build(), self.hashes))
    }

    fn parents_at(&self, place: u32) -> &[u32] {
        let place = place as usize;
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.parents[start as usize..self.ends[place] as usize]
    }
}

/// Hashes by number and numbers by hash: the bytes in one array, and an open hash table of numbers.
#[derive(Clone, Debug)]
struct Hashes {
    width: usize,
    bytes: Vec<u8>,
    /// A power of two of them, at most half of them taken.
    slots: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;

impl Hashes {
    fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    fn raw(&self, number: u32) -> &[u8] {
        let start = number as usize * self.width;
        &self.bytes[start..start + self.width]
    }

    fn get(&self, number: u32) -> ObjectHash {
        ObjectHash::from_bytes(self.raw(number)).expect("a hash of the repository's width")
    }

    fn find(&self, raw: &[u8]) -> Option<u32> {
        if raw.len() != self.width {
            return None;
        }
        Some(self.slots[self.slot(raw)]).filter(|number| *number != EMPTY)
    }

    fn intern(&mut self, raw: &[u8]) -> u32 {
        let slot = self.slot(raw);
        if self.slots[slot] != EMPTY {
            return self.slots[slot];
        }
        let number = self.len() as u32;
        self.slots[slot] = number;
        self.bytes.extend_from_slice(raw);
        if 2 * self.len() > self.slots.len() {
            self.grow();
        }
        number
    }

    /// Where a hash is, or would be. Its own first bytes are as good as any hash of it.
    fn slot(&self, raw: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let start = u64::from_le_bytes(raw[..8].try_into().expect("a hash has more bytes"));
        let mut slot = start as usize & mask;
        while self.slots[slot] != EMPTY && self.raw(self.slots[slot]) != raw {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![EMPTY; 2 * self.slots.len()];
        for number in 0..self.len() as u32 {
            let slot = self.slot(self.raw(number));
            self.slots[slot] = number;
        }
    }

    /// Gives hash `order[i]` the number `i`; `index` is the inverse of `order`.
    fn reorder(&mut self, order: &[u32], index: &[u32]) {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        order.iter().for_each(|&number| bytes.extend_from_slice(self.raw(number)));
        self.bytes = bytes;
        for slot in self.slots.iter_mut().filter(|slot| **slot != EMPTY) {
            *slot = index[*slot as usize];
        }
    }
}
