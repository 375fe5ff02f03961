//! Reduction against the paper's worked example, hand-made suites, brute force and properties that must hold for
//! every suite.

use std::collections::BTreeSet;

use fewer_core::TestId;
use fewer_core::reduction::{
    Algorithm, Choice, LossTable, MatrixBuilder, Revisions, Suite, change_related, compare_choices,
    cost_aware_greedy, exact, explain_reduction, go_back, greedy, hgs, loss, loss_table,
    plain_cost_aware_greedy, plain_greedy, signed_rank, traditional_loss,
};
use fixedbitset::FixedBitSet;
use proptest::prelude::*;

/// A suite of tests `t1`, `t2`... each with what it satisfies and how long it takes.
fn suite(rows: &[(&[u32], Option<f64>)]) -> Suite {
    let requirements = rows.iter().flat_map(|(row, _)| row.iter()).max().map_or(0, |most| most + 1);
    let mut matrix = MatrixBuilder::new(requirements);
    rows.iter().for_each(|(row, _)| matrix.test(&mut row.to_vec()));
    let tests = (1..=rows.len()).map(|number| TestId::new("t", format!("t{number:04}"))).collect();
    Suite::of_matrix(tests, rows.iter().map(|(_, duration)| *duration).collect(), matrix.finish())
}

fn untimed(rows: &[&[u32]]) -> Suite {
    suite(&rows.iter().map(|row| (*row, None)).collect::<Vec<_>>())
}

fn set(length: usize, members: &[usize]) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(length);
    members.iter().for_each(|&member| set.insert(member));
    set
}

fn forever(suite: &Suite) -> fewer_core::reduction::Exact {
    exact(suite, &mut || true)
}

fn reduce(algorithm: Algorithm, suite: &Suite) -> Vec<usize> {
    match algorithm {
        Algorithm::Greedy => greedy(suite),
        Algorithm::CostAware => cost_aware_greedy(suite),
        Algorithm::Hgs => hgs(suite),
        Algorithm::Exact => forever(suite).tests,
    }
}

/// Requirements R1 to R5 are 0 to 4, tests t1 to t4 are 0 to 3.
fn worked_example() -> Suite {
    untimed(&[&[2, 3], &[3, 4], &[0, 1], &[1, 2, 4]])
}

#[test]
fn the_worked_example_of_the_paper_loses_nothing() {
    let matrix = &worked_example().matrix;
    let (selected, evolved) = (set(4, &[0, 3]), set(4, &[2, 3]));
    assert_eq!(change_related(matrix, &set(4, &[0, 1, 2, 3]), &selected), set(5, &[2]));
    assert_eq!(change_related(matrix, &evolved, &selected), set(5, &[2, 4]));
    assert_eq!(loss(matrix, &evolved, &selected).percent(), 0.0);
    let traditional = traditional_loss(matrix, &evolved);
    assert_eq!((traditional.lost, traditional.of, traditional.percent()), (1, 5, 20.0));
}

#[test]
fn a_suite_without_the_selected_tests_loses_what_only_they_satisfy() {
    let matrix = &worked_example().matrix;
    let lost = loss(matrix, &set(4, &[1, 2]), &set(4, &[0, 3]));
    assert_eq!((lost.lost, lost.of), (1, 1));
    let nothing_selected = loss(matrix, &set(4, &[1, 2]), &set(4, &[]));
    assert_eq!((nothing_selected.of, nothing_selected.percent()), (0, 0.0));
}

#[test]
fn greedy_is_not_smallest_where_the_largest_test_misleads_it() {
    // The first test satisfies most, but the other two satisfy everything.
    let suite = untimed(&[&[1, 2, 3, 4], &[0, 1, 2], &[3, 4, 5]]);
    assert_eq!(greedy(&suite), [0, 1, 2]);
    let smallest = forever(&suite);
    assert_eq!((smallest.tests.clone(), smallest.is_smallest()), (vec![1, 2], true));
    assert_eq!(smallest.gap_percent(), 0.0);
}

