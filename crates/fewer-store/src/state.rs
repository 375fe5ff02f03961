//! Recorded states of the project: what was checked out, which blobs make up its graph, and every test with its
//! fingerprint. A state costs what differs from the states already there.

use std::fmt;

use fewer_core::{Digest, DigestBuilder, Domain, Snapshot, TestId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use crate::chunk::{self, Chunk, Entry};
use crate::column::{Key, Moment, count};
use crate::error::{StoreError, StoreErrorKind};
use crate::store::Store;

const STATE: Domain = Domain::new("store.state");

/// A state by its content: the same on every machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct StateId(pub Digest);

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A blob that is part of a state's graph.
///
/// Example: kind `summary`, name `lib/lexer.o`, key of the summary of its content.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ManifestEntry {
    pub kind: String,
    pub name: String,
    pub key: Digest,
}

/// All that is recorded of a state.
#[derive(Clone, PartialEq, Debug)]
pub struct StateRecord {
    /// The commit that was checked out, if the project is in git.
    pub commit: Option<String>,
    /// Whether the working tree differed from the commit.
    pub dirty: bool,
    /// The working tree: equal content, equal digest.
    pub worktree: Digest,
    /// The blobs of its graph. A set: it is given back sorted and without repetitions.
    pub manifest: Vec<ManifestEntry>,
    /// Every test with its fingerprint.
    pub snapshot: Snapshot,
}

/// A state without its lists.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StateInfo {
    pub id: StateId,
    pub commit: Option<String>,
    pub dirty: bool,
    pub worktree: Digest,
    /// When it was last recorded.
    pub recorded_at: Timestamp,
    /// How many tests it has.
    pub tests: u64,
}

const INFO: &str = "SELECT key, commit_id, dirty, worktree, recorded_at, tests FROM state";

impl Store {
    /// Records a state and makes it the newest. The same content again is the same state. Its blobs should be
    /// stored before, so that nobody finds it without them.
    pub fn record_state(&self, state: &StateRecord) -> Result<StateId, StoreError> {
        let lists = Lists::of(state);
        let id = lists.identify(state);
        self.write(|connection| {
            let newest: i64 =
                connection.query_row("SELECT ifnull(max(recency), 0) FROM state", [], |row| row.get(0))?;
            let known = connection
                .prepare_cached(
                    "UPDATE state SET recorded_at = ?1,
                        recency = CASE recency WHEN ?2 THEN ?2 ELSE ?2 + 1 END WHERE key = ?3",
                )?
                .execute(params![Moment::now(), newest, Key(id.0)])?;
            if known == 0 {
                lists.insert_chunks(connection)?;
                insert_state(connection, id, state, &lists, newest + 1)?;
            }
            Ok(id)
        })
    }

    /// A whole state; an error where there is none with this id.
    pub fn state(&self, id: StateId) -> Result<StateRecord, StoreError> {
        self.read(|connection| {
            let found = connection
                .prepare_cached(
                    "SELECT commit_id, dirty, worktree, manifest, snapshot FROM state WHERE key = ?",
                )?
                .query_row([Key(id.0)], |row| {
                    let worktree: Key = row.get(2)?;
                    let (manifest, snapshot): (Vec<u8>, Vec<u8>) = (row.get(3)?, row.get(4)?);
                    Ok((row.get(0)?, row.get(1)?, worktree.0, manifest, snapshot))
                })
                .optional()?;
            let Some((commit, dirty, worktree, manifest, snapshot)) = found else {
                return Err(StoreErrorKind::UnknownState(id));
            };
            Ok(StateRecord {
                commit,
                dirty,
                worktree,
                manifest: read_list(connection, &manifest)?.into_iter().map(manifest_entry).collect(),
                snapshot: read_list(connection, &snapshot)?.into_iter().map(snapshot_entry).collect(),
            })
        })
    }

    /// The newest states, newest first.
    pub fn states(&self, limit: u32) -> Result<Vec<StateInfo>, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached(&format!("{INFO} ORDER BY recency DESC LIMIT ?"))?;
            let states = statement.query_map([limit], info)?.collect::<Result<_, _>>()?;
            Ok(states)
        })
    }

    /// The state that was recorded last.
    pub fn latest_state(&self) -> Result<Option<StateInfo>, StoreError> {
        Ok(self.states(1)?.into_iter().next())
    }

    /// The states of a commit without local changes, newest first.
    pub fn clean_states_of_commit(&self, commit: &str) -> Result<Vec<StateInfo>, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached(&format!("{INFO} WHERE commit_id = ? AND NOT dirty ORDER BY recency DESC"))?;
            let states = statement.query_map([commit], info)?.collect::<Result<_, _>>()?;
            Ok(states)
        })
    }

    /// The state in which the test last had an outcome, as far as it is still recorded.
    pub fn state_of_last_outcome(&self, test: &TestId) -> Result<Option<StateId>, StoreError> {
        self.read(|connection| {
            let state: Option<Option<Key>> = connection
                .prepare_cached(
                    "SELECT state.key FROM test
                     JOIN outcome INDEXED BY outcome_by_test ON outcome.test = test.id
                     JOIN run ON run.id = outcome.run
                     LEFT JOIN state ON state.id = run.state
                     WHERE test.target = ? AND test.name = ? ORDER BY outcome.id DESC LIMIT 1",
                )?
                .query_row([&test.target, &test.name], |row| row.get(0))
                .optional()?;
            Ok(state.flatten().map(|key| StateId(key.0)))
        })
    }
}

