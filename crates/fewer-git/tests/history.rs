//! The commit graph of real repositories of every kind, compared with what git says about them.

mod sample;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use fewer_core::history::{CommitIndex, Dominators};
use fewer_git::{CommitHash, History, HistoryError, ObjectFormat, Origin, Redo, Repository, Tips};
use sample::Sample;

/// Hashes of indices, as a set.
fn hashes(history: &History, commits: &[CommitIndex]) -> BTreeSet<String> {
    commits.iter().map(|&commit| history.hash(commit).to_string()).collect()
}

fn listed(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_string).collect()
}

/// Every commit with its parents in order, exactly as git lists them.
fn check_against_git(sample: &Sample, repository: &Repository) -> History {
    let history = History::load(repository, &Tips::All).unwrap();
    let shown = |commit| {
        let parents =
            history.graph().parents(commit).iter().map(|&parent| format!(" {}", history.hash(parent)));
        format!("{}{}", history.hash(commit), parents.collect::<String>())
    };
    let ours: BTreeSet<String> = history.graph().commits().map(shown).collect();
    assert_eq!(ours, listed(&sample.git(&["rev-list", "--all", "--parents"])));
    for commit in history.graph().commits() {
        assert_eq!(history.index(&history.hash(commit)), Some(commit));
    }
    history
}

/// One commit on each of some branches that start at the same point.
fn branches(sample: &Sample, names: &[&str]) {
    sample.commit("base.txt", "1\n");
    for name in names {
        sample.git(&["checkout", "-q", "-b", name, "main"]);
        sample.commit(&format!("{name}.txt"), "1\n");
    }
    sample.git(&["checkout", "-q", "main"]);
}

#[test]
fn an_octopus_merge_keeps_its_parents_in_order() {
    let sample = Sample::new();
    branches(&sample, &["b1", "b2", "b3"]);
    sample.commit("main.txt", "1\n");
    sample.git(&["merge", "-q", "--no-edit", "b1", "b2", "b3"]);
    let history = check_against_git(&sample, &sample.repository());
    let merge = history.require(&sample.hash("main")).unwrap();
    let parents: Vec<CommitHash> = history.graph().parents(merge).iter().map(|&p| history.hash(p)).collect();
    assert_eq!(parents, ["main~1", "b1", "b2", "b3"].map(|name| sample.hash(name)));
    let base = history.require(&sample.hash("b1~1")).unwrap();
    assert_eq!(Dominators::of(history.graph()).immediate(merge), Some(base));
}

#[test]
fn a_history_may_have_several_roots() {
    let sample = Sample::new();
    sample.commit("a.txt", "1\n");
    sample.git(&["checkout", "-q", "--orphan", "other"]);
    sample.commit("b.txt", "1\n");
    sample.git(&["merge", "-q", "--no-edit", "--allow-unrelated-histories", "main"]);
    let history = check_against_git(&sample, &sample.repository());
    let roots: Vec<CommitIndex> = history.graph().roots().collect();
    assert_eq!(hashes(&history, &roots), listed(&sample.git(&["rev-list", "--all", "--max-parents=0"])));
    assert_eq!(roots.len(), 2);
    assert!(roots.iter().all(|&root| !history.is_shallow(root)));
}

#[test]
fn a_criss_cross_has_two_merge_bases() {
    let sample = Sample::new();
    branches(&sample, &["a", "b"]);
    let (a, b) = (sample.hash("a"), sample.hash("b"));
    sample.git(&["checkout", "-q", "a"]);
    sample.git(&["merge", "-q", "--no-edit", &b.to_string()]);
    sample.git(&["checkout", "-q", "b"]);
    sample.git(&["merge", "-q", "--no-edit", &a.to_string()]);
    let (repository, history) = (sample.repository(), sample.history());
    let (left, right) = (sample.hash("a"), sample.hash("b"));
    let expected = BTreeSet::from([a, b]);
    assert_eq!(repository.merge_bases(left, right).unwrap().into_iter().collect::<BTreeSet<_>>(), expected);
    let tips = [left, right].map(|tip| history.require(&tip).unwrap());
    let bases = history.graph().merge_bases(tips[0], tips[1]);
    assert_eq!(bases.iter().map(|&base| history.hash(base)).collect::<BTreeSet<_>>(), expected);
}

