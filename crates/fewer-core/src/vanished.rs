//! Tests that earlier states had and the state at hand has not. Which earlier states count, and what is gone on purpose,
//! is told elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::selection::Snapshot;
use crate::test_id::TestId;

/// What is gone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Vanished {
    /// Every test that is gone.
    pub tests: BTreeSet<TestId>,
    /// The targets that have no test any more, each with the number of its tests that are gone.
    pub targets: BTreeMap<String, usize>,
}

impl Vanished {
    /// What some earlier state had, but for what is gone on purpose.
    pub fn since(earlier: &[Snapshot], now: &Snapshot, is_on_purpose: impl Fn(&TestId) -> bool) -> Vanished {
        let there: BTreeSet<&str> = now.keys().map(|id| id.target.as_str()).collect();
        let mut vanished = Vanished::default();
        for id in earlier.iter().flat_map(Snapshot::keys) {
            if !now.contains_key(id) && !is_on_purpose(id) {
                vanished.tests.insert(id.clone());
            }
        }
        for id in &vanished.tests {
            if !there.contains(id.target.as_str()) {
                *vanished.targets.entry(id.target.clone()).or_default() += 1;
            }
        }
        vanished
    }

    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    fn snapshot(ids: &[&str]) -> Snapshot {
        ids.iter().map(|id| (id.parse().unwrap(), Digest(1))).collect()
    }

    fn shown(earlier: &[&[&str]], now: &[&str], on_purpose: &[&str]) -> (Vec<String>, Vec<(String, usize)>) {
        let earlier: Vec<Snapshot> = earlier.iter().map(|ids| snapshot(ids)).collect();
        let is_on_purpose = |id: &TestId| on_purpose.contains(&id.to_string().as_str());
        let vanished = Vanished::since(&earlier, &snapshot(now), is_on_purpose);
        (vanished.tests.iter().map(TestId::to_string).collect(), vanished.targets.into_iter().collect())
    }

    #[test]
    fn nothing_has_vanished_from_a_state_that_only_gained_tests() {
        assert_eq!(shown(&[&["a::1"]], &["a::1", "b::1"], &[]), (vec![], vec![]));
        assert_eq!(shown(&[], &[], &[]), (vec![], vec![]));
    }

    #[test]
    fn a_test_of_a_target_that_has_others_has_vanished_without_its_target() {
        assert_eq!(shown(&[&["a::1", "a::2"]], &["a::1", "a::3"], &[]), (vec!["a::2".to_string()], vec![]));
    }

    #[test]
    fn a_target_without_any_test_has_vanished() {
        let (tests, targets) = shown(&[&["a::1", "b::1", "b::2"]], &["a::1"], &[]);
        assert_eq!(tests, ["b::1", "b::2"]);
        assert_eq!(targets, [("b".to_string(), 2)]);
    }

    #[test]
    fn what_any_earlier_state_had_counts_once() {
        let (tests, targets) = shown(&[&["a::1", "b::1"], &["b::1", "c::1"]], &["a::1"], &[]);
        assert_eq!(tests, ["b::1", "c::1"]);
        assert_eq!(targets, [("b".to_string(), 1), ("c".to_string(), 1)]);
    }

    #[test]
    fn what_is_gone_on_purpose_does_not_count() {
        assert_eq!(shown(&[&["a::1", "b::1"]], &["a::1"], &["b::1"]), (vec![], vec![]));
        let (tests, targets) = shown(&[&["b::1", "b::2"]], &["a::1"], &["b::1"]);
        assert_eq!((tests, targets), (vec!["b::2".to_string()], vec![("b".to_string(), 1)]));
    }
}
