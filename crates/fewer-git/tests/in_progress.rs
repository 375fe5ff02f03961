//! Operations that wait for a commit, in real work trees.

mod sample;

use std::path::{Path, PathBuf};

use fewer_git::{InProgress, Operation, Redo};
use sample::{Sample, lines};

/// `side` merges into `main`, `clash` does not.
fn branches() -> Sample {
    let sample = Sample::new();
    sample.commit("a.txt", &lines(&[]));
    for (name, line) in [("side", 1), ("clash", 10)] {
        sample.git(&["checkout", "-q", "-b", name, "main"]);
        sample.commit("a.txt", &lines(&[(line, name)]));
    }
    sample.git(&["checkout", "-q", "main"]);
    sample.commit("a.txt", &lines(&[(10, "main")]));
    sample.commit("sub/b.txt", "1\n");
    sample
}

fn in_progress(sample: &Sample) -> Option<InProgress> {
    let below = sample.at(&sample.root.join("sub")).in_progress().unwrap();
    assert_eq!(below, sample.repository().in_progress().unwrap());
    below
}

fn clean(operation: Operation, redo: Redo) -> Option<InProgress> {
    Some(InProgress { operation, conflicts: Vec::new(), redo })
}

#[test]
fn nothing_is_in_progress_after_a_commit() {
    let sample = branches();
    sample.git(&["merge", "-q", "--no-edit", "side"]);
    assert_eq!(in_progress(&sample), None);
}

#[test]
fn a_merge_that_is_not_committed_is_automatic_until_it_is_edited() {
    let sample = branches();
    let before = sample.hash("main");
    sample.git(&["merge", "-q", "--no-commit", "side"]);
    let stored = sample.stored();
    let merge = Operation::Merge { heads: vec![sample.hash("side")] };
    assert_eq!(in_progress(&sample), clean(merge.clone(), Redo::Automatic));
    assert_eq!((sample.hash("HEAD"), sample.stored()), (before, stored));
    sample.write("sub/b.txt", "2\n");
    assert_eq!(in_progress(&sample), clean(merge, Redo::Manual));
}

#[test]
fn a_conflict_names_its_files_and_is_manual_when_resolved() {
    let sample = branches();
    sample.fails(&["merge", "-q", "--no-edit", "clash"]);
    let operation = Operation::Merge { heads: vec![sample.hash("clash")] };
    let conflicts = vec![PathBuf::from("a.txt")];
    let expected = InProgress { operation: operation.clone(), conflicts, redo: Redo::Manual };
    assert_eq!(in_progress(&sample), Some(expected));
    sample.write("a.txt", &lines(&[(10, "both")]));
    sample.git(&["add", "-A"]);
    assert_eq!(in_progress(&sample), clean(operation, Redo::Manual));
}

#[test]
fn an_octopus_in_progress_has_all_its_heads() {
    let sample = branches();
    sample.git(&["checkout", "-q", "-b", "third", "main~1"]);
    sample.commit("c.txt", "1\n");
    sample.git(&["checkout", "-q", "main"]);
    sample.git(&["merge", "-q", "--no-commit", "side", "third"]);
    let heads = vec![sample.hash("side"), sample.hash("third")];
    assert_eq!(in_progress(&sample), clean(Operation::Merge { heads }, Redo::Automatic));
}

#[test]
fn a_cherry_pick_and_a_revert_in_progress_are_told() {
    let sample = branches();
    sample.fails(&["cherry-pick", "clash"]);
    let found = in_progress(&sample).unwrap();
    assert_eq!(found.operation, Operation::CherryPick { of: sample.hash("clash") });
    assert_eq!(found.conflicts, [Path::new("a.txt")]);
    sample.git(&["cherry-pick", "--abort"]);
    sample.commit("a.txt", &lines(&[(10, "later")]));
    sample.fails(&["revert", "main~2"]);
    let found = in_progress(&sample).unwrap();
    assert_eq!(found.operation, Operation::Revert { of: sample.hash("main~2") });
    assert_eq!((found.redo, found.conflicts.len()), (Redo::Manual, 1));
}

#[test]
fn a_rebase_in_progress_is_not_taken_for_a_pick() {
    let sample = branches();
    sample.fails(&["rebase", "-q", "main", "clash"]);
    let found = in_progress(&sample).unwrap();
    assert_eq!((found.operation, found.conflicts.len()), (Operation::Rebase, 1));
}

#[test]
fn each_linked_work_tree_has_its_own_operation() {
    let sample = branches();
    let linked = sample.root.parent().unwrap().join("linked");
    sample.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap(), "main"]);
    sample.git_in(&linked, &["merge", "-q", "--no-commit", "side"]);
    assert_eq!(in_progress(&sample), None);
    let merge = Operation::Merge { heads: vec![sample.hash("side")] };
    assert_eq!(sample.at(&linked).in_progress().unwrap(), clean(merge, Redo::Automatic));
}
