//! Several programs and shards at a time.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use fewer_core::outcome::Verdict;
use fewer_core::test_id::TestId;
use fewer_runners::googletest::{SelectedTest, Selection, plan_shards};
use fewer_runners::{Event, Job, run};

use crate::fixture::{behaving, options, other};

#[test]
fn programs_with_the_same_test_names_are_told_apart() {
    let tests = vec![SelectedTest::new("Plain.Passes", None), SelectedTest::new("Plain.Fails", None)];
    let selections = vec![Selection::new(behaving(""), tests.clone()), Selection::new(other(), tests)];
    let options = options();
    let jobs = plan_shards(selections, options.workers).into_iter().map(Job::Shard).collect();
    let mut verdicts = Vec::new();
    run(jobs, &options, &mut |event| {
        if let Event::TestFinished(result) = event {
            verdicts.push((result.test.to_string(), result.outcome.verdict));
        }
    });
    verdicts.sort();
    let expected = [
        ("unit/behaviours::Plain.Fails", Verdict::Failed),
        ("unit/behaviours::Plain.Passes", Verdict::Passed),
        ("unit/other::Plain.Fails", Verdict::Passed),
        ("unit/other::Plain.Passes", Verdict::Passed),
    ];
    assert_eq!(verdicts, expected.map(|(id, verdict)| (id.to_string(), verdict)));
}

#[test]
fn shards_of_one_program_run_side_by_side_and_cover_all_tests() {
    let expected = |i: usize| Some(Duration::from_millis(if i.is_multiple_of(7) { 400 } else { 10 }));
    let tests: Vec<SelectedTest> =
        (0..400).map(|i| SelectedTest::new(format!("ManyRegisteredTests.number_{i}"), expected(i))).collect();
    let names: BTreeSet<TestId> =
        tests.iter().map(|test| TestId::new("unit/behaviours", &test.name)).collect();
    let selection = Selection::new(behaving("20000 tests"), tests);
    let shards = plan_shards(vec![selection], NonZeroUsize::new(4).unwrap());
    assert!(shards.len() >= 8, "{} shards", shards.len());
    let mut passed = BTreeSet::new();
    let end = run(shards.into_iter().map(Job::Shard).collect(), &options(), &mut |event| {
        if let Event::TestFinished(result) = event {
            assert!(passed.insert(result.test));
        }
    });
    assert!(end.success());
    assert_eq!(passed, names);
}