#[test]
fn a_shallow_clone_knows_where_it_ends() {
    let sample = Sample::new();
    for number in 0..5 {
        sample.commit("a.txt", &format!("{number}\n"));
    }
    let clone = Sample::cloned(&sample, &["--depth=2"]);
    let (repository, history) = (clone.repository(), check_against_git(&clone, &clone.repository()));
    assert_eq!(history.graph().len(), 2);
    let end = history.require(&sample.hash("main~1")).unwrap();
    assert!(history.is_shallow(end) && history.shallow() == [end]);
    assert!(!history.is_shallow(history.require(&sample.hash("main")).unwrap()));
    let error = history.require(&sample.hash("main~2")).unwrap_err();
    assert!(
        matches!(error, HistoryError::Shallow { .. }) && error.to_string().contains("git fetch --unshallow")
    );
    assert_eq!(repository.condition().unwrap().shallow, [sample.hash("main~1")]);
    clone.git(&["fetch", "-q", "--unshallow"]);
    assert_eq!(check_against_git(&clone, &repository).graph().len(), 5);
    assert!(repository.condition().unwrap().caveats().is_empty());
}

#[test]
fn a_linked_work_tree_and_a_bare_clone_have_the_same_history() {
    let sample = Sample::new();
    branches(&sample, &["b1"]);
    let linked = sample.root.parent().unwrap().join("linked");
    sample.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap(), "b1"]);
    sample.git_in(&linked, &["commit", "-q", "--allow-empty", "-m", "only checked out there"]);
    let tip: CommitHash = sample.git_in(&linked, &["rev-parse", "HEAD"]).parse().unwrap();
    let repository = sample.at(&linked);
    assert!(check_against_git(&sample, &repository).index(&tip).is_some());
    assert!(sample.history().index(&tip).is_some());
    assert_eq!(repository.resolve("HEAD").unwrap(), tip);
    let bare = Sample::cloned(&sample, &["--bare"]);
    assert!(bare.repository().is_bare() && !repository.is_bare());
    assert_eq!(check_against_git(&bare, &bare.repository()).graph().len(), 2);
}

#[test]
fn a_sha_256_repository_is_read_like_any_other() {
    let sample = Sample::with(&["--object-format=sha256"]);
    branches(&sample, &["b1", "b2"]);
    sample.git(&["merge", "-q", "--no-edit", "b1", "b2"]);
    let (repository, history) = (sample.repository(), check_against_git(&sample, &sample.repository()));
    assert_eq!(repository.format(), ObjectFormat::Sha256);
    assert_eq!(history.hash(CommitIndex(0)).as_bytes().len(), 32);
    assert!(sample.recognised("main").origin.is_automatic());
    let picked = sample.commit("c.txt", "1\n");
    sample.git(&["checkout", "-q", "b1"]);
    sample.git(&["cherry-pick", "-x", &picked.to_string()]);
    assert!(matches!(sample.recognised("b1").origin, Origin::CherryPick { redo: Redo::Automatic, .. }));
}

#[test]
fn replaced_objects_and_grafts_are_honoured_and_told() {
    let sample = Sample::new();
    let first = sample.commit("a.txt", "1\n");
    let second = sample.commit("a.txt", "2\n");
    let third = sample.commit("a.txt", "3\n");
    let repository = sample.repository();
    let parents = |commit: &CommitHash| {
        let history = check_against_git(&sample, &repository);
        let commit = history.require(commit).unwrap();
        history.graph().parents(commit).iter().map(|&parent| history.hash(parent)).collect::<Vec<_>>()
    };
    assert_eq!(parents(&third), [second]);
    sample.git(&["replace", "--graft", &third.to_string(), &first.to_string()]);
    assert_eq!(parents(&third), [first]);
    let condition = repository.condition().unwrap();
    assert_eq!((condition.replaced, condition.grafted), (1, false));
    assert!(condition.caveats()[0].contains("git replace -l"));
    sample.git(&["replace", "-d", &third.to_string()]);
    fs::create_dir_all(sample.root.join(".git/info")).unwrap();
    fs::write(sample.root.join(".git/info/grafts"), format!("{third} {second} {first}\n")).unwrap();
    assert_eq!(parents(&third), [second, first]);
    let condition = repository.condition().unwrap();
    assert!(condition.grafted && condition.caveats()[0].contains("git replace --convert-graft-file"));
}

