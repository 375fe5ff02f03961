//! The counts over a history made with the real git, compared with git's own counts.

mod sample;

use fewer_git::{AutoMerges, FirstParents, HistoryStatistics, PatchIds, RedoneMerges, Scope};
use sample::{Sample, lines};

fn gather(sample: &Sample, scope: &Scope, auto_merges: AutoMerges, patch_ids: PatchIds) -> HistoryStatistics {
    HistoryStatistics::gather(&sample.repository(), scope, auto_merges, patch_ids, &mut |_| ()).unwrap()
}

/// Six commits on `main` after the first: a merge, an edited merge, a pick, a revert, and a rebased commit; two on
/// branches.
fn history() -> Sample {
    let sample = Sample::new();
    sample.commit("a.txt", &lines(&[]));
    sample.git(&["tag", "base"]);
    for (name, line) in [("clean", 1), ("evil", 4), ("picked", 7)] {
        sample.git(&["checkout", "-q", "-b", name, "base"]);
        sample.commit("a.txt", &lines(&[(line, name)]));
    }
    sample.git(&["checkout", "-q", "main"]);
    sample.commit("b.txt", "1\n");
    sample.git(&["merge", "-q", "--no-edit", "clean"]);
    sample.git(&["merge", "-q", "--no-commit", "evil"]);
    sample.write("b.txt", "2\n");
    sample.commit_all("evil");
    sample.git(&["cherry-pick", "-x", "picked"]);
    sample.git(&["revert", "--no-edit", "HEAD"]);
    sample.write("c.txt", "1\n");
    sample.git(&["add", "-A"]);
    sample.git(&["commit", "-q", "-m", "from elsewhere", "--author", "B <b@example.org>"]);
    sample
}

#[test]
fn every_commit_is_counted_once_and_as_git_counts() {
    let sample = history();
    let counts = gather(&sample, &Scope::All, AutoMerges::Check, PatchIds::Skip);
    let expected = HistoryStatistics {
        unreadable_patches: 0,
        commits: 10,
        authors: 2,
        merges: 2,
        rebases: 1,
        cherry_picks: 1,
        reverts: 1,
        rewritten: 2,
        main: FirstParents { commits: 7, merges: 2 },
        redone: Some(RedoneMerges { automatic: 1, manual: 1, impossible: 0 }),
    };
    assert_eq!(counts, expected);
    assert_eq!(counts.commits.to_string(), sample.git(&["rev-list", "--all", "--count"]));
    assert_eq!(counts.merges.to_string(), sample.git(&["rev-list", "--all", "--merges", "--count"]));
    assert_eq!(counts.authors, sample.git(&["shortlog", "-s", "--all"]).lines().count());
    assert_eq!(counts.operations_share(), Some(0.5));
    assert_eq!(counts.main_merge_share(), Some(2.0 / 7.0));
    assert_eq!(counts.auto_merge_share(), Some(0.5));
}

#[test]
fn merges_that_are_not_redone_have_no_share() {
    let sample = history();
    let counts = gather(&sample, &Scope::All, AutoMerges::Skip, PatchIds::Skip);
    assert_eq!((counts.merges, counts.redone, counts.auto_merge_share()), (2, None, None));
}

#[test]
fn a_range_is_counted_alone() {
    let sample = history();
    let range = sample.repository().range("main~3..main").unwrap();
    let counts = gather(&sample, &Scope::Range(range), AutoMerges::Check, PatchIds::Compare);
    assert_eq!((counts.commits, counts.merges, counts.cherry_picks, counts.reverts), (3, 0, 1, 1));
    assert_eq!(counts.main, FirstParents { commits: 3, merges: 0 });
    assert_eq!(counts.authors, 2);
}

#[test]
fn patches_that_were_picked_silently_count_when_they_are_compared() {
    let sample = history();
    sample.git(&["checkout", "-q", "clean"]);
    sample.git(&["cherry-pick", "picked"]);
    let count = |patch_ids| gather(&sample, &Scope::All, AutoMerges::Skip, patch_ids).cherry_picks;
    assert_eq!((count(PatchIds::Skip), count(PatchIds::Compare)), (1, 2));
}

#[test]
fn a_commit_is_rebased_if_another_committed_it_whatever_its_dates_are() {
    let sample = history();
    let rebases = || gather(&sample, &Scope::All, AutoMerges::Skip, PatchIds::Skip).rebases;
    sample.commit("d.txt", "1\n");
    sample.git(&["commit", "-q", "--amend", "-m", "said better"]);
    assert_eq!(rebases(), 1, "an amended commit has two dates");
    sample.git(&["commit", "-q", "--amend", "--no-edit", "--author", "A <other@example.org>"]);
    assert_eq!(rebases(), 2, "an address tells people apart");
}

#[test]
fn a_patch_that_cannot_be_read_is_left_out_and_counted() {
    let sample = history();
    sample.git(&["checkout", "-q", "clean"]);
    sample.git(&["cherry-pick", "picked"]);
    let blob = sample.git(&["rev-parse", "evil:a.txt"]);
    std::fs::remove_file(sample.root.join(format!(".git/objects/{}/{}", &blob[..2], &blob[2..]))).unwrap();
    let counts = gather(&sample, &Scope::All, AutoMerges::Skip, PatchIds::Compare);
    assert_eq!((counts.cherry_picks, counts.unreadable_patches), (2, 1));
}

#[test]
fn names_are_those_of_the_mailmap() {
    let sample = history();
    sample.commit(".mailmap", "A <a@example.org> B <b@example.org>\n");
    assert_eq!(gather(&sample, &Scope::All, AutoMerges::Skip, PatchIds::Skip).authors, 1);
}
