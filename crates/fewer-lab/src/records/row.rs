//! What one record says in a few bits, as the engine carries it: the result, the state before the commit, and the
//! label once it is known. The words of files are told here too, as they stand for the same.

use serde::Serialize;

use crate::label::{Label, Outcome};

/// What testing before the commit said of a target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum PreSubmit {
    Unknown = 0,
    Skipped = 1,
    NoTransition = 2,
    NotAffected = 3,
    Transition = 4,
}

impl PreSubmit {
    pub const ALL: [PreSubmit; 5] = [
        PreSubmit::Unknown,
        PreSubmit::Skipped,
        PreSubmit::NoTransition,
        PreSubmit::NotAffected,
        PreSubmit::Transition,
    ];

    /// As in records.
    pub fn word(self) -> &'static str {
        match self {
            PreSubmit::Unknown => "unknown",
            PreSubmit::Skipped => "skipped",
            PreSubmit::NoTransition => "no-transition",
            PreSubmit::NotAffected => "not-affected",
            PreSubmit::Transition => "transition",
        }
    }
}

/// The three, packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowState(pub u8);

impl RowState {
    pub fn new(outcome: Outcome, pre_submit: PreSubmit) -> RowState {
        RowState(outcome as u8 | (pre_submit as u8) << 2)
    }

    pub fn outcome(self) -> Outcome {
        match self.0 & 3 {
            1 => Outcome::Pass,
            2 => Outcome::Fail,
            _ => Outcome::NotRun,
        }
    }

    pub fn pre_submit(self) -> PreSubmit {
        match (self.0 >> 2) & 7 {
            1 => PreSubmit::Skipped,
            2 => PreSubmit::NoTransition,
            3 => PreSubmit::NotAffected,
            4 => PreSubmit::Transition,
            _ => PreSubmit::Unknown,
        }
    }

    pub fn label(self) -> Label {
        Label::ALL[usize::from(self.0 >> 5).min(4)]
    }

    #[must_use]
    pub fn with_outcome(self, outcome: Outcome) -> RowState {
        RowState(self.0 & !3 | outcome as u8)
    }

    #[must_use]
    pub fn with_label(self, label: Label) -> RowState {
        RowState(self.0 & 31 | (label as u8) << 5)
    }
}

/// Executions of one target at one commit are one row: the last known result counts, and what was known before the
/// commit of either.
pub(crate) fn merge_rerun(first: RowState, again: RowState) -> RowState {
    let outcome = if again.outcome().is_known() { again.outcome() } else { first.outcome() };
    let pre_submit = match again.pre_submit() {
        PreSubmit::Unknown => first.pre_submit(),
        known @ (PreSubmit::Skipped
        | PreSubmit::NoTransition
        | PreSubmit::NotAffected
        | PreSubmit::Transition) => known,
    };
    RowState::new(outcome, pre_submit)
}

/// A commit's position and a row's state in one number; the order is that of positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedRow(pub i64);

impl PackedRow {
    pub fn new(position: u32, state: RowState) -> PackedRow {
        PackedRow(i64::from(position) << 8 | i64::from(state.0))
    }

    pub fn position(self) -> u32 {
        (self.0 >> 8) as u32
    }

    pub fn state(self) -> RowState {
        RowState(self.0 as u8)
    }

    #[must_use]
    pub fn with_state(self, state: RowState) -> PackedRow {
        PackedRow(self.0 & !0xff | i64::from(state.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_row_gives_back_what_was_put_in() {
        for outcome in Outcome::ALL {
            for pre_submit in PreSubmit::ALL {
                for label in Label::ALL {
                    let state = RowState::new(outcome, pre_submit).with_label(label);
                    let packed = PackedRow::new(u32::MAX, state);
                    assert_eq!(packed.position(), u32::MAX);
                    let found = packed.state();
                    assert_eq!(
                        (found.outcome(), found.pre_submit(), found.label()),
                        (outcome, pre_submit, label)
                    );
                    assert_eq!(found.with_outcome(Outcome::Fail).outcome(), Outcome::Fail);
                }
            }
        }
    }
}
