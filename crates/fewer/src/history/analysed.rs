//! Commits analysed without a checkout or a build: by the rule for files, from Java source, or from a graph document
//! per commit. What was analysed is kept in the store, so that an interrupted replay goes on where it stopped.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fewer_core::history::experiments::{FirstSeen, Foretold, Step};
use fewer_core::history::{ChangedPaths, CommitIndex, GraphSource, RecordedGraph, Records};
use fewer_core::{Digest, DigestBuilder, Domain, Fingerprints, Snapshot, TestId};
use fewer_git::{CommitHash, History, Repository, TreeChange, TreeContent};
use serde::{Deserialize, Serialize};

use super::file_rule::{FileReader, FileRule, Files};
use super::graph_document::GraphDocuments;
use super::java_commits::JavaCommits;
use super::snapshots::{Pending, Snapshots, keep};
use super::steps::foretell;
use crate::session::Session;

const SNAPSHOT: Domain = Domain::new("history.snapshot");
const FORETOLD: Domain = Domain::new("history.foretold");
const FILE: Domain = Domain::new("history.file");

const FORETOLD_KIND: &str = "history-foretold";
/// At most so much work is lost when the process is killed.
const KEEP_AFTER: Duration = Duration::from_secs(2);
const KEEP_COMMITS: usize = 256;
/// Graphs that are kept for the next step.
const CACHED_GRAPHS: usize = 24;

/// Where graphs come from.
pub enum Analyser<'r> {
    /// `below` is where the rule's paths begin, as git writes it: empty, or ending with `/`.
    Files {
        rule: &'r FileRule,
        reader: FileReader<'r>,
        below: String,
    },
    Documents(GraphDocuments),
    Java(Box<JavaCommits<'r>>),
}

/// The commits of a history as an analyser sees them.
pub struct AnalysedCommits<'a> {
    repository: &'a Repository,
    history: &'a History,
    analyser: Analyser<'a>,
    snapshots: Snapshots<'a>,
    graphs: HashMap<CommitIndex, Option<Arc<RecordedGraph>>>,
}

/// How much of the work was done before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Known {
    pub commits: usize,
    pub known: usize,
    /// Without a graph document.
    pub absent: usize,
}

/// What was foretold of a step, as it differs from what came.
#[derive(Serialize, Deserialize)]
struct StoredForetold {
    differing: Vec<(TestId, Option<Digest>)>,
    absent: Vec<TestId>,
}

