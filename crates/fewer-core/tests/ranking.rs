//! Ranking against its definitions, written naively, and what every ranking and every limit keeps to.

use std::collections::BTreeSet;

use fewer_core::TestId;
use fewer_core::ranking::{
    Contender, Limit, RankingAlgorithm, RankingRule, Sighting, median, rank, score, shared_directories,
};
use proptest::prelude::*;

const HOUR: i64 = 3_600_000_000;
const HOURS: [u32; 5] = [1, 2, 4, 24, 96];

/// Per commit the half hours since the one before, the author and the result.
fn sightings() -> impl Strategy<Value = Vec<Sighting>> {
    let gap = prop_oneof![3 => Just(0i64), 5 => 1..4i64, 2 => 4..60i64, 1 => 60..300i64];
    let passed = prop_oneof![Just(None), Just(Some(true)), Just(Some(false))];
    prop::collection::vec((gap, 0..4u32, passed), 0..40).prop_map(|rows| {
        let mut time = 17 * HOUR;
        let row = |(gap, author, passed)| {
            time += gap * HOUR / 2;
            Sighting { time, author, passed }
        };
        rows.into_iter().map(row).collect()
    })
}

fn rules() -> Vec<RankingRule> {
    let mut rules = Vec::new();
    for hours in HOURS {
        let window_h = Some(hours);
        for algorithm in [RankingAlgorithm::AffectedCount, RankingAlgorithm::AuthorCount] {
            rules.push(RankingRule { algorithm, window_h, milestone_h: None });
        }
        for milestone in HOURS {
            let algorithm = RankingAlgorithm::TransitionCount;
            rules.push(RankingRule { algorithm, window_h, milestone_h: Some(milestone) });
        }
    }
    rules
}

/// By the definition: looks at every commit, and at every milestone since 1970.
fn naive(rule: &RankingRule, sightings: &[Sighting], now: i64) -> u32 {
    let window = i64::from(rule.window_h.unwrap()) * HOUR;
    let is_inside = |time: i64| now - window < time && time < now;
    let inside = sightings.iter().filter(|sighting| is_inside(sighting.time));
    let result_before =
        |time: i64| sightings.iter().filter(|one| one.time < time).filter_map(|one| one.passed).next_back();
    let count = match rule.algorithm {
        RankingAlgorithm::AffectedCount => inside.count(),
        RankingAlgorithm::AuthorCount => inside.map(|one| one.author).collect::<BTreeSet<_>>().len(),
        RankingAlgorithm::TransitionCount => {
            let every = i64::from(rule.milestone_h.unwrap()) * HOUR;
            let milestones = (1..now / every + 2).map(|number| number * every);
            let is_seen = |at: i64| {
                let (before, after) = (result_before(at - every), result_before(at));
                is_inside(at) && before.is_some() && after != before
            };
            milestones.filter(|&at| is_seen(at)).count()
        }
        RankingAlgorithm::SharedDirectories => unreachable!("it has no window"),
    };
    count as u32
}

fn contenders() -> impl Strategy<Value = Vec<Contender>> {
    let seconds = prop_oneof![1 => Just(None), 4 => (0..2000u32).prop_map(|ms| Some(f64::from(ms) / 1000.0))];
    prop::collection::vec((any::<bool>(), 0..4u32, seconds, 1..4usize), 0..30).prop_map(|rows| {
        let contender = |(number, (comes_first, score, expected_s, lanes))| {
            let id = TestId::new("t", format!("S.T{number}"));
            Contender { id, comes_first, score, expected_s, lanes }
        };
        rows.into_iter().enumerate().map(contender).collect()
    })
}

proptest! {
    #[test]
    fn scores_are_what_their_definitions_say(sightings in sightings(), at in 0..4000i64) {
        for now in [17 * HOUR + at * HOUR / 4, sightings.last().map_or(0, |last| last.time)] {
            for rule in rules() {
                prop_assert_eq!(score(&rule, &sightings, now), naive(&rule, &sightings, now), "{}", rule);
            }
        }
    }

    #[test]
    fn nothing_at_or_after_a_moment_changes_a_score(sightings in sightings(), at in 0..400i64) {
        let now = 17 * HOUR + at * HOUR / 2;
        let before: Vec<Sighting> = sightings.iter().copied().filter(|one| one.time < now).collect();
        for rule in rules() {
            prop_assert_eq!(score(&rule, &sightings, now), score(&rule, &before, now), "{}", rule);
        }
    }

    #[test]
    fn the_order_holds_every_test_once_and_puts_known_trouble_before_all_scores(tests in contenders()) {
        let ranked = rank(tests.clone());
        let ids = |tests: &[Contender]| tests.iter().map(|test| test.id.clone()).collect::<BTreeSet<_>>();
        prop_assert_eq!(ranked.len(), tests.len());
        prop_assert_eq!(ids(&ranked), ids(&tests));
        prop_assert!(ranked.is_sorted_by_key(|test| (!test.comes_first, u32::MAX - test.score)));
        let reversed = tests.into_iter().rev().collect();
        prop_assert_eq!(rank(reversed), ranked, "the order in which tests come in does not matter");
    }

    #[test]
    fn a_budget_keeps_the_longest_beginning_that_fits(tests in contenders(), budget_s in 0.0..20.0f64) {
        let ranked = rank(tests);
        let guess = median(ranked.iter().filter_map(|test| test.expected_s));
        let limit = Limit { budget_s: Some(budget_s), skip_percent: None };
        let kept = limit.kept(&ranked, guess);
        let Some(guess) = guess else {
            prop_assert_eq!(kept, ranked.len());
            return Ok(());
        };
        let cost = |tests: &[Contender]| -> f64 {
            tests.iter().map(|test| test.expected_s.unwrap_or(guess) / test.lanes as f64).sum()
        };
        prop_assert!(cost(&ranked[..kept]) <= budget_s);
        prop_assert!(kept == ranked.len() || cost(&ranked[..=kept]) > budget_s);
    }

    #[test]
    fn a_share_leaves_out_as_many_as_the_simulation_would(tests in contenders(), percent in 0..=100usize) {
        let ranked = rank(tests);
        let limit = Limit { skip_percent: Some(percent as f64), budget_s: None };
        prop_assert_eq!(limit.kept(&ranked, None), ranked.len() - ranked.len() * percent / 100);
    }
}

#[test]
fn the_nearest_modified_file_counts() {
    let scale = f64::from(1u32 << 31);
    for (test, files, expected) in [
        ("a/b/x_test::S.N", &["a/b/x.cc"][..], 0.5),
        ("a/b/x_test::S.N", &["z/y.cc", "a/c/x.cc"], 0.25),
        ("a/b/c/x_test", &["a/b/x.cc"], 0.4),
        ("//a/b:x", &["a/b/x.cc", "q.cc"], 0.5),
        ("x_test::S.N", &["x.cc"], 0.0),
        ("a/x_test", &[], 0.0),
        ("org.demo.ATest", &["app/src/main/java/org/demo/A.java"], 0.5),
        ("app::org.demo.ATest#works", &["app/src/main/java/org/demo/sub/A.java"], 2.0 / 5.0),
        ("org.demo.ATest", &["src/org/other/A.kt"], 1.0 / 4.0),
        ("org.demo.ATest", &["org/demo/readme.txt"], 0.0),
        ("x_test::S.N", &["src/main/java/S/x.java"], 0.5),
    ] {
        let share = f64::from(shared_directories(test, files.iter().copied())) / scale;
        assert!((share - expected).abs() < 1e-9, "{test} {files:?}: {share}");
    }
}
