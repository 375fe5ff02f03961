//! Recorded states of the project: what was checked out, which blobs make up its graph, and every test with its
//! fingerprint. A state costs what differs from the states already there.

use std::collections::HashMap;
use std::fmt;

use fewer_core::{Digest, DigestBuilder, Domain, Snapshot, TestId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::Serialize;

use crate::chunk::{self, Chunk, Entry};
use crate::column::{Key, MacBytes, Moment, count};
use crate::error::{StoreError, StoreErrorKind};
use crate::owner::Record;
use crate::seal::{Mac, Seal};
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

/// Up to the lists, which may be long.
const INFO: &str =
    "SELECT id, key, recency, recorded_at, commit_id, dirty, worktree, tests, lists_mac, mac FROM state";

/// A state's row without its lists.
struct StateRow {
    row: i64,
    info: StateInfo,
    recency: i64,
    lists_mac: Mac,
}

impl StateRow {
    /// When it was recorded is no part of it: only how long it is kept depends on that.
    fn mac(&self, seal: &Seal) -> Mac {
        let info = &self.info;
        seal.of("state")
            .digest(info.id.0)
            .number(self.recency)
            .optional(info.commit.as_deref())
            .number(i64::from(info.dirty))
            .digest(info.worktree)
            .number(info.tests.cast_signed())
            .bytes(&self.lists_mac)
            .finish()
    }
}

fn lists_mac(seal: &Seal, manifest: &[u8], snapshot: &[u8]) -> Mac {
    seal.of("lists").bytes(manifest).bytes(snapshot).finish()
}

impl Store {
    /// Records a state and makes it the newest. The same content again is the same state. Its blobs should be
    /// stored before, so that nobody finds it without them.
    pub fn record_state(&self, state: &StateRecord) -> Result<StateId, StoreError> {
        let lists = Lists::of(state, &self.owner.seal);
        let id = lists.identify(state);
        self.write(|connection| {
            let newest: i64 = connection.query_row(
                "SELECT ifnull(max(recency), 0) FROM state WHERE key != ?",
                [Key(id.0)],
                |row| row.get(0),
            )?;
            lists.insert_chunks(connection)?;
            insert_state(connection, &self.owner.seal, id, state, &lists, newest.saturating_add(1))?;
            Ok(id)
        })
    }

    /// A whole state; an error where there is none with this id.
    pub fn state(&self, id: StateId) -> Result<StateRecord, StoreError> {
        self.read(|connection| {
            let found = self.state_rows(connection, "WHERE key = ?", [Key(id.0)])?.pop();
            let Some(StateRow { row, info, lists_mac, .. }) = found else {
                return Err(StoreErrorKind::UnknownState(id));
            };
            let (manifest, snapshot) = self.lists(connection, row, lists_mac)?;
            Ok(StateRecord {
                commit: info.commit,
                dirty: info.dirty,
                worktree: info.worktree,
                manifest: self.read_list(connection, &manifest)?.into_iter().map(manifest_entry).collect(),
                snapshot: self.read_list(connection, &snapshot)?.into_iter().map(snapshot_entry).collect(),
            })
        })
    }

    /// The states that this user recorded, of those that a condition gives.
    fn state_rows(
        &self,
        connection: &Connection,
        condition: &str,
        parameters: impl Params,
    ) -> Result<Vec<StateRow>, StoreErrorKind> {
        let mut statement = connection.prepare_cached(&format!("{INFO} {condition}"))?;
        let mut states = Vec::new();
        for state in statement.query_map(parameters, state_row)? {
            let (state, mac) = state?;
            if self.owner.vouches(Record::State(state.row), mac, state.mac(&self.owner.seal)) {
                states.push(state);
            }
        }
        Ok(states)
    }

    /// The lists of a state's row: the keys of its chunks.
    fn lists(
        &self,
        connection: &Connection,
        row: i64,
        mac: Mac,
    ) -> Result<(Vec<u8>, Vec<u8>), StoreErrorKind> {
        let (manifest, snapshot): (Vec<u8>, Vec<u8>) = connection
            .prepare_cached("SELECT manifest, snapshot FROM state WHERE id = ?")?
            .query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if lists_mac(&self.owner.seal, &manifest, &snapshot) != mac {
            return Err(StoreErrorKind::Damaged {
                detail: "a state's lists are not as they were written".to_string(),
            });
        }
        Ok((manifest, snapshot))
    }

    /// Of all states that this user recorded.
    pub(crate) fn all_lists(&self, connection: &Connection) -> Result<Vec<ListsRow>, StoreErrorKind> {
        let mut lists = Vec::new();
        for state in self.state_rows(connection, "", [])? {
            let (manifest, snapshot) = self.lists(connection, state.row, state.lists_mac)?;
            lists.push(ListsRow { row: state.row, manifest, snapshot });
        }
        Ok(lists)
    }

    /// How recent each state is that this user recorded.
    pub(crate) fn recencies(&self, connection: &Connection) -> Result<HashMap<Digest, i64>, StoreErrorKind> {
        let states = self.state_rows(connection, "", [])?;
        Ok(states.into_iter().map(|state| (state.info.id.0, state.recency)).collect())
    }

    /// A state as runs on it need it.
    pub(crate) fn info_of(&self, connection: &Connection, id: StateId) -> Result<StateInfo, StoreErrorKind> {
        let found = self.state_rows(connection, "WHERE key = ?", [Key(id.0)])?.pop();
        found.map(|state| state.info).ok_or(StoreErrorKind::UnknownState(id))
    }

    /// The newest state's tests with their fingerprints; nothing where no state is recorded.
    pub(crate) fn newest_snapshot(&self, connection: &Connection) -> Result<Snapshot, StoreErrorKind> {
        let newest = self.state_rows(connection, "ORDER BY recency DESC", [])?.into_iter().next();
        let Some(StateRow { row, lists_mac, .. }) = newest else { return Ok(Snapshot::default()) };
        let (_, snapshot) = self.lists(connection, row, lists_mac)?;
        Ok(self.read_list(connection, &snapshot)?.into_iter().map(snapshot_entry).collect())
    }

    fn read_list(&self, connection: &Connection, list: &[u8]) -> Result<Vec<Entry>, StoreErrorKind> {
        let mut entries = Vec::new();
        for key in chunk_keys(list)? {
            entries.extend(self.read_chunk(connection, key)?);
        }
        Ok(entries)
    }

    /// A chunk that a state of this user names.
    pub(crate) fn read_chunk(
        &self,
        connection: &Connection,
        key: Digest,
    ) -> Result<Vec<Entry>, StoreErrorKind> {
        let content: Option<Vec<u8>> = connection
            .prepare_cached("SELECT content FROM chunk WHERE key = ?")?
            .query_row([Key(key)], |row| row.get(0))
            .optional()?;
        content
            .filter(|content| self.owner.seal.chunk(content) == key)
            .as_deref()
            .and_then(chunk::decode)
            .ok_or_else(|| StoreErrorKind::Damaged {
                detail: format!("chunk {key} is missing or unreadable"),
            })
    }

    /// The newest states, newest first.
    pub fn states(&self, limit: u32) -> Result<Vec<StateInfo>, StoreError> {
        self.read(|connection| {
            let states = self.state_rows(connection, "ORDER BY recency DESC", [])?;
            Ok(states.into_iter().map(|state| state.info).take(limit as usize).collect())
        })
    }

    /// The state that was recorded last.
    pub fn latest_state(&self) -> Result<Option<StateInfo>, StoreError> {
        Ok(self.states(1)?.into_iter().next())
    }

    /// The states of a commit without local changes, newest first.
    pub fn clean_states_of_commit(&self, commit: &str) -> Result<Vec<StateInfo>, StoreError> {
        self.read(|connection| {
            let condition = "WHERE commit_id = ? AND NOT dirty ORDER BY recency DESC";
            let states = self.state_rows(connection, condition, [commit])?;
            Ok(states.into_iter().map(|state| state.info).collect())
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
                     LEFT JOIN state ON state.key = run.state
                     WHERE test.target = ? AND test.name = ? ORDER BY outcome.id DESC LIMIT 1",
                )?
                .query_row([&test.target, &test.name], |row| row.get(0))
                .optional()?;
            Ok(state.flatten().map(|key| StateId(key.0)))
        })
    }
}

