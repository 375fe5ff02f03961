//! What revisions name, and what is said where they name nothing that can be relied on.

mod sample;

use std::fs;

use fewer_git::{History, HistoryError, Repository, Scope, Tips};
use sample::{Sample, lines};

fn refused(sample: &Sample, revision: &str) -> HistoryError {
    sample.repository().resolve(revision).unwrap_err()
}

fn three_commits() -> Sample {
    let sample = Sample::new();
    for number in 1..=3 {
        sample.commit("a.txt", &format!("{number}\n"));
    }
    sample
}

#[test]
fn a_range_has_two_ends_one_or_none() {
    let sample = three_commits();
    sample.git(&["tag", "-a", "-m", "x", "v1", "main~1"]);
    let repository = sample.repository();
    let range = repository.range("main~2..v1").unwrap();
    assert_eq!((range.from, range.to), (Some(sample.hash("main~2")), sample.hash("main~1")));
    for text in ["main~1..", "main~1..HEAD", "@~1..@"] {
        let range = repository.range(text).unwrap();
        assert_eq!((range.from, range.to), (Some(sample.hash("main~1")), sample.hash("main")), "{text}");
    }
    for text in ["", "HEAD", "main"] {
        let range = repository.range(text).unwrap();
        assert_eq!((range.from, range.to), (None, sample.hash("main")), "{text}");
    }
    for text in ["a...b", "a..b..c"] {
        assert!(matches!(repository.range(text), Err(HistoryError::NotARange(_))), "{text}");
    }
}

#[test]
fn a_range_has_the_commits_of_its_second_end_only() {
    let sample = three_commits();
    let repository = sample.repository();
    let range = repository.range("main~2..main").unwrap();
    let log = fewer_git::CommitLog::read(&repository, &Scope::Range(range)).unwrap();
    let commits: Vec<_> = log.records.iter().map(|record| record.commit).collect();
    assert_eq!(commits, [sample.hash("main"), sample.hash("main~1")]);
}

#[test]
fn a_detached_head_is_a_commit_like_any_other() {
    let sample = three_commits();
    sample.git(&["checkout", "-q", "--detach", "main~1"]);
    let tip = sample.commit("b.txt", "1\n");
    assert_eq!(sample.repository().resolve("").unwrap(), tip);
    assert!(sample.history().index(&tip).is_some());
}

#[test]
fn a_dirty_tree_changes_no_answer() {
    let sample = three_commits();
    let before = sample.recognised("HEAD");
    sample.write("a.txt", "dirty\n");
    sample.write("new.txt", "1\n");
    assert_eq!(sample.recognised("HEAD"), before);
    assert_eq!(sample.repository().in_progress().unwrap(), None);
}

#[test]
fn a_repository_without_commits_says_so() {
    let sample = Sample::new();
    let error = refused(&sample, "HEAD");
    assert!(matches!(error, HistoryError::NoCommits) && error.to_string().contains("git commit"), "{error}");
    assert!(matches!(refused(&sample, ""), HistoryError::NoCommits));
}

#[test]
fn a_directory_outside_of_git_is_no_repository() {
    let directory = tempfile::tempdir().unwrap();
    for path in [directory.path().to_path_buf(), directory.path().join("nowhere")] {
        let error = Repository::open(&path).unwrap_err();
        assert!(matches!(&error, HistoryError::NotARepository(at) if *at == path), "{error}");
    }
}

#[test]
fn an_unknown_name_is_told_with_what_to_do() {
    let sample = three_commits();
    let error = refused(&sample, "feature");
    assert!(matches!(error, HistoryError::UnknownRevision { .. }));
    assert!(
        error.to_string().contains("`feature`") && error.to_string().contains("git log --all"),
        "{error}"
    );
    let clone = Sample::cloned(&sample, &[]);
    let error = refused(&clone, "origin/feature").to_string();
    assert!(error.contains("git fetch origin feature:refs/remotes/origin/feature"), "{error}");
    assert!(refused(&clone, "v9").to_string().contains("git fetch origin v9"));
}