#[test]
fn clocks_that_run_backwards_do_not_disturb_the_order() {
    let sample = Sample::new();
    let mut stream = String::new();
    for mark in 1..=20 {
        let date = 2_000_000_000 - mark * 1_000_000;
        let parent = if mark > 1 { format!("from :{}\n", mark - 1) } else { String::new() };
        let side = if mark > 5 { format!("merge :{}\n", mark - 4) } else { String::new() };
        write!(
            stream,
            "commit refs/heads/main\nmark :{mark}\ncommitter A <a@x> {date} +0000\ndata 1\nx\n{parent}{side}"
        )
        .unwrap();
    }
    sample.feed(&["fast-import", "--quiet"], &stream);
    let history = check_against_git(&sample, &sample.repository());
    assert_eq!(history.hash(CommitIndex(19)), sample.hash("main"));
}

#[test]
fn an_empty_repository_has_an_empty_history() {
    let sample = Sample::new();
    assert!(sample.history().graph().is_empty());
}

#[test]
fn only_what_the_tips_lead_to_is_loaded() {
    let sample = Sample::new();
    branches(&sample, &["b1", "b2"]);
    let history = History::load(&sample.repository(), &Tips::Commits(vec![sample.hash("b1")])).unwrap();
    assert_eq!(history.graph().len(), 2);
    assert!(history.index(&sample.hash("b2")).is_none());
}

/// Draws numbers; the same ones every time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A repository of random commits: some are roots, some merges of up to four parents.
fn random_repository(random: &mut Random, commits: usize) -> Sample {
    let sample = Sample::new();
    let mut stream = String::new();
    for mark in 1..=commits {
        let date = 1_700_000_000 + random.below(1000) * 60;
        let mut parents = BTreeSet::new();
        for _ in 0..[0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4][random.below(12)] {
            let reach = mark.min(8);
            parents.insert(mark.saturating_sub(1 + random.below(reach)));
        }
        // Mark 0 is none: a root.
        parents.remove(&0);
        write!(stream, "reset refs/heads/c{mark}\ncommit refs/heads/c{mark}\nmark :{mark}\n").unwrap();
        write!(stream, "committer A <a@x> {date} +0000\ndata 2\n{mark:02}\n").unwrap();
        for (place, parent) in parents.iter().rev().enumerate() {
            writeln!(stream, "{} :{parent}", if place == 0 { "from" } else { "merge" }).unwrap();
        }
    }
    sample.feed(&["fast-import", "--quiet"], &stream);
    sample
}

#[test]
fn merge_bases_and_paths_are_those_of_git_on_random_repositories() {
    let mut random = Random(7);
    let (mut several, mut none, mut on_path) = (0, 0, 0);
    for _ in 0..6 {
        let sample = random_repository(&mut random, 60);
        let history = check_against_git(&sample, &sample.repository());
        for _ in 0..40 {
            let [a, b] = [(); 2].map(|()| CommitIndex(random.below(history.graph().len()) as u32));
            let (from, to) = (history.hash(a).to_string(), history.hash(b).to_string());
            // It fails where there is none.
            let output = sample.try_git(&sample.root, &["merge-base", "--all", &from, &to], b"");
            let expected = listed(&String::from_utf8(output.stdout).unwrap());
            assert_eq!(hashes(&history, &history.graph().merge_bases(a, b)), expected, "{from} {to}");
            several += usize::from(expected.len() > 1);
            none += usize::from(expected.is_empty());
            let mut expected =
                listed(&sample.git(&["rev-list", "--ancestry-path", &format!("{from}..{to}")]));
            if !expected.is_empty() || a == b {
                expected.insert(from.clone());
            }
            on_path += usize::from(expected.len() > 2);
            assert_eq!(hashes(&history, &history.graph().between(Some(a), b)), expected, "{from}..{to}");
            assert_eq!(history.graph().is_ancestor(a, b), !expected.is_empty());
        }
    }
    assert!(several > 10 && none > 10 && on_path > 10, "{several} {none} {on_path}");
}
