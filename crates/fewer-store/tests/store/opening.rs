//! Opening: new stores, older and newer ones, and files that are none.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::thread;
use std::time::Duration;

use fewer_core::{Digest, Verdict};
use fewer_store::{SCHEMA_VERSION, Store, StoreErrorKind};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::project::{Project, key, outcome, ran, state, test};

const SCHEMA_1: &str = include_str!("schema_1.sql");

/// A store with something in every table, closed.
fn filled() -> Project {
    let project = Project::new();
    let store = project.store();
    store.put_blobs("summary", &[(Digest(1), vec![1; 300_000]), (Digest(2), vec![2; 50_000])]).unwrap();
    ran(&store, "c1", &[("A", 1, Verdict::Passed), ("B", 1, Verdict::Failed)]);
    drop(store);
    assert!(!project.directory().join("store.sqlite-wal").exists(), "closing empties the log");
    project
}

#[test]
fn a_new_store_is_ignored_by_git_and_the_users_choice_is_kept() {
    let project = Project::new();
    project.store();
    let ignore = project.directory().join(".gitignore");
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
    fs::write(&ignore, "store.sqlite*\n").unwrap();
    project.store();
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "store.sqlite*\n");
    fs::write(&ignore, "").unwrap();
    project.store();
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
}

#[test]
fn the_file_says_what_it_is() {
    let project = Project::new();
    project.store().record_state(&state("c1", &[])).unwrap();
    let database = project.database();
    let pragma = |name: &str| -> Value {
        database.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!(pragma("application_id"), Value::from(0x6665_7772));
    assert_eq!(pragma("user_version"), Value::from(SCHEMA_VERSION));
    assert_eq!(pragma("journal_mode"), Value::from("wal".to_string()));
    assert_eq!(pragma("page_size"), Value::from(16_384));
    assert_eq!(pragma("auto_vacuum"), Value::from(2));
}

/// How the database is written.
fn journal_mode(project: &Project) -> String {
    project.database().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_new_store_is_filled_without_a_log_and_gets_one_with_the_first_record() {
    let project = Project::new();
    let store = project.store();
    let beside = store.beside().unwrap();
    let summaries: Vec<_> = (0..40_u128).map(|key| (Digest(key), vec![key as u8; 200_000])).collect();
    beside.replace_blobs("summary", &summaries).unwrap();
    assert!(!project.directory().join("store.sqlite-wal").exists());
    assert_eq!(journal_mode(&project), "delete");
    ran(&store, "c1", &[("A", 1, Verdict::Passed)]);
    assert!(project.directory().join("store.sqlite-wal").exists());
    beside.replace_blobs("summary", &[(Digest(99), b"behind the log".into())]).unwrap();
    assert_eq!(store.blobs("summary", &[Digest(7), Digest(99)]).unwrap()[&Digest(7)], vec![7; 200_000]);
    drop((store, beside));
    assert_eq!(journal_mode(&project), "wal");
    project.assert_sound();
}

#[test]
fn a_store_that_was_only_filled_gets_its_log_from_whoever_records_first() {
    let project = Project::new();
    let first = project.store();
    first.replace_blobs("summary", &[(Digest(1), b"one".into())]).unwrap();
    let second = project.store();
    ran(&second, "c0", &[("A", 1, Verdict::Passed)]);
    assert_eq!(journal_mode(&project), "wal");
    first.replace_blobs("summary", &[(Digest(2), b"two".into())]).unwrap();
    ran(&first, "c1", &[("A", 1, Verdict::Passed)]);
    assert_eq!(second.blobs("summary", &[Digest(1), Digest(2)]).unwrap().len(), 2);
    assert_eq!(second.status().unwrap().outcomes, 2);
    project.assert_sound();
}

#[test]
fn while_a_new_store_is_filled_others_open_it_at_once_and_record_when_they_can() {
    let project = Project::new();
    project.store();
    let writer = project.database();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let other = thread::scope(|scope| {
        let other = scope.spawn(|| {
            let store = project.store();
            assert_eq!(store.status().unwrap().outcomes, 0);
            ran(&store, "c1", &[("A", 1, Verdict::Passed)]);
            store.status().unwrap().outcomes
        });
        thread::sleep(Duration::from_millis(300));
        assert!(!other.is_finished(), "it waits for the one that writes");
        writer.execute_batch("COMMIT").unwrap();
        other.join().unwrap()
    });
    assert_eq!(other, 1);
    assert_eq!(journal_mode(&project), "wal");
    project.assert_sound();
}

/// The files as a kill would leave them in the middle of filling a new store: what was written is to be undone.
fn killed_while_filling() -> Project {
    let project = Project::new();
    let first = project.store();
    first.replace_blobs("summary", &[(Digest(1), vec![1; 100_000])]).unwrap();
    let copy = Project::new();
    fs::create_dir_all(copy.directory()).unwrap();
    let database = project.database();
    // With few pages in memory they are written to the file before the transaction ends.
    database.execute_batch("PRAGMA cache_size = 4; BEGIN IMMEDIATE").unwrap();
    for key in 0..50_u8 {
        let sql = "INSERT INTO blob (kind, key, stored_at, mac, content) VALUES ('summary', ?, 0, x'', zeroblob(60000))";
        database.execute(sql, [vec![key; 16]]).unwrap();
    }
    for name in ["store.sqlite", "store.sqlite-journal"] {
        fs::copy(project.directory().join(name), copy.directory().join(name)).unwrap();
    }
    copy
}

#[test]
fn a_store_whose_first_filling_was_cut_off_holds_what_was_there_before() {
    let project = killed_while_filling();
    assert!(fs::metadata(project.file()).unwrap().len() > 1_000_000, "something is to be undone");
    let store = project.store();
    assert_eq!(store.blobs("summary", &[Digest(1)]).unwrap()[&Digest(1)], vec![1; 100_000]);
    let blobs: i64 = project.database().query_row("SELECT count(*) FROM blob", [], |row| row.get(0)).unwrap();
    assert_eq!(blobs, 1);
    project.assert_sound();
}

#[test]
fn what_is_to_be_undone_in_a_database_that_was_moved_away_is_not_undone_in_the_new_one() {
    let project = killed_while_filling();
    fs::remove_file(project.file()).unwrap();
    ran(&project.store(), "c1", &[("A", 1, Verdict::Passed)]);
    project.assert_sound();
    assert!(project.directory().join("store.sqlite-journal.orphan").exists(), "it is kept for its owner");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let project = Project::new();
    fs::write(project.directory(), "in the way").unwrap();
    let message = project.refusal();
    assert!(
        message.contains(".fewer is a file, not the directory that fewer keeps its records in"),
        "{message}"
    );
}

/// Every table and index with its columns.
fn layout(database: &Connection) -> Vec<String> {
    let sql = "SELECT s.type || ' ' || s.name || ': ' || coalesce(
            (SELECT group_concat(c.name || ' ' || c.type || ' ' || c.\"notnull\") FROM pragma_table_xinfo(s.name) c),
            (SELECT group_concat(c.name) FROM pragma_index_info(s.name) c))
         FROM sqlite_schema s ORDER BY 1";
    let mut statement = database.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_store_of_schema_1_is_migrated_without_what_nobody_vouches_for() {
    let project = Project::new();
    fs::create_dir_all(project.directory()).unwrap();
    project.database().execute_batch(SCHEMA_1).unwrap();
    let store = project.store();
    assert_eq!(store.dropped(), 2, "which is told");
    assert_eq!(store.latest_state().unwrap(), None);
    assert!(store.records(&[(test("A"), Digest(1))]).unwrap().is_empty());
    assert!(store.blobs("summary", &[Digest(1), Digest(2)]).unwrap().is_empty());
    assert_eq!((store.strangers(), project.store().dropped()), (0, 0), "once");
    let fresh = Project::new();
    fresh.store();
    assert_eq!(layout(&project.database()), layout(&fresh.database()));
    project.assert_sound();
}

#[test]
fn a_file_with_more_in_it_than_this_program_makes_is_damaged_and_can_be_set_aside() {
    for more in [
        "CREATE TRIGGER t AFTER INSERT ON outcome BEGIN UPDATE outcome SET verdict = 'passed'; END",
        "CREATE VIEW v AS SELECT * FROM outcome",
        "CREATE TABLE more (a)",
        "DROP INDEX outcome_by_run",
    ] {
        let project = filled();
        project.database().execute_batch(more).unwrap();
        let message = project.refusal();
        assert!(message.contains("is not as fewer makes it"), "{message}");
        let before = project.read_file();
        let aside = Store::set_aside(&project.directory()).unwrap().unwrap();
        assert!(aside.ends_with("store.damaged-1"));
        assert!(fs::read(aside.join("store.sqlite")).unwrap() == before, "it is kept as it was");
        assert_eq!(project.store().status().unwrap().outcomes, 0);
        assert!(Store::set_aside(&project.directory()).unwrap().unwrap().ends_with("store.damaged-2"));
        assert_eq!(Store::set_aside(&project.directory()).unwrap(), None);
    }
}

#[test]
fn a_record_that_leads_nowhere_is_damage() {
    let project = filled();
    let store = project.store();
    let run = store.begin_run(store.latest_state().unwrap().unwrap().id, &crate::project::info()).unwrap();
    let database = project.database();
    // An index that still knows a test whose row is gone.
    database
        .execute_batch(
            "PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON; DELETE FROM test WHERE name = 'A';
             CREATE TABLE twin (id INTEGER PRIMARY KEY, target TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (target, name)) STRICT;
             INSERT INTO twin VALUES (1, 'unit/core_test', 'A');
             UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_twin_1')
             WHERE name = 'sqlite_autoindex_test_1';",
        )
        .unwrap();
    drop(database);
    let error = store.record_outcomes(run, &[(test("A"), Digest(1), outcome(Verdict::Passed))]).unwrap_err();
    assert!(error.kind.is_damage(), "{error}");
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let project = filled();
    project.database().pragma_update(None, "user_version", 99).unwrap();
    let before = project.read_file();
    let message = project.refusal();
    let known = format!("its schema is version 99, this one knows up to {SCHEMA_VERSION}");
    assert!(message.contains(&known) && message.contains("update fewer"), "{message}");
    assert!(message.contains(project.file().to_str().unwrap()), "{message}");
    assert_eq!(project.read_file(), before);
}

#[test]
fn an_open_store_stops_writing_when_a_newer_fewer_migrates_the_file() {
    let project = filled();
    let store = project.store();
    project.database().pragma_update(None, "user_version", 99).unwrap();
    let error = store.record_state(&state("c2", &[])).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::NewerSchema { found: 99, .. }), "{error}");
}

#[test]
fn another_programs_database_is_refused_and_left_alone() {
    let project = Project::new();
    fs::create_dir_all(project.directory()).unwrap();
    // With a log beside it, which opening through SQLite would write into it.
    let other = project.database();
    other.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);").unwrap();
    let before = project.read_file();
    let message = project.refusal();
    assert!(message.contains("is a database of another program"), "{message}");
    assert!(message.contains("nothing was changed") && message.contains("sets it aside"), "{message}");
    assert_eq!(project.read_file(), before);
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    for content in ["[build]\ncommand = 'make'\n", "x", &"SQLite format 4\0".repeat(5000)] {
        let project = Project::new();
        project.write_file(content.as_bytes());
        let message = project.refusal();
        assert!(message.contains("is not a database"), "{message}");
        assert!(message.contains("sets it aside and runs every test once"), "{message}");
        assert_eq!(project.read_file(), content.as_bytes());
    }
}

#[test]
fn a_file_cut_short_anywhere_is_refused_and_left_alone() {
    let whole = filled().read_file();
    let length = whole.len();
    for cut in [0, 1, 16, 99, 100, 4096, 16_384, 16_385, length / 2, length - 16_384, length - 1] {
        let project = Project::new();
        project.write_file(&whole[..cut]);
        let message = project.refusal();
        assert!(message.contains("is damaged: it "), "{cut}: {message}");
        assert!(message.contains("nothing was changed: the next 'fewer run' sets it aside"), "{message}");
        assert_eq!(project.read_file(), whole[..cut]);
    }
    let project = Project::new();
    project.write_file(&whole);
    assert_eq!(project.store().status().unwrap().outcomes, 2, "the whole file opens");
}

/// The files as a crash would leave them while a process has the store open: what it recorded last is still in
/// the log.
fn crashed() -> Project {
    let project = filled();
    let store = project.store();
    ran(&store, "c2", &[("A", 2, Verdict::Crashed)]);
    let copy = Project::new();
    fs::create_dir_all(copy.directory()).unwrap();
    for name in ["store.sqlite", "store.sqlite-wal"] {
        fs::copy(project.directory().join(name), copy.directory().join(name)).unwrap();
    }
    copy
}

#[test]
fn what_is_only_in_the_log_after_a_crash_is_there() {
    let store = crashed().store();
    assert_eq!(store.status().unwrap().outcomes, 3);
}

#[test]
fn a_file_cut_short_beside_its_log_is_refused() {
    let project = crashed();
    fs::OpenOptions::new().write(true).open(project.file()).unwrap().set_len(3 * 16_384).unwrap();
    let message = project.refusal();
    assert!(message.contains("is damaged: "), "{message}");
}

#[test]
fn a_log_cut_short_loses_only_what_was_cut() {
    let project = crashed();
    let log = project.directory().join("store.sqlite-wal");
    let length = fs::metadata(&log).unwrap().len();
    fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(length - 100).unwrap();
    let store = project.store();
    let last = store.status().unwrap().last_run.unwrap();
    assert_eq!((last.commit.as_deref(), last.end), (Some("c2"), None), "only the end of the run was in it");
    project.assert_sound();
}

#[test]
fn a_log_whose_database_was_moved_away_is_not_taken_for_the_new_ones() {
    let project = crashed();
    fs::remove_file(project.file()).unwrap();
    let store = project.store();
    assert_eq!(store.status().unwrap().outcomes, 0);
    ran(&store, "c1", &[("A", 1, Verdict::Passed)]);
    project.assert_sound();
    assert!(project.directory().join("store.sqlite-wal.orphan").exists(), "it is kept for its owner");
}

#[test]
fn what_a_killed_creator_left_is_replaced() {
    let project = Project::new();
    fs::create_dir_all(project.directory()).unwrap();
    for name in ["store.new", "store.new-journal", "store.new-wal"] {
        fs::write(project.directory().join(name), "half").unwrap();
    }
    ran(&project.store(), "c1", &[("A", 1, Verdict::Passed)]);
    project.assert_sound();
    assert!(!project.directory().join("store.new").exists());
}

#[test]
fn damage_inside_the_file_is_told_when_it_is_met() {
    let project = filled();
    let mut file = fs::OpenOptions::new().write(true).open(project.file()).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(16_384)).unwrap();
    file.write_all(&vec![0xa5; length as usize - 16_384]).unwrap();
    let error = Store::open(&project.directory(), key())
        .and_then(|store| {
            let state = store.record_state(&state("c2", &[("A", 1)]))?;
            let run = store.begin_run(state, &crate::project::info())?;
            store.record_outcomes(run, &[(test("A"), Digest(1), outcome(Verdict::Passed))])
        })
        .unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Damaged { .. }), "{error}");
}
