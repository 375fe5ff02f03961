//! Which revision is meant: what is checked out, or one that the user names; and the tests that are recorded of it.

use std::collections::BTreeSet;

use anyhow::{Context, bail};
use fewer_core::{Snapshot, TestId};
use fewer_git::Repository;
use fewer_requirements::Source;

use super::reduced_file;
use crate::session::Session;

/// What is called so when it is no commit: local changes, or no git at all.
const WORKING_TREE: &str = "working-tree";

/// A revision of the project.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Revision {
    /// `None` outside of git and before the first commit.
    pub commit: Option<String>,
    /// Whether the working tree differs from it.
    pub dirty: bool,
}

impl Revision {
    /// The one that was named, else what is checked out.
    pub fn find(session: &Session<'_>, named: Option<&str>) -> anyhow::Result<Revision> {
        if let Some(named) = named {
            let commit = Repository::open(&session.project.root)?.resolve(named)?;
            return Ok(Revision { commit: Some(commit.to_string()), dirty: false });
        }
        let Some(work_tree) = &session.project.work_tree else {
            return Ok(Revision { commit: None, dirty: false });
        };
        // New files are mostly reports and builds; a changed one makes it another revision.
        let state = work_tree.state(|_| true).context("git cannot tell what is checked out")?;
        let changed = match &state.commit {
            Some(commit) => work_tree.changed_since(commit)?,
            None => Vec::new(),
        };
        let dirty = changed.iter().any(|path| !path.ends_with(reduced_file::FILE_NAME));
        Ok(Revision { commit: state.commit, dirty })
    }

    /// The one that requirements were found at.
    pub fn of(source: &Source) -> Revision {
        Revision { commit: source.commit.clone(), dirty: source.dirty }
    }

    /// The name under which requirements are kept.
    pub fn label(&self) -> &str {
        match &self.commit {
            Some(commit) if !self.dirty => commit,
            Some(_) | None => WORKING_TREE,
        }
    }

    /// For people.
    pub fn shown(&self) -> String {
        match (&self.commit, self.dirty) {
            (Some(commit), false) => format!("commit {}", short(commit)),
            (Some(commit), true) => format!("commit {} with local changes", short(commit)),
            (None, _) => "the working tree".to_string(),
        }
    }
}

/// The tests that are recorded of a commit, with their fingerprints.
pub fn recorded_commit(session: &Session<'_>, commit: &str) -> anyhow::Result<Option<Snapshot>> {
    let store = session.store();
    match store.clean_states_of_commit(commit)?.first() {
        Some(state) => Ok(Some(store.state(state.id)?.snapshot)),
        None => Ok(None),
    }
}

/// The tests of the newest recorded state; none where nothing is recorded.
pub fn newest_tests(session: &Session<'_>) -> anyhow::Result<BTreeSet<TestId>> {
    let store = session.store();
    match store.latest_state()? {
        Some(state) => Ok(store.state(state.id)?.snapshot.into_keys().collect()),
        None => Ok(BTreeSet::new()),
    }
}

/// The tests of a named revision, which must be recorded, else of the newest recorded state.
pub fn tests_of(session: &Session<'_>, named: Option<&str>) -> anyhow::Result<BTreeSet<TestId>> {
    let Some(named) = named else { return newest_tests(session) };
    let revision = Revision::find(session, Some(named))?;
    let commit = revision.commit.as_deref().unwrap_or_default();
    match recorded_commit(session, commit)? {
        Some(snapshot) => Ok(snapshot.into_keys().collect()),
        None => bail!("no tests are recorded of {named}: check it out, build it and say `fewer run`"),
    }
}

pub fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
