//! The closed form against every order of small commits, and the bounds.

use proptest::prelude::*;

use super::*;
use crate::groups::Grouper;
use crate::label::Label;

/// Every order of the targets in which scores do not fall, and how the selections of each turn out.
fn enumerate(targets: &[(u32, Label)]) -> [Chances; RATES] {
    let mut sums = [[0u64; 3]; RATES];
    let mut orders = 0;
    let mut targets = targets.to_vec();
    permute(&mut targets, 0, &mut |order| {
        if !order.is_sorted_by_key(|target| target.0) {
            return;
        }
        orders += 1;
        for (rate, sums) in sums.iter_mut().enumerate() {
            let (skipped, run) = order.split_at(order.len() * rate / 100);
            let is = |label| move |target: &(u32, Label)| target.1 == label;
            let marked = |target: &(u32, Label)| target.1.is_transition();
            sums[0] += u64::from(!skipped.iter().any(marked));
            sums[1] += u64::from(skipped.iter().any(is(Label::Unsafe)));
            sums[2] += u64::from(order.iter().any(marked) && !run.iter().any(marked));
        }
    });
    sums.map(|[safe, unsafe_skipped, all_skipped]| {
        let [safe, unsafe_skipped, all_skipped] =
            [safe, unsafe_skipped, all_skipped].map(|sum| sum as f64 / orders as f64);
        Chances { safe, unsafe_skipped, all_skipped }
    })
}

fn permute<T: Copy>(items: &mut [T], from: usize, each: &mut impl FnMut(&[T])) {
    if from == items.len() {
        return each(items);
    }
    for at in from..items.len() {
        items.swap(from, at);
        permute(items, from + 1, each);
        items.swap(from, at);
    }
}

fn evaluated() -> impl Strategy<Value = Label> {
    prop_oneof![2 => Just(Label::Safe), 1 => Just(Label::MaybeUnsafe), 1 => Just(Label::Unsafe)]
}

fn groups_of(targets: &[(u32, Label)]) -> (Vec<Group>, Totals) {
    let scores: Vec<u32> = targets.iter().map(|target| target.0).collect();
    let labels: Vec<Label> = targets.iter().map(|target| target.1).collect();
    (Grouper::default().group(&scores, &labels).to_vec(), Totals::of(&labels))
}

fn assert_close(found: &[Chances; RATES], expected: &[Chances; RATES]) {
    for (rate, (found, expected)) in found.iter().zip(expected).enumerate() {
        let pairs = [
            (found.safe, expected.safe),
            (found.unsafe_skipped, expected.unsafe_skipped),
            (found.all_skipped, expected.all_skipped),
        ];
        assert!(pairs.iter().all(|(a, b)| (a - b).abs() < 1e-12), "{rate} %: {found:?}, not {expected:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_closed_form_is_the_mean_over_every_order(
        targets in prop::collection::vec((0..3u32, evaluated()), 1..8),
    ) {
        let (groups, totals) = groups_of(&targets);
        assert_close(&expect(&groups, &totals), &enumerate(&targets));
    }

    #[test]
    fn optimal_and_pessimal_bound_every_order_at_every_rate(
        targets in prop::collection::vec((0..12u32, evaluated()), 1..300),
    ) {
        let (groups, totals) = groups_of(&targets);
        let [worst, one, best] =
            [totals.pessimal(), groups, totals.optimal()].map(|groups| expect(&groups, &totals));
        for ((worst, one), best) in worst.iter().zip(&one).zip(&best) {
            prop_assert!(worst.safe <= one.safe && one.safe <= best.safe);
            prop_assert!(worst.unsafe_skipped >= one.unsafe_skipped && one.unsafe_skipped >= best.unsafe_skipped);
            prop_assert!(worst.all_skipped >= one.all_skipped && one.all_skipped >= best.all_skipped);
        }
    }

    #[test]
    fn many_draws_agree_with_the_expectation_within_their_error(
        targets in prop::collection::vec((0..4u32, evaluated()), 1..60), seed: u64,
    ) {
        const TIMES: u64 = 2000;
        let (groups, totals) = groups_of(&targets);
        let mut sums = [[0.0; 3]; RATES];
        for time in 0..TIMES {
            let drawn = draw(&groups, &totals, &mut Draws::new(&[seed, time]));
            for (sums, one) in sums.iter_mut().zip(drawn) {
                sums[0] += one.safe;
                sums[1] += one.unsafe_skipped;
                sums[2] += one.all_skipped;
            }
        }
        for (sums, exact) in sums.iter().zip(expect(&groups, &totals)) {
            for (sum, chance) in sums.iter().zip([exact.safe, exact.unsafe_skipped, exact.all_skipped]) {
                // Six standard errors, and a little for chances next to 0 or 1.
                let error = 6.0 * (chance * (1.0 - chance) / TIMES as f64).sqrt() + 4.0 / TIMES as f64;
                prop_assert!((sum / TIMES as f64 - chance).abs() <= error, "{} against {chance}", sum / TIMES as f64);
            }
        }
    }
}

#[test]
fn a_random_selection_has_the_published_chance() {
    // 10 targets, 2 of them unsafe, 5 skipped: C(8, 5) / C(10, 5) = 56 / 252.
    let totals = Totals { size: 10, unsafe_ones: 2, maybe_ones: 0 };
    let half = expect(&totals.random(), &totals)[50];
    assert!((half.safe - 56.0 / 252.0).abs() < 1e-15);
    assert!((half.unsafe_skipped - 196.0 / 252.0).abs() < 1e-15);
    // Both skipped: C(8, 3) / C(10, 5).
    assert!((half.all_skipped - 56.0 / 252.0).abs() < 1e-15);
}

#[test]
fn large_commits_neither_underflow_nor_take_long() {
    let totals = Totals { size: 4_000_000, unsafe_ones: 1_000_000, maybe_ones: 500_000 };
    let chances = expect(&totals.random(), &totals);
    assert_eq!((chances[0].safe, chances[1].safe, chances[100].safe), (1.0, 0.0, 0.0));
    assert_eq!((chances[99].all_skipped, chances[100].all_skipped), (0.0, 1.0));
    let one = Totals { size: 4_000_000, unsafe_ones: 1, maybe_ones: 0 };
    assert!((expect(&one.random(), &one)[30].safe - 0.7).abs() < 1e-12);
}
