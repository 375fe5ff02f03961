//! Results of a target over its affecting commits, and the safety label that each of these commits gets: the
//! first half of what defines correctness here. Pure; where rows come from and go to is told elsewhere.

use serde::{Deserialize, Serialize};

/// What is known of a target at a commit that affects it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Outcome {
    NotRun = 0,
    Pass = 1,
    Fail = 2,
}

impl Outcome {
    pub const ALL: [Outcome; 3] = [Outcome::NotRun, Outcome::Pass, Outcome::Fail];

    /// As in records.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::NotRun => "not-run",
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
        }
    }

    pub fn is_known(self) -> bool {
        self != Outcome::NotRun
    }
}

/// Whether skipping the target at a commit would have missed a transition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Label {
    Safe = 0,
    MaybeUnsafe = 1,
    Unsafe = 2,
    /// Excluded: nothing is known of the target before.
    NoEarlierResult = 3,
    /// Excluded: not run, nor at any later commit.
    AfterLastResult = 4,
}

impl Label {
    pub const ALL: [Label; 5] =
        [Label::Safe, Label::MaybeUnsafe, Label::Unsafe, Label::NoEarlierResult, Label::AfterLastResult];

    /// As in files of labels.
    pub fn word(self) -> &'static str {
        match self {
            Label::Safe => "safe",
            Label::MaybeUnsafe => "maybe-unsafe",
            Label::Unsafe => "unsafe",
            Label::NoEarlierResult => "no-earlier-result",
            Label::AfterLastResult => "after-last-result",
        }
    }

    /// Takes no part in the evaluation.
    pub fn is_excluded(self) -> bool {
        match self {
            Label::NoEarlierResult | Label::AfterLastResult => true,
            Label::Safe | Label::MaybeUnsafe | Label::Unsafe => false,
        }
    }

    /// Makes its commit a transition commit.
    pub fn is_transition(self) -> bool {
        match self {
            Label::MaybeUnsafe | Label::Unsafe => true,
            Label::Safe | Label::NoEarlierResult | Label::AfterLastResult => false,
        }
    }
}

/// Labels one target's rows, which are in commit order.
pub fn label(outcomes: &[Outcome], labels: &mut [Label]) {
    assert_eq!(outcomes.len(), labels.len(), "a label per row");
    let mut previous = None;
    // Where the rows start that wait for the next known result.
    let mut open = 0;
    for (at, &outcome) in outcomes.iter().enumerate() {
        match (outcome, previous) {
            (Outcome::NotRun, Some(_)) => {}
            (Outcome::NotRun, None) => {
                labels[at] = Label::NoEarlierResult;
                open = at + 1;
            }
            (Outcome::Pass | Outcome::Fail, None) => {
                labels[at] = Label::NoEarlierResult;
                (previous, open) = (Some(outcome), at + 1);
            }
            (Outcome::Pass | Outcome::Fail, Some(before)) => {
                let label = match (before == outcome, open == at) {
                    (true, _) => Label::Safe,
                    (false, true) => Label::Unsafe,
                    (false, false) => Label::MaybeUnsafe,
                };
                labels[open..=at].fill(label);
                (previous, open) = (Some(outcome), at + 1);
            }
        }
    }
    labels[open..].fill(Label::AfterLastResult);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels_of(sequence: &str) -> Vec<Label> {
        let outcomes: Vec<Outcome> = sequence
            .chars()
            .map(|result| match result {
                'P' => Outcome::Pass,
                'F' => Outcome::Fail,
                _ => Outcome::NotRun,
            })
            .collect();
        let mut labels = vec![Label::Safe; outcomes.len()];
        label(&outcomes, &mut labels);
        labels
    }

    #[track_caller]
    fn check(sequence: &str, expected: &str) {
        let letters: String = labels_of(sequence)
            .into_iter()
            .map(|label| match label {
                Label::Safe => 's',
                Label::MaybeUnsafe => 'm',
                Label::Unsafe => 'u',
                Label::NoEarlierResult => 'x',
                Label::AfterLastResult => 'z',
            })
            .collect();
        assert_eq!(letters, expected, "{sequence}");
    }

    #[test]
    fn the_published_sequence_is_labelled_as_published() {
        check("PPF-F-P", "xsussmm");
    }

    #[test]
    fn rows_before_the_first_and_after_the_last_result_are_excluded() {
        check("--P-P--", "xxxsszz");
        check("----", "xxxx");
        check("F", "x");
        check("", "");
    }

    #[test]
    fn several_rows_between_different_results_are_all_maybe_unsafe() {
        check("P---F--FF-P", "xmmmmssssmm");
    }

    #[test]
    fn a_transition_with_nothing_between_is_unsafe_both_ways() {
        check("PFPF", "xuuu");
    }
}