impl<'a> AnalysedCommits<'a> {
    pub fn new(
        repository: &'a Repository,
        history: &'a History,
        analyser: Analyser<'a>,
    ) -> AnalysedCommits<'a> {
        let snapshots = Snapshots::new(history);
        AnalysedCommits { repository, history, analyser, snapshots, graphs: HashMap::new() }
    }

    /// Analyses commits, except those that the store knows.
    pub fn analyse(
        &mut self,
        session: &Session<'_>,
        commits: &BTreeSet<CommitIndex>,
    ) -> anyhow::Result<Known> {
        let _phase = session.timings.phase("analyse commits");
        let mut keys = HashMap::new();
        for &commit in commits {
            keys.extend(self.key(self.history.hash(commit))?.map(|key| (commit, key)));
        }
        let wanted: Vec<(CommitIndex, Digest)> =
            commits.iter().filter_map(|commit| Some((*commit, *keys.get(commit)?))).collect();
        let analyser = &self.analyser;
        let key = |hash| key(analyser, hash).ok().flatten();
        let missing = self.snapshots.load(&session.store(), &wanted, key)?;
        let known = Known {
            commits: commits.len(),
            known: wanted.len() - missing.len(),
            absent: commits.len() - wanted.len(),
        };
        let mut work = Work { session, pending: Vec::new(), kept: Instant::now() };
        let done = self.analyse_missing(&mut work, &missing, &keys);
        // Whatever ended the work, what was done is kept.
        work.keep()?;
        if let Analyser::Java(commits) = &mut self.analyser {
            commits.keep()?;
        }
        session.go_on()?;
        done.map(|()| known)
    }

    fn analyse_missing(
        &mut self,
        work: &mut Work<'_, '_>,
        missing: &[CommitIndex],
        keys: &HashMap<CommitIndex, Digest>,
    ) -> anyhow::Result<()> {
        let mut progress = work.session.console.progress(missing.len());
        let message = "commits are analysed";
        let Some(&first) = missing.first() else { return Ok(()) };
        let hash = |commit: &CommitIndex| self.history.hash(*commit);
        let pairs: Vec<_> = missing.windows(2).map(|pair| (hash(&pair[0]), hash(&pair[1]))).collect();
        match &mut self.analyser {
            Analyser::Documents(_) => {
                for commit in missing {
                    work.session.go_on()?;
                    if let Some(graph) = self.read_graph(*commit)? {
                        work.pending.push(self.snapshots.insert(*commit, keys[commit], snapshot(&graph)));
                    }
                    work.keep_from_time_to_time()?;
                    progress.advance(message);
                }
            }
            Analyser::Files { .. } => {
                let mut files = self.files_at(first)?;
                let mut current = self.snapshot_of(&files);
                let mut changes = self.repository.changes(&pairs)?;
                for &commit in missing {
                    work.session.go_on()?;
                    if commit != first {
                        let Some(changed) = changes.next() else { break };
                        if self.apply(&mut files, changed?) {
                            current = self.snapshot_of(&files);
                        }
                    }
                    work.pending.push(self.snapshots.insert(commit, keys[&commit], current.clone()));
                    work.keep_from_time_to_time()?;
                    progress.advance(message);
                }
            }
            Analyser::Java(commits) => {
                let mut changes = self.repository.changes(&pairs)?;
                for &commit in missing {
                    work.session.go_on()?;
                    let hash = self.history.hash(commit);
                    if commit == first {
                        commits.go_to(self.repository, hash)?;
                    } else {
                        let Some(changed) = changes.next() else { break };
                        commits.advance(hash, changed?)?;
                    }
                    let snapshot = commits.snapshot();
                    work.pending.push(self.snapshots.insert(commit, keys[&commit], snapshot));
                    work.keep_from_time_to_time()?;
                    progress.advance(message);
                }
            }
        }
        Ok(())
    }

    pub fn first_seen(&self, commits: &BTreeSet<CommitIndex>) -> FirstSeen {
        self.snapshots.first_seen(commits)
    }

    /// What the recorded graphs foretell of each step that git makes alone; `None` where they tell nothing.
    pub fn foretell_all(
        &mut self,
        session: &Session<'_>,
        steps: &[Step],
    ) -> anyhow::Result<Vec<Option<Foretold>>> {
        let _phase = session.timings.phase("foretell");
        let mut progress = session.console.progress(steps.len());
        let mut foretold = Vec::with_capacity(steps.len());
        for step in steps {
            session.go_on()?;
            foretold.push(match step.is_automatic {
                true => self.foretell(session, step)?,
                false => None,
            });
            progress.advance("merges are foretold");
        }
        Ok(foretold)
    }

    fn foretell(&mut self, session: &Session<'_>, step: &Step) -> anyhow::Result<Option<Foretold>> {
        let Some(head) = self.snapshot(step.head) else { return Ok(None) };
        let key = match &self.analyser {
            Analyser::Files { rule, below, .. } => {
                let mut builder = DigestBuilder::new(FORETOLD);
                builder.bytes(self.history.hash(step.head).as_bytes()).digest(rule.digest()).text(below);
                Some(builder.finish())
            }
            // It depends on several documents, which may change.
            Analyser::Documents(_) => None,
            // Source is read as it is merged, and git tells how before anybody builds.
            Analyser::Java(_) => return Ok(Some(as_came(&head))),
        };
        if let Some(key) = key
            && let Some(content) = session.store().blobs(FORETOLD_KIND, &[key])?.remove(&key)
            && let Ok(stored) = serde_json::from_slice::<StoredForetold>(&content)
        {
            return Ok(Some(stored.foretold(&head)));
        }
        let history = self.history;
        let told = foretell(history.graph(), step, self);
        session.go_on()?;
        let foretold = told?;
        if let (Some(key), Some(foretold)) = (key, &foretold) {
            let content = serde_json::to_vec(&StoredForetold::of(foretold, &head))?;
            session.store().put_blobs(FORETOLD_KIND, &[(key, content)])?;
        }
        Ok(foretold)
    }

    /// The graph, without asking the cache.
    pub fn read_graph(&mut self, commit: CommitIndex) -> anyhow::Result<Option<RecordedGraph>> {
        let hash = self.history.hash(commit);
        match &mut self.analyser {
            Analyser::Documents(documents) => documents.find(hash)?.map(|found| found.graph()).transpose(),
            Analyser::Files { .. } => {
                let files = self.files_at(commit)?;
                Ok(Some(self.graph_of(&files)))
            }
            Analyser::Java(commits) => {
                commits.go_to(self.repository, hash)?;
                Ok(Some(commits.graph()))
            }
        }
    }

    fn key(&self, hash: CommitHash) -> anyhow::Result<Option<Digest>> {
        key(&self.analyser, hash)
    }

    fn files_at(&mut self, commit: CommitIndex) -> anyhow::Result<Files> {
        let mut files = Files::new();
        for entry in self.repository.tree(self.history.hash(commit))? {
            if let Some(path) = self.mentioned(&entry.path) {
                let content = content(&path, entry.content);
                files.insert(path, content);
            }
        }
        Ok(files)
    }

    /// Whether anything changed that the rule speaks of.
    fn apply(&mut self, files: &mut Files, changes: Vec<TreeChange>) -> bool {
        let mut is_changed = false;
        for TreeChange { path, new, .. } in changes {
            let Some(path) = self.mentioned(&path) else { continue };
            is_changed = true;
            match new.map(|new| content(&path, new)) {
                Some(content) => files.insert(path, content),
                None => files.remove(&path),
            };
        }
        is_changed
    }

    /// The path as the rule knows it.
    fn mentioned(&mut self, path: &Path) -> Option<String> {
        match &mut self.analyser {
            Analyser::Documents(_) | Analyser::Java(_) => None,
            Analyser::Files { reader, below, .. } => {
                let path = path.to_string_lossy();
                let path = path.strip_prefix(below.as_str())?;
                reader.is_mentioned(path).then(|| path.to_string())
            }
        }
    }

    fn snapshot_of(&mut self, files: &Files) -> Arc<Snapshot> {
        snapshot(&self.graph_of(files))
    }

    fn graph_of(&mut self, files: &Files) -> RecordedGraph {
        match &mut self.analyser {
            Analyser::Documents(_) | Analyser::Java(_) => RecordedGraph::default(),
            Analyser::Files { reader, below, .. } => {
                reader.graph(files, |path| whole_name(&format!("{below}{path}")))
            }
        }
    }
}