/// The lists of a state's row: the keys of their chunks.
pub(crate) struct ListsRow {
    pub(crate) row: i64,
    pub(crate) manifest: Vec<u8>,
    pub(crate) snapshot: Vec<u8>,
}

/// The manifest and the snapshot of a state, as stored.
struct Lists {
    manifest: Vec<KeyedChunk>,
    snapshot: Vec<KeyedChunk>,
}

/// A chunk with the key that it is stored under.
struct KeyedChunk {
    key: Digest,
    chunk: Chunk,
}

impl Lists {
    fn of(state: &StateRecord, seal: &Seal) -> Lists {
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
        let keyed = |chunk: Chunk| KeyedChunk { key: seal.chunk(&chunk.content), chunk };
        let chunks = |entries: &[Entry]| chunk::split(entries).into_iter().map(keyed).collect();
        Lists { manifest: chunks(&manifest), snapshot: chunks(&snapshot) }
    }

    fn identify(&self, state: &StateRecord) -> StateId {
        let mut builder = DigestBuilder::new(STATE);
        builder.number(u64::from(state.commit.is_some())).text(state.commit.as_deref().unwrap_or_default());
        builder.number(u64::from(state.dirty)).digest(state.worktree);
        for chunks in [&self.manifest, &self.snapshot] {
            builder.number(chunks.len() as u64);
            for keyed in chunks {
                builder.digest(keyed.chunk.digest);
            }
        }
        StateId(builder.finish())
    }

