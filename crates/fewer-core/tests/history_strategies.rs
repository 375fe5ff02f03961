//! Named cases of the strategies: where S0 is unsafe, what happens without records, reverts of reverts, picks from
//! merges, and how the published heuristic chooses.

mod history_project;

use std::collections::BTreeSet;

use fewer_core::CommitIndex;
use fewer_core::history::*;
use history_project::{Edit, Project, ProjectSource, State};

/// Functions `f` and `m`, each in a file of its own, with a test `t` of `f` and a test `u` of `m`.
struct Small {
    project: Project,
    f: usize,
    m: usize,
    root: CommitIndex,
}

fn small() -> Small {
    let mut project = Project::default();
    let files: Vec<usize> = (0..4).map(|_| project.file(false, &[])).collect();
    let f = project.element("f", files[0], &[]);
    let m = project.element("m", files[1], &[]);
    project.test("t", files[2], &[f]);
    project.test("u", files[3], &[m]);
    let initial = project.initial();
    let root = project.commit(&[], initial);
    Small { project, f, m, root }
}

fn selected(selection: &Selection) -> Vec<&str> {
    match &selection.answer {
        Answer::Tests { selected, .. } => selected.iter().map(|test| test.name.as_str()).collect(),
        Answer::Everything(cause) => panic!("everything: {cause:?}"),
    }
}

/// The tests whose outcome at `head` is not the one that the selection copies.
fn missed(project: &Project, head: &State, selection: &Selection) -> Vec<String> {
    let Answer::Tests { reused, .. } = &selection.answer else { return Vec::new() };
    let recorded = project.recorded_outcomes();
    let mut missed = Vec::new();
    for (test, outcome) in project.outcomes(head) {
        let copied = match reused.get(&test) {
            Some(Evidence::OutcomeAt(commit)) => project.outcomes_at(*commit).get(&test).copied(),
            Some(Evidence::OutcomeOf(fingerprint)) => recorded.get(&(test.clone(), *fingerprint)).copied(),
            None => continue,
        };
        if copied != Some(outcome) {
            missed.push(test.name);
        }
    }
    missed
}

fn source(project: &Project) -> ProjectSource<'_> {
    ProjectSource { project, has_units: true }
}

#[test]
fn s0_misses_a_merge_where_one_branch_adds_a_call_and_the_other_changes_the_callee() {
    let Small { mut project, f, m, root } = small();
    let calls = project.change(root, f, Edit::Toggle(m));
    let changes = project.change(root, m, Edit::Plain);
    let parents = [calls, changes];
    let head = project.merged(&parents).unwrap();
    let s0 = project.with_history(|history| history.s0_merge(&parents, None));
    assert_eq!(selected(&s0), [""; 0]);
    assert_eq!(missed(&project, &head, &s0), ["t"]);
    assert_eq!(s0.safety, Safety::SafeIfCoverageStays);
    let snapshot = project.snapshot(&head);
    let (s1, sk) =
        project.with_history(|history| (history.s1(&parents, &snapshot), history.sk(&parents, &snapshot)));
    assert_eq!(selected(&sk), ["t"]);
    assert_eq!(selected(&s1), ["t", "u"]);
    let merged = merge_of_commits(&project.graph(), &parents, &mut source(&project)).unwrap();
    assert_eq!(selected(&project.predict(&merged).selection()), ["t"]);
}

#[test]
fn s0_misses_a_cherry_pick_of_a_call_onto_a_changed_callee() {
    let Small { mut project, f, m, root } = small();
    let calls = project.change(root, f, Edit::Toggle(m));
    let onto = project.change(root, m, Edit::Plain);
    let head = project.cherry_picked(onto, calls).unwrap();
    let s0 = project.with_history(|history| history.s0_cherry_pick(onto, calls, root, None));
    assert_eq!(missed(&project, &head, &s0), ["t"]);
    let merged = cherry_pick_of_commit(onto, calls, root, &mut source(&project)).unwrap();
    assert_eq!(selected(&project.predict(&merged).selection()), ["t"]);
}

#[test]
fn s0_misses_a_revert_that_brings_back_a_call_of_what_changed_since() {
    let Small { mut project, f, m, root } = small();
    let calls = project.change(root, f, Edit::Toggle(m));
    let stops = project.change(calls, f, Edit::Toggle(m));
    let onto = project.change(stops, m, Edit::Plain);
    let head = project.reverted(onto, stops).unwrap();
    let s0 = project.with_history(|history| history.s0_revert(onto, stops, calls, None));
    assert_eq!(missed(&project, &head, &s0), ["t"]);
    let merged = revert_of_commit(onto, stops, calls, &mut source(&project)).unwrap();
    assert_eq!(selected(&project.predict(&merged).selection()), ["t"]);
}

