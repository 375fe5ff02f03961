-- A store as schema 1 left it, with a state, a run, outcomes and two blobs. Written once; never edited.
PRAGMA page_size = 16384;
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = 1717925746;
CREATE TABLE blob (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    key BLOB NOT NULL,
    stored_at INTEGER NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (kind, key)
) STRICT;
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    content BLOB NOT NULL
) STRICT;
CREATE TABLE state (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    recency INTEGER NOT NULL UNIQUE,
    recorded_at INTEGER NOT NULL,
    commit_id TEXT,
    dirty INTEGER NOT NULL,
    worktree BLOB NOT NULL,
    tests INTEGER NOT NULL,
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
CREATE TABLE output (
    outcome INTEGER PRIMARY KEY REFERENCES outcome ON DELETE CASCADE,
    tail TEXT NOT NULL
) STRICT;
INSERT INTO blob VALUES
    (1, 'summary', x'01000000000000000000000000000000', 1763237707000, x'6f6e65'),
    (2, 'summary', x'02000000000000000000000000000000', 1763237707000, x'74776f');
INSERT INTO chunk VALUES
    (1, x'45b694063be5da9d16bba152129b43d3', x'01000773756d6d6172790003612e6f01000000000000000000000000000000'),
    (2, x'22978803b5132f520c5bfe176ff1158b', x'01000e756e69742f636f72655f74657374000141010000000000000000000000000000000e0000014201000000000000000000000000000000');
INSERT INTO state VALUES
    (1, x'957d70f625a3e499992e74b96fd46cde', 1, 1763237707000, 'c1', 1, x'05000000000000000000000000000000', 2, x'45b694063be5da9d16bba152129b43d3', x'22978803b5132f520c5bfe176ff1158b');
INSERT INTO test VALUES
    (1, 'unit/core_test', 'A'),
    (2, 'unit/core_test', 'B');
INSERT INTO run VALUES
    (1, x'3471655074dc51ab5bbf6263403b95a1', 1, 'c1', 1, 'here', 'fewer run', 1763237711000, 1763237712000, 'completed');
INSERT INTO outcome VALUES
    (1, 1, x'01000000000000000000000000000000', 1, 1763237708000, 'passed', 0.25),
    (2, 2, x'01000000000000000000000000000000', 1, 1763237708000, 'failed', 1.5);
INSERT INTO output VALUES
    (2, 'Expected: 1');
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