    fn insert_chunks(&self, connection: &Connection) -> Result<(), StoreErrorKind> {
        let mut insert = connection
            .prepare_cached("INSERT INTO chunk (key, content) VALUES (?, ?) ON CONFLICT (key) DO NOTHING")?;
        for keyed in self.manifest.iter().chain(&self.snapshot) {
            insert.execute(params![Key(keyed.key), keyed.chunk.content])?;
        }
        Ok(())
    }
}

/// In place of the same state as it was recorded before.
fn insert_state(
    connection: &Connection,
    seal: &Seal,
    id: StateId,
    state: &StateRecord,
    lists: &Lists,
    recency: i64,
) -> Result<(), StoreErrorKind> {
    let keys =
        |chunks: &[KeyedChunk]| -> Vec<u8> { chunks.iter().flat_map(|chunk| chunk.key.to_bytes()).collect() };
    let (manifest, snapshot) = (keys(&lists.manifest), keys(&lists.snapshot));
    let info = StateInfo {
        id,
        commit: state.commit.clone(),
        dirty: state.dirty,
        worktree: state.worktree,
        recorded_at: Timestamp::now(),
        tests: state.snapshot.len() as u64,
    };
    let row = StateRow { row: 0, info, recency, lists_mac: lists_mac(seal, &manifest, &snapshot) };
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO state
                (key, recency, recorded_at, commit_id, dirty, worktree, tests, lists_mac, mac, manifest, snapshot)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            Key(id.0),
            recency,
            Moment(row.info.recorded_at),
            state.commit,
            state.dirty,
            Key(state.worktree),
            state.snapshot.len() as i64,
            MacBytes(row.lists_mac),
            MacBytes(row.mac(seal)),
            manifest,
            snapshot,
        ])?;
    Ok(())
}

fn state_row(row: &Row<'_>) -> rusqlite::Result<(StateRow, Mac)> {
    let (id, worktree): (Key, Key) = (row.get(1)?, row.get(6)?);
    let recorded_at: Moment = row.get(3)?;
    let (lists_mac, mac): (MacBytes, MacBytes) = (row.get(8)?, row.get(9)?);
    let info = StateInfo {
        id: StateId(id.0),
        commit: row.get(4)?,
        dirty: row.get(5)?,
        worktree: worktree.0,
        recorded_at: recorded_at.0,
        tests: count(row, 7)?,
    };
    Ok((StateRow { row: row.get(0)?, info, recency: row.get(2)?, lists_mac: lists_mac.0 }, mac.0))
}

/// The keys of a list's chunks, as they stand in a state's row.
pub(crate) fn chunk_keys(list: &[u8]) -> Result<Vec<Digest>, StoreErrorKind> {
    let (keys, []) = list.as_chunks::<16>() else {
        return Err(StoreErrorKind::Damaged { detail: "a state's list of chunks is cut".to_string() });
    };
    Ok(keys.iter().map(|key| Digest::from_bytes(*key)).collect())
}

fn manifest_entry(entry: Entry) -> ManifestEntry {
    ManifestEntry { kind: entry.group, name: entry.name, key: entry.digest }
}

fn snapshot_entry(entry: Entry) -> (TestId, Digest) {
    (TestId { target: entry.group, name: entry.name }, entry.digest)
}