impl Records for AnalysedCommits<'_> {
    fn snapshot(&self, commit: CommitIndex) -> Option<Arc<Snapshot>> {
        self.snapshots.snapshot(commit)
    }
}

impl GraphSource for AnalysedCommits<'_> {
    type Error = anyhow::Error;

    fn graph(&mut self, commit: CommitIndex) -> anyhow::Result<Option<Arc<RecordedGraph>>> {
        if let Some(known) = self.graphs.get(&commit) {
            return Ok(known.clone());
        }
        let graph = self.read_graph(commit)?.map(Arc::new);
        if self.graphs.len() >= CACHED_GRAPHS {
            self.graphs.clear();
        }
        self.graphs.insert(commit, graph.clone());
        Ok(graph)
    }

    fn changed_paths(&mut self, from: CommitIndex, to: CommitIndex) -> anyhow::Result<ChangedPaths> {
        let pair = (self.history.hash(from), self.history.hash(to));
        let is_by_file = matches!(self.analyser, Analyser::Files { .. });
        let mut changed = ChangedPaths::default();
        for changes in self.repository.changes(&[pair])? {
            for TreeChange { path, old, new } in changes? {
                let path = path.to_string_lossy();
                let path = if is_by_file { whole_name(&path) } else { path.into_owned() };
                match (old, new) {
                    (None, _) => changed.added.insert(path),
                    (Some(_), Some(_)) => changed.modified.insert(path),
                    (Some(_), None) => changed.deleted.insert(path),
                };
            }
        }
        Ok(changed)
    }
}

