//! Blobs: bulk storage by kind and digest.

use fewer_core::Digest;

use crate::project::Project;

#[test]
fn blobs_are_found_by_kind_and_key_and_the_rest_is_absent() {
    let project = Project::new();
    let store = project.store();
    let large: Vec<u8> = (0..500_000_u32).map(|byte| (byte * 31 % 251) as u8).collect();
    store
        .put_blobs(
            "summary",
            &[(Digest(1), large.clone()), (Digest(2), Vec::new()), (Digest(3), b"c".into())],
        )
        .unwrap();
    store.put_blobs("listing", &[(Digest(1), b"another kind".into())]).unwrap();

    let found = project.store().blobs("summary", &[Digest(1), Digest(2), Digest(9)]).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[&Digest(1)], large);
    assert_eq!(found[&Digest(2)], b"");
    assert_eq!(store.blobs("listing", &[Digest(1)]).unwrap()[&Digest(1)], b"another kind");
    assert!(store.blobs("unknown", &[Digest(1)]).unwrap().is_empty());
}

#[test]
fn content_that_is_there_is_left_and_another_takes_its_place() {
    let project = Project::new();
    let store = project.store();
    store.put_blobs("summary", &[(Digest(1), b"first".into())]).unwrap();
    store.put_blobs("summary", &[(Digest(1), b"second".into()), (Digest(2), b"new".into())]).unwrap();
    let found = store.blobs("summary", &[Digest(1), Digest(2)]).unwrap();
    assert_eq!((found[&Digest(1)].as_slice(), found[&Digest(2)].as_slice()), (&b"second"[..], &b"new"[..]));
}

#[test]
fn what_is_not_kept_by_its_content_can_be_replaced() {
    let project = Project::new();
    let store = project.store();
    store.replace_blobs("files", &[(Digest(1), b"old".into()), (Digest(2), b"other".into())]).unwrap();
    store.replace_blobs("files", &[(Digest(1), b"new".into())]).unwrap();
    let found = store.blobs("files", &[Digest(1), Digest(2)]).unwrap();
    assert_eq!((&found[&Digest(1)][..], &found[&Digest(2)][..]), (&b"new"[..], &b"other"[..]));
}

#[test]
fn content_of_any_size_is_the_same_after_it_was_stored_in_place_of_another() {
    let project = Project::new();
    let store = project.store();
    let of_size = |size: usize| (0..size).map(|byte| (byte * 31 % 251) as u8).collect::<Vec<u8>>();
    for size in [(1 << 20) - 1, 1 << 20, 5, (1 << 20) + 1, 12 << 20, 3 << 20, 0] {
        store.replace_blobs("pack", &[(Digest(1), of_size(size)), (Digest(2), b"other".into())]).unwrap();
        let found = project.store().blobs("pack", &[Digest(1), Digest(2)]).unwrap();
        assert!(found[&Digest(1)] == of_size(size), "{size} bytes");
        assert_eq!(found[&Digest(2)], b"other");
    }
    store.put_blobs("pack", &[(Digest(3), of_size(2 << 20))]).unwrap();
    assert!(store.blobs("pack", &[Digest(3)]).unwrap()[&Digest(3)] == of_size(2 << 20));
    project.assert_sound();
}

#[test]
fn reading_or_storing_an_old_blob_again_makes_it_used() {
    let project = Project::new();
    let store = project.store();
    store.put_blobs("summary", &[(Digest(1), b"read".into()), (Digest(2), b"stored".into())]).unwrap();
    let oldest_use = || -> i64 {
        let sql = "SELECT min(used_at) FROM blob_use";
        project.database().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let now = oldest_use();
    let two_days = 2 * 24 * 3_600_000;
    project.database().execute("UPDATE blob_use SET used_at = used_at - ?", [two_days]).unwrap();
    assert!(oldest_use() < now);
    store.blobs("summary", &[Digest(1)]).unwrap();
    store.put_blobs("summary", &[(Digest(2), b"stored".into())]).unwrap();
    assert!(oldest_use() >= now);
}
