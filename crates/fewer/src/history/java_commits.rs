//! A Java project at one commit after another: going from commit to commit costs what differs between them. Which
//! commits are wanted, and what is kept of them, is told elsewhere.

use std::sync::Arc;

use fewer_core::history::{RecordedGraph, Units};
use fewer_core::{Digest, Fingerprints, Snapshot};
use fewer_git::{CommitHash, Repository, TreeChange};
use fewer_java::Options;

use crate::java::{FactsReader, FileChange, JavaState, analysis_digest};
use crate::session::Session;

pub struct JavaCommits<'s> {
    state: JavaState,
    reader: FactsReader<'s>,
    analysis: Digest,
    at: Option<CommitHash>,
    /// Of the commit at hand, once it was asked for.
    snapshot: Option<Arc<Snapshot>>,
}

impl<'s> JavaCommits<'s> {
    pub fn new(
        session: &'s Session<'s>,
        repository: &Repository,
        options: Options,
    ) -> anyhow::Result<JavaCommits<'s>> {
        let below = session.project.below_top();
        Ok(JavaCommits {
            analysis: analysis_digest(options, &below),
            state: JavaState::new(options, below),
            reader: FactsReader::new(session, repository)?,
            at: None,
            snapshot: None,
        })
    }

    /// The same for analyses that give the same results.
    pub fn analysis(&self) -> Digest {
        self.analysis
    }

    pub fn go_to(&mut self, repository: &Repository, commit: CommitHash) -> anyhow::Result<()> {
        let Some(at) = self.at else {
            let entries = repository.tree(commit)?.into_iter().map(FileChange::of_entry).collect();
            return self.apply(commit, entries);
        };
        if at != commit {
            for changes in repository.changes(&[(at, commit)])? {
                self.advance(commit, changes?)?;
            }
        }
        Ok(())
    }

    /// Goes to a commit, given what differs from the one at hand.
    pub fn advance(&mut self, commit: CommitHash, changes: Vec<TreeChange>) -> anyhow::Result<()> {
        self.apply(commit, changes.into_iter().map(FileChange::of_change).collect())
    }

    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        let state = &self.state;
        let compute = || {
            let graph = state.analyse().graph;
            Arc::new(Fingerprints::compute(&graph).snapshot(&graph))
        };
        Arc::clone(self.snapshot.get_or_insert_with(compute))
    }

    /// Elements on their own: what a class is made from is read as it is.
    pub fn graph(&self) -> RecordedGraph {
        RecordedGraph::new(self.state.analyse().graph, Units::default())
    }

    /// Stores what was read and is new.
    pub fn keep(&mut self) -> anyhow::Result<()> {
        self.reader.keep()
    }

    fn apply(&mut self, commit: CommitHash, changes: Vec<FileChange>) -> anyhow::Result<()> {
        if self.state.apply(changes, &mut self.reader)? {
            self.snapshot = None;
        }
        self.at = Some(commit);
        Ok(())
    }
}
