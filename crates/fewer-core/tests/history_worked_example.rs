//! The worked example of the literature: three methods, four tests, seven commits, and what every strategy
//! selects at each commit, at the merge of three branches, at a cherry-pick and at a revert.

mod history_project;

use fewer_core::CommitIndex;
use fewer_core::history::*;
use history_project::{Edit, Project, ProjectSource, State};

/// n1 adds m, p, q and the tests t1 {m}, t2 {p}, t3 {q}, t4 {m, p}. On b1 n2 changes m and n3 changes p; on b2 n4
/// changes m and n5 changes p; on master n6 changes p and n7 changes q.
struct Example {
    project: Project,
    /// `n[1]` to `n[7]`; `n[0]` is not used.
    n: Vec<CommitIndex>,
}

fn example() -> Example {
    let mut project = Project::default();
    let mut in_own_file = |symbol: &str, calls: &[usize]| {
        let file = project.file(false, &[]);
        if symbol.starts_with('t') {
            project.test(symbol, file, calls)
        } else {
            project.element(symbol, file, calls)
        }
    };
    let [m, p, q] = ["m", "p", "q"].map(|symbol| in_own_file(symbol, &[]));
    for (symbol, calls) in [("t1", vec![m]), ("t2", vec![p]), ("t3", vec![q]), ("t4", vec![m, p])] {
        in_own_file(symbol, &calls);
    }
    let initial = project.initial();
    let n1 = project.commit(&[], initial);
    let n2 = project.change(n1, m, Edit::Plain);
    let n3 = project.change(n2, p, Edit::Plain);
    let n4 = project.change(n1, m, Edit::Plain);
    let n5 = project.change(n4, p, Edit::Plain);
    let n6 = project.change(n1, p, Edit::Plain);
    let n7 = project.change(n6, q, Edit::Plain);
    Example { project, n: vec![n1, n1, n2, n3, n4, n5, n6, n7] }
}

fn names(selection: &Selection) -> String {
    match &selection.answer {
        Answer::Tests { selected, .. } => {
            selected.iter().map(|test| test.name.as_str()).collect::<Vec<_>>().join(" ")
        }
        Answer::Everything(cause) => format!("everything: {cause:?}"),
    }
}

impl Example {
    fn s1(&self, parents: &[CommitIndex], head: &State) -> Selection {
        self.project.with_history(|history| history.s1(parents, &self.project.snapshot(head)))
    }

    fn sk(&self, parents: &[CommitIndex], head: &State) -> Selection {
        self.project.with_history(|history| history.sk(parents, &self.project.snapshot(head)))
    }

    fn s_star(&self, head: &State) -> Selection {
        let recorded = self.project.recorded_outcomes();
        s_star(&self.project.snapshot(head), |test, fingerprint| {
            recorded.contains_key(&(test.clone(), fingerprint))
        })
    }

    fn source(&self) -> ProjectSource<'_> {
        ProjectSource { project: &self.project, has_units: true }
    }
}

#[test]
fn ordinary_commits_select_what_they_change() {
    let Example { project, n } = example();
    let expected = ["", "t1 t2 t3 t4", "t1 t4", "t2 t4", "t1 t4", "t2 t4", "t2 t4", "t3"];
    for number in 1..=7 {
        let commit = n[number];
        let head = project.snapshot(&project.states[commit.index()]);
        let parents = &project.parents[commit.index()];
        let (s1, sk, affected) = project.with_history(|history| {
            (history.s1(parents, &head), history.sk(parents, &head), history.affected(commit))
        });
        assert_eq!(names(&s1), expected[number], "S1 at n{number}");
        assert_eq!(names(&sk), expected[number], "Sk at n{number}");
        let affected: Vec<String> = affected.unwrap().into_iter().map(|test| test.name).collect();
        assert_eq!(affected.join(" "), expected[number], "aff at n{number}");
        assert_eq!(s1.safety, Safety::Safe);
        assert_eq!(s1.comparisons, usize::from(number > 1));
    }
}