#[test]
fn a_revert_of_a_revert_runs_nothing_again() {
    let Small { mut project, f, root, .. } = small();
    let change = project.change(root, f, Edit::Plain);
    let without = project.reverted(change, change).unwrap();
    let revert = project.commit(&[change], without);
    let head = project.reverted(revert, revert).unwrap();
    assert_eq!(head, project.states[change.index()]);
    let merged = revert_of_commit(revert, revert, change, &mut source(&project)).unwrap();
    assert_eq!(selected(&project.predict(&merged).selection()), [""; 0]);
    let snapshot = project.snapshot(&head);
    let (s1, s0) = project.with_history(|history| {
        (history.s1(&[revert], &snapshot), history.s0_revert(revert, revert, change, Some(&snapshot)))
    });
    assert_eq!(selected(&s1), ["t"]);
    assert_eq!(missed(&project, &head, &s0), [""; 0]);
    let recorded = project.recorded_outcomes();
    let star = s_star(&snapshot, |test, fingerprint| recorded.contains_key(&(test.clone(), fingerprint)));
    assert_eq!(selected(&star), [""; 0]);
}

#[test]
fn a_cherry_pick_of_a_merges_child_runs_what_it_affects_and_the_merge_did_too() {
    let Small { mut project, f, m, root } = small();
    let (left, right) = (project.change(root, f, Edit::Plain), project.change(root, m, Edit::Plain));
    let merged = project.merged(&[left, right]).unwrap();
    let merge = project.commit(&[left, right], merged);
    let child = project.change(merge, m, Edit::Plain);
    let head = project.cherry_picked(root, child).unwrap();
    // m had another change before: with the child's alone it was never run.
    let s0 = project.with_history(|history| history.s0_cherry_pick(root, child, merge, None));
    assert_eq!(selected(&s0), ["u"]);
    assert_eq!(missed(&project, &head, &s0), [""; 0]);
    let predicted = cherry_pick_of_commit(root, child, merge, &mut source(&project)).unwrap();
    assert_eq!(selected(&project.predict(&predicted).selection()), ["u"]);
}

#[test]
fn tests_that_some_parent_lacks_are_selected_by_s0() {
    let Small { mut project, f, m, root } = small();
    let file = project.file(false, &[]);
    let added = project.test("v", file, &[m]);
    let mut state = project.states[root.index()].clone();
    state.elements.insert(added, BTreeSet::new());
    let left = project.commit(&[root], state);
    let right = project.change(root, f, Edit::Plain);
    let s0 = project.with_history(|history| history.s0_merge(&[left, right], None));
    assert_eq!(selected(&s0), ["v"]);
    let merged = merge_of_commits(&project.graph(), &[left, right], &mut source(&project)).unwrap();
    assert_eq!(selected(&project.predict(&merged).selection()), [""; 0], "its branch has run it");
}

#[test]
fn an_unrecorded_commit_counts_as_affecting_every_test_and_is_named() {
    let Small { mut project, f, m, root } = small();
    let middle = project.change(root, f, Edit::Plain);
    let left = project.change(middle, f, Edit::Plain);
    let right = project.change(root, m, Edit::Plain);
    let parents = [left, right];
    let ask = |project: &Project| project.with_history(|history| history.s0_merge(&parents, None));
    assert_eq!(selected(&ask(&project)), [""; 0]);
    project.is_recorded[middle.index()] = false;
    let s0 = ask(&project);
    assert_eq!(selected(&s0), ["u"], "u is affected on the right, and may be on the left");
    assert_eq!(s0.not_recorded, BTreeSet::from([middle]));
    assert_eq!(project.with_history(|history| history.affected(left)), Err(vec![middle]));
}