#[test]
fn what_is_no_commit_is_refused() {
    let sample = three_commits();
    assert!(matches!(refused(&sample, "main^{tree}"), HistoryError::NotACommit(_)));
    assert!(matches!(refused(&sample, "main:a.txt"), HistoryError::NotACommit(_)));
    assert!(matches!(refused(&sample, "--all"), HistoryError::UnknownRevision { .. }));
}

#[test]
fn a_commit_that_was_never_fetched_is_told_with_how_to_fetch_it() {
    let sample = three_commits();
    let hash = "1234567890123456789012345678901234567890";
    let error = refused(&sample, hash);
    assert!(matches!(&error, HistoryError::MissingCommit(missing) if missing == hash));
    assert!(error.to_string().contains(&format!("git fetch origin {hash}")), "{error}");
    let tips = Tips::Commits(vec![hash.parse().unwrap()]);
    let error = History::load(&sample.repository(), &tips).unwrap_err();
    assert!(matches!(&error, HistoryError::MissingCommit(missing) if missing == hash), "{error}");
}

#[test]
fn a_force_pushed_base_whose_object_is_gone_is_told() {
    let sample = three_commits();
    let clone = Sample::cloned(&sample, &[]);
    clone.commit("b.txt", "1\n");
    let base = clone.hash("main");
    clone.git(&["reset", "-q", "--hard", "main~1"]);
    clone.git(&["reflog", "expire", "--expire=now", "--all"]);
    clone.git(&["gc", "-q", "--prune=now"]);
    let error = refused(&clone, &base.to_string());
    assert!(matches!(&error, HistoryError::MissingCommit(_)), "{error}");
    let error = error.to_string();
    assert!(error.contains("force-push") && error.contains(&format!("git fetch origin {base}")), "{error}");
}

#[test]
fn a_history_with_a_lost_commit_is_told_with_the_commit() {
    let sample = three_commits();
    let lost = sample.hash("main~1").to_string();
    fs::remove_file(sample.root.join(".git/objects").join(&lost[..2]).join(&lost[2..])).unwrap();
    let error = History::load(&sample.repository(), &Tips::All).unwrap_err();
    assert!(matches!(&error, HistoryError::MissingCommit(missing) if *missing == lost), "{error}");
}

#[test]
fn what_a_shallow_clone_hides_is_told_with_how_to_complete_it() {
    let sample = three_commits();
    let clone = Sample::cloned(&sample, &["--depth=1"]);
    for revision in ["HEAD~1".to_string(), "main^".to_string(), sample.hash("main~2").to_string()] {
        let error = refused(&clone, &revision);
        assert!(matches!(error, HistoryError::Shallow { .. }), "{revision}: {error}");
        assert!(error.to_string().contains("git fetch --unshallow"), "{error}");
    }
}

#[test]
fn a_shallow_clone_may_hide_common_ancestors() {
    let sample = three_commits();
    for name in ["a", "b"] {
        sample.git(&["checkout", "-q", "-b", name, "main"]);
        sample.commit(&format!("{name}.txt"), "1\n");
        sample.commit(&format!("{name}.txt"), "2\n");
    }
    let bases = |clone: &Sample| {
        let tips = [clone.hash("origin/a"), clone.hash("origin/b")];
        clone.repository().merge_bases(tips[0], tips[1])
    };
    let hidden = Sample::cloned(&sample, &["--depth=1", "--no-single-branch"]);
    assert!(matches!(bases(&hidden), Err(HistoryError::Shallow { .. })));
    let enough = Sample::cloned(&sample, &["--depth=4", "--no-single-branch"]);
    assert_eq!(bases(&enough).unwrap(), [sample.hash("main")]);
}

#[test]
fn unrelated_histories_are_told() {
    let sample = three_commits();
    sample.git(&["checkout", "-q", "--orphan", "other"]);
    sample.commit("b.txt", &lines(&[]));
    let (a, b) = (sample.hash("main"), sample.hash("other"));
    let error = sample.repository().merge_bases(a, b).unwrap_err();
    assert!(matches!(error, HistoryError::Unrelated { .. }));
    assert!(error.to_string().contains("--allow-unrelated-histories"), "{error}");
}
