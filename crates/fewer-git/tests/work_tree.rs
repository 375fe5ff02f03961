//! Working trees made with the real git.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fewer_git::{WorkTree, WorkTreeState};
use tempfile::TempDir;

fn git(directory: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
        .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("git starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn repository() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    git(directory.path(), &["init", "-q"]);
    fs::write(directory.path().join("a.cpp"), "int a;\n").unwrap();
    fs::create_dir(directory.path().join("sub")).unwrap();
    fs::write(directory.path().join("sub/data.txt"), "1\n").unwrap();
    fs::write(directory.path().join(".gitignore"), "*.o\n").unwrap();
    git(directory.path(), &["add", "."]);
    git(directory.path(), &["commit", "-qm", "first"]);
    directory
}

fn state(directory: &Path) -> WorkTreeState {
    WorkTree::open(directory).unwrap().state(|path| path.starts_with("build")).unwrap()
}

#[test]
fn a_change_that_is_taken_back_gives_the_same_state() {
    let directory = repository();
    let clean = state(directory.path());
    assert!(clean.commit.is_some() && !clean.dirty);
    fs::write(directory.path().join("a.cpp"), "int b;\n").unwrap();
    let changed = state(directory.path());
    assert!(changed.dirty && changed.digest != clean.digest && changed.commit == clean.commit);
    git(directory.path(), &["stash", "-q"]);
    assert_eq!(state(directory.path()), clean);
    git(directory.path(), &["stash", "pop", "-q"]);
    assert_eq!(state(directory.path()), changed);
}

#[test]
fn untracked_files_count_and_ignored_ones_do_not() {
    let directory = repository();
    let clean = state(directory.path());
    fs::create_dir(directory.path().join("build")).unwrap();
    fs::write(directory.path().join("build/x"), "1").unwrap();
    fs::write(directory.path().join("a.o"), "1").unwrap();
    assert_eq!(state(directory.path()), clean);
    fs::write(directory.path().join("new file.txt"), "1").unwrap();
    let one = state(directory.path());
    fs::write(directory.path().join("new file.txt"), "2").unwrap();
    assert!(one.dirty && one.digest != clean.digest && one.digest != state(directory.path()).digest);
}

#[test]
fn a_deleted_file_and_an_executable_bit_are_changes() {
    let directory = repository();
    let clean = state(directory.path());
    fs::remove_file(directory.path().join("a.cpp")).unwrap();
    let without = state(directory.path());
    assert_ne!(without.digest, clean.digest);
    git(directory.path(), &["checkout", "-q", "a.cpp"]);
    assert_eq!(state(directory.path()), clean);
    Command::new("chmod").arg("+x").arg(directory.path().join("a.cpp")).status().unwrap();
    assert_ne!(state(directory.path()).digest, clean.digest);
}

#[test]
fn a_repository_without_commits_has_a_state() {
    let directory = tempfile::tempdir().unwrap();
    git(directory.path(), &["init", "-q"]);
    fs::write(directory.path().join("a"), "1").unwrap();
    let state = state(directory.path());
    assert!(state.commit.is_none() && state.dirty);
}

#[test]
fn files_are_listed_below_a_directory_with_untracked_ones_but_not_ignored_ones() {
    let directory = repository();
    fs::write(directory.path().join("sub/new.txt"), "1").unwrap();
    fs::write(directory.path().join("sub/x.o"), "1").unwrap();
    let tree = WorkTree::open(&directory.path().join("sub")).unwrap();
    let files = tree.list_files(&directory.path().join("sub")).unwrap();
    assert_eq!(files, ["data.txt", "new.txt"].map(PathBuf::from));
}

#[test]
fn a_diff_names_both_ends_of_a_rename() {
    let directory = repository();
    git(directory.path(), &["mv", "a.cpp", "b.cpp"]);
    git(directory.path(), &["commit", "-qm", "second"]);
    let tree = WorkTree::open(directory.path()).unwrap();
    let expected = ["a.cpp", "b.cpp"].map(PathBuf::from);
    assert_eq!(tree.changed_between("HEAD~1", "").unwrap(), expected);
    assert_eq!(tree.changed_since("HEAD~1").unwrap(), expected);
    let error = tree.changed_between("nowhere", "HEAD").unwrap_err().to_string();
    assert!(error.contains("git diff") && error.contains("nowhere"), "{error}");
}

#[test]
fn a_directory_outside_of_git_is_no_work_tree() {
    let directory = tempfile::tempdir().unwrap();
    assert!(WorkTree::open(directory.path()).is_none());
    assert!(WorkTree::open(Path::new("/nonexistent/directory")).is_none());
}

#[test]
fn a_changed_submodule_changes_the_state() {
    let (library, directory) = (repository(), repository());
    let source = library.path().to_str().unwrap();
    git(directory.path(), &["submodule", "add", "-q", source, "library"]);
    git(directory.path(), &["commit", "-qm", "library"]);
    let clean = state(directory.path());
    assert!(!clean.dirty);
    fs::write(directory.path().join("library/a.cpp"), "int c;\n").unwrap();
    assert_ne!(state(directory.path()).digest, clean.digest);
}
