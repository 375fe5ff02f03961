//! The shape of a history: commits as dense indices, their parents, merge bases and immediate dominators. It
//! knows no object ids, dates or trees, and nothing of what was recorded at a commit.

use std::collections::BinaryHeap;

/// A dense index into one commit graph; meaningless in any other. Parents always have smaller indices than
/// their children.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CommitIndex(pub u32);

impl CommitIndex {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Commits and their parents in one array each: 4 bytes per commit and 4 per parent.
#[derive(Clone, Debug)]
pub struct CommitGraph {
    offsets: Vec<u32>,
    parents: Vec<CommitIndex>,
}

impl CommitGraph {
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn commits(&self) -> impl DoubleEndedIterator<Item = CommitIndex> + ExactSizeIterator + use<> {
        (0..self.len() as u32).map(CommitIndex)
    }

    /// In the order in which the commit names them: the first parent first.
    pub fn parents(&self, commit: CommitIndex) -> &[CommitIndex] {
        let index = commit.index();
        &self.parents[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// Commits without parents; a history may have several.
    pub fn roots(&self) -> impl Iterator<Item = CommitIndex> + '_ {
        self.commits().filter(|&commit| self.parents(commit).is_empty())
    }

    pub fn is_merge(&self, commit: CommitIndex) -> bool {
        self.parents(commit).len() > 1
    }

    /// Whether `ancestor` is reachable from `commit`; every commit is its own ancestor.
    pub fn is_ancestor(&self, ancestor: CommitIndex, commit: CommitIndex) -> bool {
        if ancestor > commit {
            return false;
        }
        let mut seen = vec![false; commit.index() - ancestor.index() + 1];
        let mut stack = vec![commit];
        while let Some(commit) = stack.pop() {
            if commit == ancestor {
                return true;
            }
            // Nothing below `ancestor` can lead up to it.
            for &parent in self.parents(commit).iter().filter(|parent| **parent >= ancestor) {
                if !std::mem::replace(&mut seen[parent.index() - ancestor.index()], true) {
                    stack.push(parent);
                }
            }
        }
        false
    }

    /// All best common ancestors, as `git merge-base --all`, sorted: none for unrelated commits, several after
    /// a criss-cross merge.
    pub fn merge_bases(&self, a: CommitIndex, b: CommitIndex) -> Vec<CommitIndex> {
        self.merge_bases_of(a, &[b])
    }

    /// The best common ancestors of a commit and an imagined merge of others, as `git merge-base --all A B...`.
    pub fn merge_bases_of(&self, a: CommitIndex, others: &[CommitIndex]) -> Vec<CommitIndex> {
        const FROM_A: u8 = 1;
        const FROM_B: u8 = 2;
        const FROM_BOTH: u8 = FROM_A | FROM_B;
        const BELOW_BASE: u8 = 4;
        // Highest index first, so that everything that leads to a commit has been seen when its turn comes.
        let mut queue = BinaryHeap::from([(a, FROM_A)]);
        queue.extend(others.iter().map(|&other| (other, FROM_B)));
        let mut undecided = queue.len();
        let mut bases = Vec::new();
        while undecided > 0 {
            let Some((commit, mut flags)) = queue.pop() else { break };
            undecided -= usize::from(flags & BELOW_BASE == 0);
            while let Some(&(_, more)) = queue.peek().filter(|(next, _)| *next == commit) {
                queue.pop();
                undecided -= usize::from(more & BELOW_BASE == 0);
                flags |= more;
            }
            if flags == FROM_BOTH {
                bases.push(commit);
                flags |= BELOW_BASE;
            }
            for &parent in self.parents(commit) {
                queue.push((parent, flags));
                undecided += usize::from(flags & BELOW_BASE == 0);
            }
        }
        bases.reverse();
        bases
    }

    /// `from..to*`: every commit on some path from `from` to `to`, both ends included, sorted; empty if `from`
    /// is no ancestor of `to`. `None` is the virtual root above all roots: every ancestor of `to`, and `to`.
    pub fn between(&self, from: Option<CommitIndex>, to: CommitIndex) -> Vec<CommitIndex> {
        let lowest = from.map_or(0, |from| from.0);
        if lowest > to.0 {
            return Vec::new();
        }
        let slot = |commit: CommitIndex| (commit.0 - lowest) as usize;
        let mut below = vec![false; slot(to) + 1];
        below[slot(to)] = true;
        for commit in (lowest..=to.0).rev().map(CommitIndex) {
            if below[slot(commit)] {
                for &parent in self.parents(commit).iter().filter(|parent| parent.0 >= lowest) {
                    below[slot(parent)] = true;
                }
            }
        }
        let mut on_path = below;
        if let Some(from) = from {
            for commit in (lowest + 1..=to.0).map(CommitIndex) {
                on_path[slot(commit)] &=
                    self.parents(commit).iter().any(|&parent| parent >= from && on_path[slot(parent)]);
            }
        }
        let found: Vec<CommitIndex> =
            (lowest..=to.0).map(CommitIndex).filter(|&commit| on_path[slot(commit)]).collect();
        if found.last() == Some(&to) { found } else { Vec::new() }
    }
}

/// Collects commits, parents before children.
#[derive(Clone, Debug)]
pub struct CommitGraphBuilder {
    graph: CommitGraph,
}

impl Default for CommitGraphBuilder {
    fn default() -> CommitGraphBuilder {
        CommitGraphBuilder::new()
    }
}

impl CommitGraphBuilder {
    pub fn new() -> CommitGraphBuilder {
        CommitGraphBuilder::with_capacity(0, 0)
    }

