//! The tables, as a list of migrations: a new store goes through all of them, an older one through the rest.
//! A step that has shipped is never edited; a change is a new step.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::column::count;
use crate::error::StoreErrorKind;

/// The schema this program reads and writes.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// "fewr", in the header of the file.
pub(crate) const APPLICATION_ID: u32 = 0x6665_7772;

/// Step `n` leads from schema `n` to `n + 1`.
const MIGRATIONS: &[&str] = &[FIRST, WHEN_A_BLOB_WAS_USED, WHO_WROTE_IT];

/// Content has digests for keys, so that stores can be joined; the integer ids are for references within this
/// file alone. Moments are milliseconds since 1970. Large columns are the last of their row: a row is read up
/// to what is asked for.
const FIRST: &str = "
-- Content by digest, of any kind: summaries of objects, listings of tests.
CREATE TABLE blob (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    key BLOB NOT NULL,
    stored_at INTEGER NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (kind, key)
) STRICT;

-- Parts of manifests and snapshots, shared between states.
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    content BLOB NOT NULL
) STRICT;

-- A recorded state of the project. The greatest recency is the newest.
CREATE TABLE state (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    recency INTEGER NOT NULL UNIQUE,
    recorded_at INTEGER NOT NULL,
    commit_id TEXT,
    dirty INTEGER NOT NULL,
    worktree BLOB NOT NULL,
    tests INTEGER NOT NULL,
    -- The keys of the chunks, 16 bytes each.
    manifest BLOB NOT NULL,
    snapshot BLOB NOT NULL
) STRICT;
CREATE INDEX state_by_commit ON state (commit_id) WHERE commit_id IS NOT NULL;

CREATE TABLE test (
    id INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (target, name)
) STRICT;

-- A run says itself what was checked out: its state may be dropped while an outcome of it is still evidence.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    state INTEGER REFERENCES state ON DELETE SET NULL,
    commit_id TEXT,
    dirty INTEGER NOT NULL,
    machine TEXT NOT NULL,
    command TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    ending TEXT
) STRICT;
CREATE INDEX run_by_state ON run (state);

-- The greatest id is the newest: the order of recording, whatever the clocks say.
CREATE TABLE outcome (
    id INTEGER PRIMARY KEY,
    test INTEGER NOT NULL REFERENCES test,
    fingerprint BLOB NOT NULL,
    run INTEGER NOT NULL REFERENCES run,
    at INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    duration_s REAL NOT NULL
) STRICT;
CREATE INDEX outcome_by_content ON outcome (test, fingerprint);
CREATE INDEX outcome_by_test ON outcome (test);
CREATE INDEX outcome_failed ON outcome (test) WHERE verdict IN ('failed', 'crashed', 'timed-out');
CREATE INDEX outcome_by_run ON outcome (run);

-- What a test printed, where it printed anything.
CREATE TABLE output (
    outcome INTEGER PRIMARY KEY REFERENCES outcome ON DELETE CASCADE,
    tail TEXT NOT NULL
) STRICT;
";

/// A blob that is found again but never stored again looked old, and could be dropped under a process that had
/// just read it. A table of its own, as changing a row rewrites all of its content.
const WHEN_A_BLOB_WAS_USED: &str = "
CREATE TABLE blob_use (
    blob INTEGER PRIMARY KEY REFERENCES blob ON DELETE CASCADE,
    used_at INTEGER NOT NULL
) STRICT;
INSERT INTO blob_use (blob, used_at) SELECT id, stored_at FROM blob;
";

/// Every record says by a keyed hash (`mac`) who wrote it. Nobody can tell who wrote those from before: they are dropped. A
/// run names its state by key, as a state that is dropped must not change what the hash is over.
const WHO_WROTE_IT: &str = "
DROP TABLE output;
DROP TABLE outcome;
DROP TABLE run;
DROP TABLE test;
DROP TABLE state;
DROP TABLE chunk;
DROP TABLE blob_use;
DROP TABLE blob;

-- Content by digest, of any kind: summaries of objects, listings of tests.
CREATE TABLE blob (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    key BLOB NOT NULL,
    stored_at INTEGER NOT NULL,
    mac BLOB NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (kind, key)
) STRICT;

CREATE TABLE blob_use (
    blob INTEGER PRIMARY KEY REFERENCES blob ON DELETE CASCADE,
    used_at INTEGER NOT NULL
) STRICT;

-- Parts of manifests and snapshots, shared between states. The key is a keyed hash of the content.
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    content BLOB NOT NULL
) STRICT;

