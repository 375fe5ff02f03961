//! Files of commits without a checkout.

mod sample;

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use fewer_git::{CommitHash, FileMode, ObjectHash, TreeContent};
use sample::Sample;

/// A file, a program, a link and a submodule.
fn all_kinds() -> (Sample, Sample) {
    let (library, sample) = (Sample::new(), Sample::new());
    library.commit("l.txt", "1\n");
    sample.write("sub/a file\n.txt", "hello\n");
    sample.write("run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(sample.root.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("run.sh", sample.root.join("link")).unwrap();
    sample.git(&["submodule", "add", "-q", library.root.to_str().unwrap(), "library"]);
    sample.commit_all("all kinds");
    (sample, library)
}

fn tree(sample: &Sample, commit: CommitHash) -> BTreeMap<PathBuf, TreeContent> {
    sample.repository().tree(commit).unwrap().into_iter().map(|entry| (entry.path, entry.content)).collect()
}

#[test]
fn a_tree_lists_files_programs_links_and_submodules() {
    let (sample, library) = all_kinds();
    let entries = tree(&sample, sample.hash("HEAD"));
    let modes: Vec<(&Path, FileMode)> =
        entries.iter().map(|(path, content)| (path.as_path(), content.mode)).collect();
    let expected = [
        (".gitmodules", FileMode::File),
        ("library", FileMode::Submodule),
        ("link", FileMode::Link),
        ("run.sh", FileMode::Executable),
        ("sub/a file\n.txt", FileMode::File),
    ];
    assert_eq!(modes, expected.map(|(path, mode)| (Path::new(path), mode)));
    assert_eq!(entries[Path::new("library")].hash, library.hash("main").0);
    let mut blobs = sample.repository().blobs().unwrap();
    let mut content = |path: &str| blobs.read(entries[Path::new(path)].hash).unwrap();
    assert_eq!(content("sub/a file\n.txt").unwrap(), b"hello\n");
    assert_eq!(content("link").unwrap(), b"run.sh");
    // A submodule's commit is in another repository.
    assert_eq!(content("library"), None);
    assert_eq!(content("run.sh").unwrap(), b"#!/bin/sh\n");
}

#[test]
fn many_blobs_of_any_size_are_read_in_order() {
    let sample = Sample::new();
    let texts: Vec<String> = (0..300).map(|number| format!("{number}\n").repeat(number * 20)).collect();
    for (number, text) in texts.iter().enumerate() {
        sample.write(&format!("{number:03}"), text);
    }
    let commit = sample.commit_all("many");
    let missing = ObjectHash::parse(b"1234567890123456789012345678901234567890").unwrap();
    let mut hashes: Vec<ObjectHash> = tree(&sample, commit).values().map(|content| content.hash).collect();
    hashes.push(missing);
    let mut read = Vec::new();
    let mut blobs = sample.repository().blobs().unwrap();
    blobs.read_all(&hashes, |hash, content| read.push((hash, content))).unwrap();
    let contents = texts.into_iter().map(|text| Some(text.into_bytes())).chain([None]);
    assert_eq!(read, hashes.into_iter().zip(contents).collect::<Vec<_>>());
}

#[test]
fn changes_applied_to_a_tree_give_the_next_tree() {
    let (sample, library) = all_kinds();
    library.commit("l.txt", "2\n");
    sample.git_in(&sample.root.join("library"), &["pull", "-q", "origin", "main"]);
    sample.commit_all("submodule moves");
    sample.git(&["mv", "sub", "moved"]);
    sample.commit_all("rename");
    sample.commit_all("nothing");
    std::fs::remove_file(sample.root.join("link")).unwrap();
    sample.commit("link/now/a/directory", "1\n");
    std::fs::set_permissions(sample.root.join("run.sh"), PermissionsExt::from_mode(0o644)).unwrap();
    sample.commit_all("no program any more");
    let listing = sample.git(&["rev-list", "--reverse", "HEAD"]);
    let commits: Vec<CommitHash> = listing.lines().map(|line| line.parse().unwrap()).collect();
    let pairs: Vec<(CommitHash, CommitHash)> = commits.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let mut entries = tree(&sample, commits[0]);
    let mut counts = Vec::new();
    for (changes, (_, commit)) in sample.repository().changes(&pairs).unwrap().zip(&pairs) {
        let changes = changes.unwrap();
        counts.push(changes.len());
        for change in changes {
            assert_eq!(entries.remove(&change.path), change.old);
            entries.extend(change.new.map(|content| (change.path, content)));
        }
        assert_eq!(entries, tree(&sample, *commit));
    }
    assert_eq!(counts, [1, 2, 0, 2, 1]);
}

#[test]
fn changes_of_a_lost_commit_are_an_error() {
    let (sample, _library) = all_kinds();
    let missing: CommitHash = "1234567890123456789012345678901234567890".parse().unwrap();
    let pairs = [(missing, sample.hash("HEAD")), (sample.hash("HEAD"), sample.hash("HEAD"))];
    let results: Vec<_> = sample.repository().changes(&pairs).unwrap().collect();
    assert!(results.iter().any(Result::is_err), "{results:?}");
    assert!(sample.repository().tree(missing).is_err());
}