/// Analysed commits on their way to the store.
struct Work<'w, 's> {
    session: &'w Session<'s>,
    pending: Vec<Pending>,
    kept: Instant,
}

impl Work<'_, '_> {
    fn keep_from_time_to_time(&mut self) -> anyhow::Result<()> {
        if self.pending.len() >= KEEP_COMMITS || self.kept.elapsed() > KEEP_AFTER {
            self.keep()?;
        }
        Ok(())
    }

    fn keep(&mut self) -> anyhow::Result<()> {
        self.kept = Instant::now();
        Ok(keep(&self.session.store(), &mut self.pending)?)
    }
}

impl StoredForetold {
    fn of(foretold: &Foretold, head: &Snapshot) -> StoredForetold {
        let is_as_came = |test: &TestId, expected: &Option<Digest>| {
            expected.is_some() && head.get(test) == expected.as_ref()
        };
        let differing = foretold.0.iter().filter(|(test, expected)| !is_as_came(test, expected));
        StoredForetold {
            differing: differing.map(|(test, expected)| (test.clone(), *expected)).collect(),
            absent: head.keys().filter(|test| !foretold.0.contains_key(*test)).cloned().collect(),
        }
    }

    fn foretold(self, head: &Snapshot) -> Foretold {
        let mut tests: BTreeMap<TestId, Option<Digest>> =
            head.iter().map(|(test, fingerprint)| (test.clone(), Some(*fingerprint))).collect();
        tests.retain(|test, _| !self.absent.contains(test));
        tests.extend(self.differing);
        Foretold(tests)
    }
}

/// `None` if the commit cannot be analysed.
fn key(analyser: &Analyser<'_>, hash: CommitHash) -> anyhow::Result<Option<Digest>> {
    let analysis = match analyser {
        Analyser::Files { rule, below, .. } => {
            Some(DigestBuilder::new(SNAPSHOT).digest(rule.digest()).text(below).finish())
        }
        Analyser::Documents(documents) => documents.find(hash)?.map(|found| found.digest()),
        Analyser::Java(commits) => Some(commits.analysis()),
    };
    let key = |analysis| DigestBuilder::new(SNAPSHOT).bytes(hash.as_bytes()).digest(analysis).finish();
    Ok(analysis.map(key))
}

fn as_came(head: &Snapshot) -> Foretold {
    Foretold(head.iter().map(|(test, fingerprint)| (test.clone(), Some(*fingerprint))).collect())
}

fn snapshot(graph: &RecordedGraph) -> Arc<Snapshot> {
    Arc::new(Fingerprints::compute(graph.graph()).snapshot(graph.graph()))
}

fn content(path: &str, TreeContent { mode, hash }: TreeContent) -> Digest {
    DigestBuilder::new(FILE).text(path).text(&format!("{mode:?}")).bytes(hash.as_bytes()).finish()
}

/// A path as one name: a new file does not hide one of the same name elsewhere, as it may for a compiler that
/// searches directories.
fn whole_name(path: &str) -> String {
    path.replace('/', "\\")
}