-- A recorded state of the project. The greatest recency is the newest.
CREATE TABLE state (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    recency INTEGER NOT NULL UNIQUE,
    recorded_at INTEGER NOT NULL,
    commit_id TEXT,
    dirty INTEGER NOT NULL,
    worktree BLOB NOT NULL,
    tests INTEGER NOT NULL,
    -- Of the two lists, so that the rest can be read without them; the other one is over the rest and this.
    lists_mac BLOB NOT NULL,
    mac BLOB NOT NULL,
    -- The keys of the chunks, 16 bytes each.
    manifest BLOB NOT NULL,
    snapshot BLOB NOT NULL
) STRICT;
CREATE INDEX state_by_commit ON state (commit_id) WHERE commit_id IS NOT NULL;

CREATE TABLE test (
    id INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (target, name)
) STRICT;

-- A run says itself what was checked out: its state may be dropped while an outcome of it is still evidence.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    state BLOB NOT NULL,
    commit_id TEXT,
    dirty INTEGER NOT NULL,
    machine TEXT NOT NULL,
    command TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    ending TEXT,
    mac BLOB NOT NULL
) STRICT;
CREATE INDEX run_by_state ON run (state);

-- The greatest id is the newest: the order of recording, whatever the clocks say.
CREATE TABLE outcome (
    id INTEGER PRIMARY KEY,
    test INTEGER NOT NULL REFERENCES test,
    fingerprint BLOB NOT NULL,
    run INTEGER NOT NULL REFERENCES run,
    at INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    duration_s REAL NOT NULL,
    mac BLOB NOT NULL
) STRICT;
CREATE INDEX outcome_by_content ON outcome (test, fingerprint);
CREATE INDEX outcome_by_test ON outcome (test);
CREATE INDEX outcome_failed ON outcome (test) WHERE verdict IN ('failed', 'crashed', 'timed-out');
CREATE INDEX outcome_by_run ON outcome (run);

-- What a test printed, where it printed anything.
CREATE TABLE output (
    outcome INTEGER PRIMARY KEY REFERENCES outcome ON DELETE CASCADE,
    tail TEXT NOT NULL
) STRICT;
";
/// The schema from which on records say who wrote them.
const OWNED: i64 = 3;

/// The version of the file, which must not be newer than this program's.
pub(crate) fn known_version(connection: &Connection) -> Result<i64, StoreErrorKind> {
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > SCHEMA_VERSION {
        return Err(StoreErrorKind::NewerSchema { found, known: SCHEMA_VERSION });
    }
    Ok(found)
}

/// Brings the file to this program's schema, in one transaction: all steps or none. Gives how many outcomes were dropped, as
/// nobody can tell who recorded them. A file whose tables are not exactly those of its version was not written by this
/// program: a trigger or a view in it would be code of somebody else.
pub(crate) fn migrate(connection: &Connection) -> Result<u64, StoreErrorKind> {
    let found = known_version(connection)?;
    require_layout(connection, found)?;
    if found == SCHEMA_VERSION {
        return Ok(0);
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    let found = known_version(&transaction)?;
    let outcomes = match found {
        1..OWNED => transaction.query_row("SELECT count(*) FROM outcome", [], |row| count(row, 0))?,
        _ => 0,
    };
    for step in &MIGRATIONS[steps_done(found)?..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    Ok(outcomes)
}

fn steps_done(version: i64) -> Result<usize, StoreErrorKind> {
    usize::try_from(version)
        .map_err(|_| StoreErrorKind::Damaged { detail: format!("its schema version is {version}") })
}

/// An error where the tables of a file are not those that its version makes.
fn require_layout(connection: &Connection, version: i64) -> Result<(), StoreErrorKind> {
    let expected = Connection::open_in_memory()?;
    for step in &MIGRATIONS[..steps_done(version)?] {
        expected.execute_batch(step)?;
    }
    let (found, expected) = (layout(connection)?, layout(&expected)?);
    let differing = found.iter().find(|line| !expected.contains(line));
    match differing.or_else(|| expected.iter().find(|line| !found.contains(line))) {
        None => Ok(()),
        Some((kind, name, _)) => {
            Err(StoreErrorKind::Damaged { detail: format!("its {kind} '{name}' is not as fewer makes it") })
        }
    }
}

/// Kind, name and words of everything in a file, whatever the blanks and comments.
fn layout(connection: &Connection) -> Result<Vec<(String, String, String)>, StoreErrorKind> {
    let mut statement = connection.prepare("SELECT type, name, ifnull(sql, '') FROM sqlite_schema")?;
    let lines = statement.query_map([], |row| {
        let sql: String = row.get(2)?;
        let uncommented = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
        let words: Vec<&str> = uncommented.flat_map(str::split_whitespace).collect();
        Ok((row.get(0)?, row.get(1)?, words.join(" ")))
    })?;
    Ok(lines.collect::<Result<_, _>>()?)
}