/// The manifest and the snapshot of a state, as stored.
struct Lists {
    manifest: Vec<Chunk>,
    snapshot: Vec<Chunk>,
}

impl Lists {
    fn of(state: &StateRecord) -> Lists {
        let entry =
            |group: &str, name: &str, digest| Entry { group: group.into(), name: name.into(), digest };
        let mut manifest: Vec<Entry> =
            state.manifest.iter().map(|blob| entry(&blob.kind, &blob.name, blob.key)).collect();
        manifest.sort();
        manifest.dedup();
        let snapshot: Vec<Entry> = state
            .snapshot
            .iter()
            .map(|(test, fingerprint)| entry(&test.target, &test.name, *fingerprint))
            .collect();
        Lists { manifest: chunk::split(&manifest), snapshot: chunk::split(&snapshot) }
    }

    fn identify(&self, state: &StateRecord) -> StateId {
        let mut builder = DigestBuilder::new(STATE);
        builder.number(u64::from(state.commit.is_some())).text(state.commit.as_deref().unwrap_or_default());
        builder.number(u64::from(state.dirty)).digest(state.worktree);
        for chunks in [&self.manifest, &self.snapshot] {
            builder.number(chunks.len() as u64);
            for chunk in chunks {
                builder.digest(chunk.key);
            }
        }
        StateId(builder.finish())
    }

    fn insert_chunks(&self, connection: &Connection) -> Result<(), StoreErrorKind> {
        let mut insert = connection
            .prepare_cached("INSERT INTO chunk (key, content) VALUES (?, ?) ON CONFLICT (key) DO NOTHING")?;
        for chunk in self.manifest.iter().chain(&self.snapshot) {
            insert.execute(params![Key(chunk.key), chunk.content])?;
        }
        Ok(())
    }
}

fn insert_state(
    connection: &Connection,
    id: StateId,
    state: &StateRecord,
    lists: &Lists,
    recency: i64,
) -> Result<(), StoreErrorKind> {
    let keys =
        |chunks: &[Chunk]| -> Vec<u8> { chunks.iter().flat_map(|chunk| chunk.key.to_bytes()).collect() };
    connection
        .prepare_cached(
            "INSERT INTO state
                (key, recency, recorded_at, commit_id, dirty, worktree, tests, manifest, snapshot)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            Key(id.0),
            recency,
            Moment::now(),
            state.commit,
            state.dirty,
            Key(state.worktree),
            state.snapshot.len() as i64,
            keys(&lists.manifest),
            keys(&lists.snapshot),
        ])?;
    Ok(())
}

fn info(row: &Row<'_>) -> rusqlite::Result<StateInfo> {
    let (id, worktree): (Key, Key) = (row.get(0)?, row.get(3)?);
    let recorded_at: Moment = row.get(4)?;
    Ok(StateInfo {
        id: StateId(id.0),
        commit: row.get(1)?,
        dirty: row.get(2)?,
        worktree: worktree.0,
        recorded_at: recorded_at.0,
        tests: count(row, 5)?,
    })
}

/// The keys of a list's chunks, as they stand in a state's row.
pub(crate) fn chunk_keys(list: &[u8]) -> Result<Vec<Digest>, StoreErrorKind> {
    let (keys, []) = list.as_chunks::<16>() else {
        return Err(StoreErrorKind::Damaged { detail: "a state's list of chunks is cut".to_string() });
    };
    Ok(keys.iter().map(|key| Digest::from_bytes(*key)).collect())
}

pub(crate) fn read_chunk(connection: &Connection, key: Digest) -> Result<Vec<Entry>, StoreErrorKind> {
    let content: Option<Vec<u8>> = connection
        .prepare_cached("SELECT content FROM chunk WHERE key = ?")?
        .query_row([Key(key)], |row| row.get(0))
        .optional()?;
    content
        .as_deref()
        .and_then(chunk::decode)
        .ok_or_else(|| StoreErrorKind::Damaged { detail: format!("chunk {key} is missing or unreadable") })
}

/// The newest state's tests with their fingerprints; nothing where no state is recorded.
pub(crate) fn newest_snapshot(connection: &Connection) -> Result<Snapshot, StoreErrorKind> {
    let list: Option<Vec<u8>> = connection
        .query_row("SELECT snapshot FROM state ORDER BY recency DESC LIMIT 1", [], |row| row.get(0))
        .optional()?;
    Ok(read_list(connection, &list.unwrap_or_default())?.into_iter().map(snapshot_entry).collect())
}

fn read_list(connection: &Connection, list: &[u8]) -> Result<Vec<Entry>, StoreErrorKind> {
    let mut entries = Vec::new();
    for key in chunk_keys(list)? {
        entries.extend(read_chunk(connection, key)?);
    }
    Ok(entries)
}

fn manifest_entry(entry: Entry) -> ManifestEntry {
    ManifestEntry { kind: entry.group, name: entry.name, key: entry.digest }
}

fn snapshot_entry(entry: Entry) -> (TestId, Digest) {
    (TestId { target: entry.group, name: entry.name }, entry.digest)
}