#[test]
fn greedy_falls_behind_by_more_the_larger_the_suite() {
    // The classic: two tests halve everything, and a series of tests each takes half of what is left.
    let half = |parity: u32| (0..62).filter(|r| r % 2 == parity).collect::<Vec<u32>>();
    let mut rows = vec![half(0), half(1)];
    let mut start = 0;
    for size in [32, 16, 8, 4, 2] {
        rows.push((start..start + size).collect());
        start += size;
    }
    let suite = untimed(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    assert_eq!(greedy(&suite), [2, 3, 4, 5, 6]);
    assert_eq!(forever(&suite).tests, [0, 1]);
}

#[test]
fn hgs_sees_to_scarce_requirements_first() {
    // The example of the algorithm's description: requirement sets by cardinality decide, not the largest test.
    // t1 {r1, r3, r4, r6}, t2 {r2, r3}, t3 {r3, r5}, t4 {r4, r5}, t5 {r1, r6}: r2 is t2's alone.
    let suite = untimed(&[&[0, 2, 3, 5], &[1, 2], &[2, 4], &[3, 4], &[0, 5]]);
    assert_eq!(hgs(&suite), [1, 0, 2]);
    assert_eq!(greedy(&suite), [0, 1, 2]);
}

#[test]
fn equal_candidates_are_taken_by_duration_and_then_by_name() {
    let rows: &[(&[u32], Option<f64>)] =
        &[(&[0, 1], Some(3.0)), (&[0, 1], Some(0.5)), (&[0, 1], None), (&[0, 1], Some(0.5))];
    assert_eq!(greedy(&suite(rows)), [1]);
    assert_eq!(hgs(&suite(rows)), [1]);
    assert_eq!(forever(&suite(rows)).tests, [1]);
    assert_eq!(greedy(&untimed(&[&[0, 1], &[0, 1]])), [0]);
}

#[test]
fn cost_aware_greedy_prefers_two_quick_tests_to_a_slow_one() {
    let rows: &[(&[u32], Option<f64>)] =
        &[(&[0, 1, 2, 3], Some(60.0)), (&[0, 1], Some(0.1)), (&[2, 3], Some(0.2))];
    assert_eq!(greedy(&suite(rows)), [0]);
    assert_eq!(cost_aware_greedy(&suite(rows)), [1, 2]);
}

#[test]
fn an_empty_suite_and_tests_that_satisfy_nothing_are_no_problem() {
    for suite in [untimed(&[]), untimed(&[&[], &[]])] {
        for algorithm in Algorithm::ALL {
            assert_eq!(reduce(algorithm, &suite), [], "{algorithm:?}");
        }
        let reasons = explain_reduction(&suite, &[]);
        assert!(reasons.redundant.iter().all(|redundant| redundant.because_of.is_empty()));
    }
}

#[test]
fn without_time_the_gap_says_how_far_the_suite_can_be_from_the_smallest() {
    // Every pair of seven tests has a requirement of its own: six are needed, while fractions of 1/2 are enough for
    // the relaxation.
    let pairs: Vec<(u32, u32)> = (0..7).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let of = |test: u32| -> Vec<u32> {
        (0..21).filter(|&pair| pairs[pair as usize].0 == test || pairs[pair as usize].1 == test).collect()
    };
    let rows: Vec<Vec<u32>> = (0..7).map(of).collect();
    let suite = untimed(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let stopped = exact(&suite, &mut || false);
    assert_eq!((stopped.lower_bound, stopped.tests.len()), (4, 6));
    let finished = forever(&suite);
    assert_eq!((finished.tests.len(), finished.is_smallest()), (brute_force(&suite), true));
    assert_eq!(stopped.gap_percent(), 100.0 / 3.0);
}

#[test]
fn the_reasons_name_what_is_new_what_is_alone_and_who_makes_others_redundant() {
    let suite = untimed(&[&[0, 1, 2], &[2, 3], &[1, 3], &[]]);
    let reasons = explain_reduction(&suite, &greedy(&suite));
    let kept: Vec<_> =
        reasons.kept.iter().map(|kept| (kept.test, kept.new, kept.alone, kept.example)).collect();
    assert_eq!(kept, [(0, 3, 2, Some(0)), (1, 1, 1, Some(3))]);
    let redundant: Vec<_> = reasons.redundant.iter().map(|r| (r.test, r.because_of.clone())).collect();
    assert_eq!(redundant, [(2, vec![0, 1]), (3, vec![])]);
}

#[test]
fn an_empty_selection_goes_back_until_it_satisfies_something() {
    let matrix = &untimed(&[&[0], &[], &[1]]).matrix;
    let selections = [set(3, &[]), set(3, &[1]), set(3, &[2]), set(3, &[0])];
    let gone = go_back(matrix, selections.clone());
    assert_eq!((gone.selected, gone.commits, gone.satisfies), (set(3, &[1, 2]), 2, true));
    let enough = go_back(matrix, selections[2..].to_vec());
    assert_eq!((enough.selected, enough.commits), (set(3, &[2]), 0));
    let never = go_back(matrix, selections[..2].to_vec());
    assert_eq!((never.selected, never.commits, never.satisfies), (set(3, &[1]), 1, false));
}

fn ids(names: &str) -> BTreeSet<TestId> {
    names.split_whitespace().map(|name| TestId::new("t", name)).collect()
}

#[test]
fn the_four_ways_are_counted_commit_by_commit() {
    let revisions = Revisions {
        names: ["v0", "v1", "v2", "v3"].map(String::from).to_vec(),
        tests: vec![ids("a b c d"), ids("a b c d"), ids("a b d e"), ids("a b d e")],
        selected: vec![ids("a b c d"), ids("a b"), ids("b e"), ids("")],
    };
    let run = compare_choices(&revisions, 0, &ids("a c"));
    let counts = |choice: Choice| -> Vec<usize> { run.choices.iter().map(|at| at.count(choice)).collect() };
    assert_eq!(counts(Choice::Full), [4, 4, 4]);
    assert_eq!(counts(Choice::Reduced), [2, 2, 2]);
    assert_eq!(counts(Choice::Selected), [2, 2, 0]);
    assert_eq!(counts(Choice::SelectionOfReduction), [1, 1, 0]);
    assert_eq!(run.all.medians_apart(Choice::Reduced, Choice::Selected), Some(0.0));
    assert_eq!(run.all.selected.unwrap().mean, 100.0 / 3.0);
    assert_eq!(run.without_zero.selected.unwrap().mean, 50.0);
    assert_eq!(run.without_zero.reduced_against_selected, None);
}

#[test]
fn the_loss_table_is_a_triangle_and_goes_back_where_nothing_was_selected() {
    let suite = worked_example();
    let names = "t0001 t0002 t0003 t0004";
    let revisions = Revisions {
        names: ["v0", "v1", "v2"].map(String::from).to_vec(),
        tests: vec![ids(names); 3],
        selected: vec![ids(names), ids("t0001 t0004"), ids("")],
    };
    let points = [(0, &suite, ids("t0002 t0003")), (1, &suite, ids("t0003 t0004")), (2, &suite, ids(names))];
    let table = loss_table(&revisions, &points);
    let percents: Vec<Vec<f64>> =
        table.change_related.iter().map(|row| row.iter().map(|loss| loss.percent()).collect()).collect();
    assert_eq!(percents, [vec![100.0, 100.0], vec![0.0], vec![]]);
    assert_eq!(table.went_back, [0, 0, 1]);
    assert_eq!(LossTable::distribution(&table.change_related).unwrap().median, 100.0);
    assert_eq!(table.traditional[1][0].percent(), 20.0);
}

#[test]
fn the_signed_rank_test_agrees_with_scipy() {
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-9 * expected.max(1e-9);
    // scipy.stats.wilcoxon(..., correction=False, method="approx"): ties and a pair that is equal.
    let (a, b) = (
        [125.0, 115.0, 130.0, 140.0, 140.0, 115.0, 140.0, 125.0, 140.0, 135.0],
        [110.0, 122.0, 125.0, 120.0, 140.0, 124.0, 123.0, 137.0, 135.0, 145.0],
    );
    let tied = signed_rank(&a, &b).unwrap();
    assert_eq!((tied.pairs, tied.positive.min(tied.negative)), (9, 18.0));
    assert!(close(tied.p, 0.593_630_591_442_529_5), "{tied:?}");
    // method="exact".
    let (c, d) = (
        [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.05, 1.30],
        [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.13, 1.29],
    );
    let counted = signed_rank(&c, &d).unwrap();
    assert!(close(counted.p, 0.039_062_5) && counted.negative == 5.0, "{counted:?}");
    // Sixty pairs: beyond what is counted out.
    let x: Vec<f64> = (1..=60).map(f64::from).collect();
    let y: Vec<f64> = (1..=60).map(|i| if i % 5 == 0 { 2.0 * f64::from(i) } else { 0.0 }).collect();
    let many = signed_rank(&x, &y).unwrap();
    assert!(close(many.p, 0.000_111_161_326_997_489_66), "{many:?}");
    assert_eq!(signed_rank(&a, &a), None);
}

/// The size of the smallest reduced suite, by trying all.
fn brute_force(suite: &Suite) -> usize {
    let all = suite.matrix.all_satisfied();
    let tests = suite.tests.len();
    let covers = |mask: &u32| suite.matrix.satisfied((0..tests).filter(|test| mask >> test & 1 == 1)) == all;
    (0..1u32 << tests).filter(covers).map(|mask| mask.count_ones()).min().unwrap() as usize
}

/// Suites with skewed rows, equal rows and columns, empty tests and durations that tie.
fn suites(tests: usize, requirements: u32) -> impl Strategy<Value = Suite> {
    let row = prop::collection::vec((0..requirements, 0..requirements).prop_map(|(a, b)| a.min(b)), 0..12);
    let duration = prop::option::of((0u32..4).prop_map(|quarter| f64::from(quarter) / 4.0));
    prop::collection::vec((row, duration), 0..=tests).prop_map(|rows| {
        suite(&rows.iter().map(|(row, duration)| (row.as_slice(), *duration)).collect::<Vec<_>>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_algorithm_satisfies_what_the_full_suite_satisfies(suite in suites(40, 60)) {
        let all = suite.matrix.all_satisfied();
        for algorithm in Algorithm::ALL {
            let kept = reduce(algorithm, &suite);
            prop_assert_eq!(&suite.matrix.satisfied(kept.iter().copied()), &all, "{:?}", algorithm);
            let distinct: BTreeSet<_> = kept.iter().collect();
            prop_assert_eq!(distinct.len(), kept.len(), "{:?}", algorithm);
        }
    }

    #[test]
    fn lazy_greedy_takes_the_same_tests_in_the_same_order_as_plain_greedy(suite in suites(40, 60)) {
        prop_assert_eq!(greedy(&suite), plain_greedy(&suite));
        prop_assert_eq!(cost_aware_greedy(&suite), plain_cost_aware_greedy(&suite));
    }

    #[test]
    fn the_exact_suite_is_never_larger_than_another(suite in suites(40, 60)) {
        let smallest = forever(&suite);
        prop_assert!(smallest.is_smallest());
        for algorithm in Algorithm::ALL {
            prop_assert!(smallest.tests.len() <= reduce(algorithm, &suite).len(), "{:?}", algorithm);
        }
        let hurried = exact(&suite, &mut || false);
        prop_assert!(hurried.lower_bound <= smallest.tests.len());
        prop_assert!(hurried.tests.len() >= smallest.tests.len());
    }

    #[test]
    fn the_exact_suite_is_as_small_as_brute_force_finds(suite in suites(11, 16)) {
        prop_assert_eq!(forever(&suite).tests.len(), brute_force(&suite));
    }

    #[test]
    fn what_makes_a_test_redundant_satisfies_all_that_it_does(suite in suites(30, 40)) {
        for algorithm in Algorithm::ALL {
            let kept = reduce(algorithm, &suite);
            let reasons = explain_reduction(&suite, &kept);
            prop_assert_eq!(reasons.kept.len() + reasons.redundant.len(), suite.tests.len());
            for redundant in &reasons.redundant {
                let instead = suite.matrix.satisfied(redundant.because_of.iter().copied());
                prop_assert!(suite.matrix.satisfied([redundant.test]).is_subset(&instead));
                prop_assert!(redundant.because_of.iter().all(|test| kept.contains(test)));
            }
        }
    }

    #[test]
    fn the_full_suite_and_the_selected_tests_lose_nothing(suite in suites(20, 30), seed in any::<u32>()) {
        let tests = suite.tests.len();
        let every = (0..tests).collect::<Vec<_>>();
        let selected = set(tests, &every.iter().copied().filter(|test| seed >> test & 1 == 1).collect::<Vec<_>>());
        prop_assert_eq!(loss(&suite.matrix, &set(tests, &every), &selected).lost, 0);
        prop_assert_eq!(loss(&suite.matrix, &selected, &selected).lost, 0);
        prop_assert_eq!(traditional_loss(&suite.matrix, &set(tests, &greedy(&suite))).lost, 0);
    }
}
