//! How commits were made: every way of making one, done with the real git, is recognised; and nothing is written
//! into the repository by trying.

mod sample;

use std::path::PathBuf;

use fewer_git::{
    Attempt, CommitHash, Evidence, ObjectHash, Origin, PatchIds, Progress, Recognition, Redo, Redoing,
    Rehearsal, Rehearsed, Scope, Source,
};
use sample::{Sample, lines};

/// `main` and `side` change different lines of `a.txt` since `base`.
fn two_branches() -> Sample {
    let sample = Sample::new();
    sample.commit("a.txt", &lines(&[]));
    sample.git(&["tag", "base"]);
    sample.git(&["checkout", "-q", "-b", "side"]);
    sample.commit("a.txt", &lines(&[(1, "side")]));
    sample.git(&["checkout", "-q", "main"]);
    sample.commit("a.txt", &lines(&[(10, "main")]));
    sample
}

fn source(sample: &Sample, commit: &str, parent: &str) -> Source {
    let commit = sample.hash(commit);
    Source { name: commit.to_string(), commit: Some(commit), parent: Some(sample.hash(parent)) }
}

fn pick(of: Source, redo: Redo) -> Origin {
    Origin::CherryPick { of, found_by: Evidence::Message, redo }
}

fn tree(sample: &Sample, revision: &str) -> ObjectHash {
    ObjectHash::parse(sample.git(&["rev-parse", &format!("{revision}^{{tree}}")]).as_bytes()).unwrap()
}

#[test]
fn a_clean_merge_is_automatic_and_trying_it_writes_nothing() {
    let sample = two_branches();
    sample.git(&["merge", "-q", "--no-edit", "side"]);
    let before = sample.stored();
    assert_eq!(sample.recognised("main").origin, Origin::Merge { redo: Redo::Automatic });
    let [a, b] = ["main~1", "side"].map(|name| sample.hash(name));
    let attempt = Attempt::Merge(vec![a, b]);
    let repository = sample.repository();
    let rehearsed = Rehearsal::new(&repository).unwrap().try_one(&attempt).unwrap();
    assert_eq!(rehearsed, Rehearsed::Clean { tree: tree(&sample, "main") });
    assert_eq!(sample.stored(), before);
}

#[test]
fn a_merge_that_never_happened_is_tried_without_a_trace() {
    let sample = two_branches();
    sample.git(&["checkout", "-q", "-b", "clash", "base"]);
    sample.commit("a.txt", &lines(&[(10, "clash")]));
    sample.git(&["checkout", "-q", "-b", "other", "base"]);
    sample.commit("b.txt", "1\n");
    let (before, status) = (sample.stored(), sample.git(&["status", "--porcelain=v2", "--branch"]));
    let repository = sample.repository();
    let rehearsal = Rehearsal::new(&repository).unwrap();
    let attempt = |names: &[&str]| Attempt::Merge(names.iter().map(|name| sample.hash(name)).collect());
    let names: [&[&str]; 5] = [
        &["main", "side"],
        &["main", "clash"],
        &["main", "side", "other"],
        &["main", "other", "clash"],
        &["main"],
    ];
    let results = rehearsal.try_all(&names.map(attempt), &mut |_| ()).unwrap();
    let conflict = Rehearsed::Conflict { paths: vec![PathBuf::from("a.txt")] };
    assert!(matches!(results[0], Rehearsed::Clean { .. }) && matches!(results[2], Rehearsed::Clean { .. }));
    assert!(results[1] == conflict && results[3] == conflict, "{results:?}");
    assert!(matches!(results[4], Rehearsed::Impossible(_)));
    assert_eq!((sample.stored(), sample.git(&["status", "--porcelain=v2", "--branch"])), (before, status));
}

#[test]
fn a_conflict_resolved_by_hand_and_an_evil_merge_are_manual() {
    let sample = two_branches();
    sample.git(&["checkout", "-q", "-b", "clash", "base"]);
    sample.commit("a.txt", &lines(&[(10, "clash")]));
    sample.fails(&["merge", "-q", "--no-edit", "main"]);
    sample.write("a.txt", &lines(&[(10, "main")]));
    sample.commit_all("resolved by hand");
    assert_eq!(sample.recognised("clash").origin, Origin::Merge { redo: Redo::Manual });
    sample.git(&["checkout", "-q", "main"]);
    sample.git(&["merge", "-q", "--no-commit", "side"]);
    sample.write("new.txt", "nobody's\n");
    sample.commit_all("evil");
    assert_eq!(sample.recognised("main").origin, Origin::Merge { redo: Redo::Manual });
}

#[test]
fn a_merge_that_takes_one_side_only_is_manual() {
    let sample = two_branches();
    sample.git(&["merge", "-q", "--no-edit", "-s", "ours", "side"]);
    assert_eq!(sample.recognised("main").origin, Origin::Merge { redo: Redo::Manual });
}