#[test]
fn without_the_records_that_a_strategy_rests_on_everything_runs() {
    let Small { mut project, f, m, root } = small();
    let (left, right) = (project.change(root, f, Edit::Plain), project.change(root, m, Edit::Plain));
    let parents = [left, right];
    let snapshot = project.snapshot(&project.merged(&parents).unwrap());
    project.is_recorded[root.index()] = false;
    let s1 = project.with_history(|history| history.s1(&parents, &snapshot));
    assert_eq!(s1.answer, Answer::Everything(Cause::NotRecorded(root)));
    assert_eq!(s1.selected_of(snapshot.keys()).len(), 2);
    project.is_recorded[left.index()] = false;
    let (sk, s0) =
        project.with_history(|history| (history.sk(&parents, &snapshot), history.s0_merge(&parents, None)));
    assert_eq!(selected(&sk), ["t"], "the other parent still tells that u is as it was");
    assert_eq!((sk.comparisons, sk.not_recorded), (1, BTreeSet::from([left])));
    assert_eq!(s0.answer, Answer::Everything(Cause::NotRecorded(left)));
    project.is_recorded[right.index()] = false;
    let sk = project.with_history(|history| history.sk(&parents, &snapshot));
    assert_eq!(sk.answer, Answer::Everything(Cause::NoParentRecorded));
    assert_eq!(sk.not_recorded, BTreeSet::from([left, right]));
    let s0 = project.with_history(|history| history.s0_merge(&[left], None));
    assert_eq!(s0.answer, Answer::Everything(Cause::NotAMerge));
}

#[test]
fn a_merge_of_unrelated_histories_compares_with_nothing() {
    let Small { mut project, root, .. } = small();
    let other = project.commit(&[], project.states[root.index()].clone());
    let snapshot = project.snapshot(&project.states[root.index()].clone());
    let (s1, sk, s0) = project.with_history(|history| {
        let parents = [root, other];
        (history.s1(&parents, &snapshot), history.sk(&parents, &snapshot), history.s0_merge(&parents, None))
    });
    assert_eq!((selected(&s1), s1.comparisons), (vec!["t", "u"], 0));
    assert_eq!(selected(&sk), [""; 0]);
    assert_eq!(selected(&s0), ["t", "u"], "the first commits affect every test");
}

/// A merge of two branches of `length` commits; the left one adds `new` tests to the two there are.
fn merge_of(length: usize, new: usize) -> (Project, [CommitIndex; 2]) {
    let Small { mut project, f, m, root } = small();
    let (mut left, mut right) = (root, root);
    for step in 0..length {
        left = project.change(left, f, Edit::Plain);
        right = project.change(right, m, Edit::Plain);
        for number in 0..if step == 0 { new } else { 0 } {
            let file = project.file(false, &[]);
            let added = project.test(&format!("new{number}"), file, &[f]);
            let state = &mut project.states[left.index()].clone();
            state.elements.insert(added, BTreeSet::new());
            left = project.commit(&[left], state.clone());
        }
    }
    (project, [left, right])
}

fn choice(project: &Project, parents: &[CommitIndex], is_automatic: bool, limits: ChooserLimits) -> Choice {
    project.with_history(|history| history.choose(parents, None, is_automatic, limits))
}

#[test]
fn an_automatic_merge_with_all_records_is_chosen_by_its_new_tests() {
    let limits = ChooserLimits { many_new_tests_percent: 40, short_branch_commits: 2 };
    for (new, strategy) in [(0, Strategy::S0), (1, Strategy::S0), (2, Strategy::Sk)] {
        let (project, parents) = merge_of(1, new);
        let found = choice(&project, &parents, true, limits);
        assert_eq!(found.strategy, strategy, "{new} new tests");
        assert_eq!(found.reason, ChoiceReason::NewTests { new, available: 2 + new });
    }
    let (project, parents) = merge_of(1, 1);
    assert_eq!(choice(&project, &parents, true, ChooserLimits::default()).strategy, Strategy::Sk);
}

#[test]
fn an_edited_merge_is_chosen_by_its_longest_branch() {
    let limits = ChooserLimits::default();
    for (commits, strategy) in [(1, Strategy::S1), (2, Strategy::S1), (3, Strategy::Sk)] {
        let (project, parents) = merge_of(commits, 0);
        let found = choice(&project, &parents, false, limits);
        let reason = ChoiceReason::LongestBranch { commits, is_automatic: false, not_recorded: 0 };
        assert_eq!(found, Choice { strategy, reason });
    }
}

#[test]
fn a_missing_record_in_between_rules_s0_out() {
    let (mut project, parents) = merge_of(3, 0);
    assert_eq!(choice(&project, &parents, true, ChooserLimits::default()).strategy, Strategy::S0);
    project.is_recorded[1] = false;
    let found = choice(&project, &parents, true, ChooserLimits::default());
    let reason = ChoiceReason::LongestBranch { commits: 3, is_automatic: true, not_recorded: 1 };
    assert_eq!(found, Choice { strategy: Strategy::Sk, reason });
}