    pub fn with_capacity(commits: usize, parents: usize) -> CommitGraphBuilder {
        let mut offsets = Vec::with_capacity(commits + 1);
        offsets.push(0);
        CommitGraphBuilder { graph: CommitGraph { offsets, parents: Vec::with_capacity(parents) } }
    }

    /// How many commits there are so far.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// Adds a commit; indices are given in order, starting at 0. Its parents must have been added before.
    pub fn commit(&mut self, parents: &[CommitIndex]) -> CommitIndex {
        let CommitGraph { offsets, parents: all } = &mut self.graph;
        let index = u32::try_from(offsets.len() - 1).expect("at most 2^32 commits");
        assert!(
            parents.iter().all(|parent| parent.0 < index),
            "a parent that was not added before its child"
        );
        all.extend_from_slice(parents);
        offsets.push(u32::try_from(all.len()).expect("at most 2^32 parents"));
        CommitIndex(index)
    }

    pub fn build(self) -> CommitGraph {
        self.graph
    }
}

/// The dominator tree: `d` dominates `c` if every path from a root to `c` leads through `d`. A virtual root
/// above all roots makes it one tree. 12 bytes per commit.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// By node: the virtual root is node 0, commit `c` is node `c + 1`.
    nodes: Vec<Node>,
}

/// A node of the dominator tree with a jump pointer (Myers' skew-binary numbers): any ancestor is found in
/// O(log depth) steps.
#[derive(Clone, Copy, Debug)]
struct Node {
    up: u32,
    jump: u32,
    depth: u32,
}

impl Dominators {
    /// One pass: indices are in topological order, so that the dominators of all parents are known when a
    /// commit's turn comes.
    pub fn of(graph: &CommitGraph) -> Dominators {
        let mut nodes = Vec::with_capacity(graph.len() + 1);
        nodes.push(Node { up: VIRTUAL_ROOT, jump: VIRTUAL_ROOT, depth: 0 });
        let mut dominators = Dominators { nodes };
        for commit in graph.commits() {
            let up = dominators.meet_all(graph.parents(commit));
            let above = dominators.node(up);
            let jump = dominators.node(above.jump);
            let is_balanced = above.depth - jump.depth == jump.depth - dominators.node(jump.jump).depth;
            let jump = if is_balanced { jump.jump } else { up };
            dominators.nodes.push(Node { up, jump, depth: above.depth + 1 });
        }
        dominators
    }

    /// `imd(c)`; `None` if only the virtual root dominates the commit.
    pub fn immediate(&self, commit: CommitIndex) -> Option<CommitIndex> {
        commit_of(self.node(node_of(commit)).up)
    }

    /// `dom(a, b)`: the immediate dominator of an imagined merge of the two. One of them, if it dominates the
    /// other; `None` if only the virtual root does.
    pub fn common(&self, a: CommitIndex, b: CommitIndex) -> Option<CommitIndex> {
        commit_of(self.meet(node_of(a), node_of(b)))
    }

    /// The immediate dominator of an imagined merge of all of them.
    pub fn common_of(&self, commits: &[CommitIndex]) -> Option<CommitIndex> {
        commit_of(self.meet_all(commits))
    }

    fn meet_all(&self, commits: &[CommitIndex]) -> u32 {
        let nodes = commits.iter().map(|&commit| node_of(commit));
        nodes.reduce(|a, b| self.meet(a, b)).unwrap_or(VIRTUAL_ROOT)
    }

    /// The lowest common ancestor in the dominator tree.
    fn meet(&self, mut a: u32, mut b: u32) -> u32 {
        if self.node(a).depth < self.node(b).depth {
            std::mem::swap(&mut a, &mut b);
        }
        let depth = self.node(b).depth;
        while self.node(a).depth > depth {
            let Node { up, jump, .. } = self.node(a);
            a = if self.node(jump).depth >= depth { jump } else { up };
        }
        while a != b {
            let (left, right) = (self.node(a), self.node(b));
            (a, b) = if left.jump != right.jump { (left.jump, right.jump) } else { (left.up, right.up) };
        }
        a
    }

    fn node(&self, node: u32) -> Node {
        self.nodes[node as usize]
    }
}

const VIRTUAL_ROOT: u32 = 0;

fn node_of(commit: CommitIndex) -> u32 {
    commit.0 + 1
}

fn commit_of(node: u32) -> Option<CommitIndex> {
    node.checked_sub(1).map(CommitIndex)
}