#[test]
fn a_merge_follows_a_renamed_file() {
    let sample = two_branches();
    sample.git(&["mv", "a.txt", "renamed.txt"]);
    sample.commit_all("rename");
    sample.git(&["merge", "-q", "--no-edit", "side"]);
    assert!(sample.git(&["show", "main:renamed.txt"]).contains("1 side"));
    assert_eq!(sample.recognised("main").origin, Origin::Merge { redo: Redo::Automatic });
}

#[test]
fn a_clean_octopus_is_automatic_and_an_edited_one_is_not() {
    let sample = two_branches();
    for (name, line) in [("b1", 4), ("b2", 7)] {
        sample.git(&["checkout", "-q", "-b", name, "base"]);
        sample.commit("a.txt", &lines(&[(line, name)]));
    }
    sample.git(&["checkout", "-q", "main"]);
    sample.git(&["merge", "-q", "--no-edit", "side", "b1", "b2"]);
    assert_eq!(sample.recognised("main").record.parents.len(), 4);
    assert_eq!(sample.recognised("main").origin, Origin::Merge { redo: Redo::Automatic });
    sample.write("a.txt", &lines(&[(2, "evil")]));
    sample.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    assert_eq!(sample.recognised("main").origin, Origin::Merge { redo: Redo::Manual });
}

#[test]
fn a_criss_cross_merge_is_redone_by_git_itself() {
    let sample = two_branches();
    let (main, side) = (sample.hash("main"), sample.hash("side"));
    sample.git(&["merge", "-q", "--no-edit", &side.to_string()]);
    sample.git(&["checkout", "-q", "side"]);
    sample.git(&["merge", "-q", "--no-edit", &main.to_string()]);
    sample.commit("a.txt", &lines(&[(1, "side"), (5, "later"), (10, "main")]));
    sample.git(&["merge", "-q", "--no-edit", "main"]);
    assert_eq!(sample.repository().merge_bases(sample.hash("side~1"), sample.hash("main")).unwrap().len(), 2);
    assert_eq!(sample.recognised("side").origin, Origin::Merge { redo: Redo::Automatic });
}

#[test]
fn unrelated_histories_that_were_joined_are_a_merge() {
    let sample = two_branches();
    sample.git(&["checkout", "-q", "--orphan", "other"]);
    sample.git(&["rm", "-rfq", "."]);
    sample.commit("b.txt", "1\n");
    sample.git(&["merge", "-q", "--no-edit", "--allow-unrelated-histories", "main"]);
    assert_eq!(sample.recognised("other").origin, Origin::Merge { redo: Redo::Automatic });
}

#[test]
fn a_squashed_merge_and_a_rebase_are_ordinary_commits() {
    let sample = two_branches();
    sample.git(&["merge", "-q", "--squash", "side"]);
    sample.git(&["commit", "-q", "--no-edit"]);
    let squashed = sample.recognised("main");
    assert!(squashed.origin == Origin::Commit && !squashed.is_rebased());
    sample.git(&["checkout", "-q", "side"]);
    sample.git(&["commit", "-q", "--amend", "--no-edit", "--author", "B <b@example.org>"]);
    sample.git(&["rebase", "-q", "main~1"]);
    let rebased = sample.recognised("side");
    assert_eq!(rebased.record.parents, [sample.hash("main~1")]);
    assert!(rebased.origin == Origin::Commit && rebased.is_rebased());
}

#[test]
fn a_cherry_pick_that_says_nothing_is_known_by_its_patch() {
    let sample = two_branches();
    sample.git(&["cherry-pick", "side"]);
    let Origin::CherryPick { of, found_by, redo } = sample.recognised("main").origin else {
        panic!("{:?}", sample.recognised("main").origin)
    };
    assert_eq!((of, found_by, redo), (source(&sample, "side", "base"), Evidence::PatchId, Redo::Automatic));
    assert_eq!(sample.recognised("side").origin, Origin::Commit, "the original is none");
    sample.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "the same once more"]);
    assert!(matches!(sample.recognised("main").origin, Origin::CherryPick { .. }), "whatever it says");
}

#[test]
fn a_cherry_pick_names_its_commit_and_is_automatic_or_not() {
    let sample = two_branches();
    sample.git(&["cherry-pick", "-x", "side"]);
    let clean = sample.recognised("main");
    assert_eq!(clean.origin, pick(source(&sample, "side", "base"), Redo::Automatic));
    assert!(clean.record.rewritten && !clean.is_rebased());
    sample.git(&["checkout", "-q", "-b", "clash", "base"]);
    sample.commit("a.txt", &lines(&[(1, "clash")]));
    sample.fails(&["cherry-pick", "-x", "side"]);
    sample.write("a.txt", &lines(&[(1, "both")]));
    sample.git(&["add", "-A"]);
    sample.git(&["cherry-pick", "--continue"]);
    assert_eq!(sample.recognised("clash").origin, pick(source(&sample, "side", "base"), Redo::Manual));
}