#[test]
fn the_merge_of_three_branches_runs_what_two_of_them_changed() {
    let example = example();
    let parents = [example.n[7], example.n[3], example.n[5]];
    let head = example.project.merged(&parents).unwrap();
    let s1 = example.s1(&parents, &head);
    assert_eq!((names(&s1).as_str(), s1.comparisons), ("t1 t2 t3 t4", 1));
    let sk = example.sk(&parents, &head);
    assert_eq!((names(&sk).as_str(), sk.comparisons), ("t1 t2 t4", 3));
    let s0 = example.project.with_history(|history| history.s0_merge(&parents, None));
    assert_eq!((names(&s0).as_str(), s0.comparisons), ("t1 t2 t4", 0));
    assert_eq!(s0.safety, Safety::SafeIfCoverageStays);
    assert!(s0.not_recorded.is_empty());
    let merged = merge_of_commits(&example.project.graph(), &parents, &mut example.source()).unwrap();
    let predicted = example.project.predict(&merged);
    assert_eq!(names(&predicted.selection()), "t1 t2 t4");
    assert_eq!(predicted.unknown_elements, 2, "m and p, which two branches changed");
    assert_eq!(names(&example.s_star(&head)), "t1 t2 t4");
}

#[test]
fn the_third_test_reuses_the_outcome_of_the_branch_that_changed_it() {
    let example = example();
    let parents = [example.n[3], example.n[5], example.n[7]];
    let s0 = example.project.with_history(|history| history.s0_merge(&parents, None));
    let Answer::Tests { reused, .. } = s0.answer else { panic!("{s0:?}") };
    let evidence: Vec<_> = reused.iter().map(|(test, evidence)| (test.name.as_str(), *evidence)).collect();
    assert_eq!(evidence, [("t3", Evidence::OutcomeAt(example.n[7]))]);
}

#[test]
fn a_cherry_pick_runs_what_both_branches_changed() {
    let example = example();
    let (n2, n1, n7) = (example.n[2], example.n[1], example.n[7]);
    let head = example.project.cherry_picked(n7, n2).unwrap();
    assert_eq!(names(&example.s1(&[n7], &head)), "t1 t4");
    let s0 = example.project.with_history(|history| history.s0_cherry_pick(n7, n2, n1, None));
    assert_eq!(names(&s0), "t4");
    let merged = cherry_pick_of_commit(n7, n2, n1, &mut example.source()).unwrap();
    assert_eq!(names(&example.project.predict(&merged).selection()), "t4");
    assert_eq!(names(&example.s_star(&head)), "t4");
}

#[test]
fn a_revert_to_what_was_recorded_runs_nothing() {
    let example = example();
    let (n6, n1, n7) = (example.n[6], example.n[1], example.n[7]);
    let head = example.project.reverted(n7, n6).unwrap();
    assert_eq!(names(&example.s1(&[n7], &head)), "t2 t4");
    let s0 = example.project.with_history(|history| history.s0_revert(n7, n6, n1, None));
    assert_eq!(names(&s0), "");
    let merged = revert_of_commit(n7, n6, n1, &mut example.source()).unwrap();
    assert_eq!(names(&example.project.predict(&merged).selection()), "");
    assert_eq!(names(&example.s_star(&head)), "");
}

#[test]
fn a_revert_runs_what_it_changes_if_the_state_before_was_never_recorded() {
    let mut example = example();
    let (n6, n1, n7) = (example.n[6], example.n[1], example.n[7]);
    let head = example.project.reverted(n7, n6).unwrap();
    // n2 and n4 still have t2 as it was at n1, but nothing has t4 so.
    example.project.is_recorded[n1.index()] = false;
    assert_eq!(names(&example.s_star(&head)), "t4");
    let s0 = example.project.with_history(|history| history.s0_revert(n7, n6, n1, None));
    assert_eq!(s0.answer, Answer::Everything(Cause::NotRecorded(n1)));
    assert_eq!(s0.not_recorded.into_iter().collect::<Vec<_>>(), [n1]);
    let prediction = revert_of_commit(n7, n6, n1, &mut example.source());
    assert!(matches!(prediction, Err(Unpredictable::NotRecorded(commit)) if commit == n1));
}
