//! What is kept beside the database: it may be lost, but never half.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use fewer_core::Digest;
use fewer_store::{GcOptions, Store};

use crate::project::Project;

const DAY: Duration = Duration::from_secs(24 * 3600);

fn kept(store: &Store, key: u128) -> Option<Vec<u8>> {
    store.kept(Digest(key)).unwrap().map(|content| content.to_vec())
}

#[test]
fn what_was_kept_last_is_found_and_a_reader_keeps_what_it_has() {
    let project = Project::new();
    let store = project.store();
    assert_eq!(kept(&store, 1), None);
    let large: Vec<u8> = (0..3_000_000_u32).map(|byte| (byte % 251) as u8).collect();
    store.keep(Digest(1), &large).unwrap();
    let reader = store.kept(Digest(1)).unwrap().unwrap();
    project.store().keep(Digest(1), b"newer").unwrap();
    store.keep(Digest(2), b"").unwrap();
    assert!(reader[..] == large[..]);
    assert_eq!(kept(&store, 1).as_deref(), Some(&b"newer"[..]));
    assert_eq!(kept(&store, 2).as_deref(), Some(&b""[..]));
    let files = fs::read_dir(project.directory().join("kept")).unwrap().count();
    assert_eq!(files, 2, "nothing is left of what was replaced");
}

#[test]
fn it_counts_among_the_bytes_of_the_store_and_is_dropped_a_day_after_its_last_use() {
    let project = Project::new();
    let store = project.store();
    let before = store.status().unwrap().bytes;
    store.keep(Digest(1), &[7; 100_000]).unwrap();
    store.keep(Digest(2), &[8; 50_000]).unwrap();
    assert!(store.status().unwrap().bytes >= before + 150_000);
    let directory = project.directory().join("kept");
    fs::write(directory.join(".tmpKilled"), "half").unwrap();
    let age = |name: String, days: u32| {
        let file = File::options().write(true).open(directory.join(name)).unwrap();
        file.set_modified(SystemTime::now() - DAY * days).unwrap();
    };
    age(Digest(1).to_string(), 2);
    age(Digest(2).to_string(), 2);
    age(".tmpKilled".to_string(), 2);
    assert!(kept(&store, 2).is_some(), "which is a use");
    let report = store.gc(&GcOptions { keep_states: 1, older_than: None }).unwrap();
    assert_eq!((report.blobs, kept(&store, 1), fs::read_dir(&directory).unwrap().count()), (2, None, 1));
    assert_eq!(kept(&store, 2), Some(vec![8; 50_000]));
    assert_eq!(report.bytes_after, store.status().unwrap().bytes);
}

#[test]
fn what_cannot_be_kept_is_told_with_its_place() {
    let project = Project::new();
    let store = project.store();
    fs::write(project.directory().join("kept"), "in the way").unwrap();
    let error = store.keep(Digest(1), b"content").unwrap_err().to_string();
    assert!(error.contains(project.directory().join("kept").to_str().unwrap()), "{error}");
    assert!(store.status().is_ok());
}