#[test]
fn a_cherry_pick_follows_a_renamed_file() {
    let sample = two_branches();
    sample.git(&["mv", "a.txt", "renamed.txt"]);
    sample.commit_all("rename");
    sample.git(&["cherry-pick", "-x", "side"]);
    assert_eq!(sample.recognised("main").origin, pick(source(&sample, "side", "base"), Redo::Automatic));
}

#[test]
fn the_child_of_a_merge_and_a_merge_itself_can_be_picked() {
    let sample = two_branches();
    sample.git(&["merge", "-q", "--no-edit", "side"]);
    sample.git(&["tag", "merge"]);
    sample.commit("b.txt", "1\n");
    sample.git(&["checkout", "-q", "-b", "release", "base"]);
    sample.git(&["cherry-pick", "-x", "main"]);
    assert_eq!(sample.recognised("release").origin, pick(source(&sample, "main", "merge"), Redo::Automatic));
    // Against its second parent, which only trying finds out.
    sample.git(&["cherry-pick", "-x", "-m", "2", "merge"]);
    assert_eq!(sample.recognised("release").origin, pick(source(&sample, "merge", "side"), Redo::Automatic));
}

#[test]
fn a_picked_commit_that_is_gone_is_still_a_pick() {
    let sample = two_branches();
    let hash = "1234567890123456789012345678901234567890";
    sample.write("b.txt", "1\n");
    sample.commit_all(&format!("x\n\n(cherry picked from commit {hash})"));
    let Origin::CherryPick { of, redo: Redo::Impossible(cause), .. } = sample.recognised("main").origin
    else {
        panic!("{:?}", sample.recognised("main"));
    };
    assert_eq!(of, Source { name: hash.to_string(), commit: None, parent: None });
    assert!(cause.contains(&format!("git fetch origin {hash}")), "{cause}");
    sample.write("b.txt", "2\n");
    sample.commit_all("x\n\nThis reverts commit 1234567.");
    let redo = sample.recognised("main").origin.redo().cloned();
    assert!(matches!(&redo, Some(Redo::Impossible(cause)) if cause.contains("git fetch --all")), "{redo:?}");
}

#[test]
fn a_revert_and_the_revert_of_a_revert_are_recognised() {
    let sample = two_branches();
    sample.commit("b.txt", "1\n");
    sample.git(&["revert", "--no-edit", "main~1"]);
    let first = Origin::Revert { of: source(&sample, "main~2", "base"), redo: Redo::Automatic };
    assert_eq!(sample.recognised("main").origin, first);
    sample.git(&["revert", "--no-edit", "main"]);
    let second = Origin::Revert { of: source(&sample, "main~1", "main~2"), redo: Redo::Automatic };
    assert_eq!(sample.recognised("main").origin, second);
    assert_eq!(tree(&sample, "main"), tree(&sample, "main~2"));
    sample.write("a.txt", &lines(&[(3, "more")]));
    sample.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    assert_eq!(sample.recognised("main").origin.redo(), Some(&Redo::Manual));
}

#[test]
fn a_merge_is_taken_back_to_the_parent_that_the_message_tells() {
    let sample = two_branches();
    sample.git(&["merge", "-q", "--no-edit", "side"]);
    sample.git(&["revert", "--no-edit", "-m", "2", "main"]);
    let origin = Origin::Revert { of: source(&sample, "main~1", "side"), redo: Redo::Automatic };
    assert_eq!(sample.recognised("main").origin, origin);
}

#[test]
fn the_root_commit_can_be_picked_and_taken_back() {
    let sample = two_branches();
    sample.git(&["checkout", "-q", "--orphan", "other"]);
    sample.git(&["rm", "-rfq", "."]);
    let root = sample.commit("b.txt", "1\n");
    sample.git(&["checkout", "-q", "main"]);
    sample.git(&["cherry-pick", "-x", "other"]);
    let of = Source { name: root.to_string(), commit: Some(root), parent: None };
    assert_eq!(sample.recognised("main").origin, pick(of.clone(), Redo::Automatic));
    sample.git(&["checkout", "-q", "other"]);
    sample.commit("c.txt", "1\n");
    sample.git(&["revert", "--no-edit", "other~1"]);
    assert_eq!(sample.recognised("other").origin, Origin::Revert { of, redo: Redo::Automatic });
}

#[test]
fn a_pick_without_a_trailer_is_found_by_its_patch() {
    let sample = two_branches();
    sample.git(&["cherry-pick", "side"]);
    sample.git(&["revert", "--no-edit", "HEAD"]);
    sample.git(&["revert", "--no-edit", "HEAD"]);
    let recognise = |patch_ids| {
        let recognition = Recognition { redo: Redoing::All, patch_ids };
        sample.repository().recognise(&Scope::All, recognition, &mut |_| ()).unwrap()
    };
    let origin = |found: &[fewer_git::Recognised], commit: CommitHash| {
        found.iter().find(|it| it.record.commit == commit).unwrap().origin.clone()
    };
    let silent = recognise(PatchIds::Skip);
    assert_eq!(origin(&silent, sample.hash("main~2")), Origin::Commit);
    let compared = recognise(PatchIds::Compare);
    let of = source(&sample, "side", "base");
    let expected = Origin::CherryPick { of, found_by: Evidence::PatchId, redo: Redo::Automatic };
    assert_eq!(origin(&compared, sample.hash("main~2")), expected);
    // The commit that was picked is not a pick of its copy, and what repeats an ancestor is none at all.
    assert_eq!(origin(&compared, sample.hash("side")), Origin::Commit);
    assert!(matches!(origin(&compared, sample.hash("main")), Origin::Revert { .. }));
    let scope = Scope::Commits(vec![sample.hash("main~2")]);
    let recognition = Recognition { redo: Redoing::Skip, patch_ids: PatchIds::Compare };
    let one = sample.repository().recognise(&scope, recognition, &mut |_| ()).unwrap();
    assert!(matches!(&one[..], [it] if matches!(it.origin, Origin::CherryPick { redo: Redo::NotTried, .. })));
}

#[test]
fn a_merge_that_cannot_be_tried_does_not_stop_the_others() {
    let sample = two_branches();
    let [main, side] = ["main", "side"].map(|name| sample.hash(name));
    let missing: CommitHash = "1234567890123456789012345678901234567890".parse().unwrap();
    let good = Attempt::Merge(vec![main, side]);
    let mut attempts = vec![good; 9];
    attempts[4] = Attempt::Merge(vec![main, missing]);
    attempts[7] = Attempt::Apply { base: Some(missing), onto: main, change: Some(side) };
    let mut seen = Vec::new();
    let repository = sample.repository();
    let results = Rehearsal::new(&repository).unwrap().try_all(&attempts, &mut |at| seen.push(at)).unwrap();
    for (place, result) in results.iter().enumerate() {
        match result {
            Rehearsed::Clean { .. } => assert!(place != 4 && place != 7),
            Rehearsed::Impossible(cause) => {
                assert!(place == 4 || place == 7 && cause.contains("git fetch"), "{cause}")
            }
            Rehearsed::Conflict { .. } => panic!("{place}"),
        }
    }
    assert!(seen.is_sorted_by_key(|progress| progress.done));
    assert_eq!(seen.last(), Some(&Progress { done: 9, total: 9 }));
}

#[test]
fn a_linked_work_tree_and_a_bare_clone_recognise_the_same() {
    let sample = two_branches();
    sample.git(&["merge", "-q", "--no-edit", "side"]);
    let expected = sample.recognised("main");
    let linked = sample.root.parent().unwrap().join("a:linked \"tree\"");
    sample.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
    assert_eq!(sample.at(&linked).recognise_commit(sample.hash("main")).unwrap(), expected);
    let bare = Sample::cloned(&sample, &["--bare"]);
    assert_eq!(bare.recognised("main"), expected);
}

#[test]
fn merges_are_redone_in_a_directory_with_a_colon() {
    let sample = two_branches();
    sample.git(&["merge", "-q", "--no-edit", "side"]);
    let odd = sample.root.parent().unwrap().join("a:b \"c\"");
    sample.git(&["clone", "-q", sample.root.to_str().unwrap(), odd.to_str().unwrap()]);
    assert!(sample.at(&odd).recognise_commit(sample.hash("main")).unwrap().origin.is_automatic());
}

#[test]
fn a_lost_file_is_passed_over_when_patches_are_compared_and_told_of_a_merge() {
    let sample = two_branches();
    let lost = sample.git(&["rev-parse", "side:a.txt"]);
    std::fs::remove_file(sample.root.join(".git/objects").join(&lost[..2]).join(&lost[2..])).unwrap();
    let recognition = Recognition { redo: Redoing::Skip, patch_ids: PatchIds::Compare };
    let found = sample.repository().recognise(&Scope::All, recognition, &mut |_| ()).unwrap();
    assert!(found.iter().any(|found| found.record.commit == sample.hash("side")));
    // A merge that needs it cannot be redone.
    let attempt = Attempt::Merge(vec![sample.hash("main"), sample.hash("side")]);
    let repository = sample.repository();
    let rehearsed = Rehearsal::new(&repository).unwrap().try_one(&attempt).unwrap();
    assert!(matches!(&rehearsed, Rehearsed::Impossible(cause) if cause.contains(&lost)), "{rehearsed:?}");
}
