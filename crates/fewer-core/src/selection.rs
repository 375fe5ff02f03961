//! Selection between two states: which tests are new or differ. The building block of every strategy.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::Digest;
use crate::test_id::TestId;

/// The tests of one state with their fingerprints.
pub type Snapshot = BTreeMap<TestId, Digest>;

/// `tts(old, new)`: the tests of `new` that are not in `old`, or whose fingerprint differs.
pub fn tts(old: &Snapshot, new: &Snapshot) -> BTreeSet<TestId> {
    new.iter()
        .filter(|(test, fingerprint)| old.get(*test) != Some(*fingerprint))
        .map(|(test, _)| test.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tts_is_the_new_tests_and_those_that_differ() {
        let snapshot = |entries: &[(&str, u128)]| -> Snapshot {
            entries.iter().map(|(name, digest)| (TestId::new("t", *name), Digest(*digest))).collect()
        };
        let old = snapshot(&[("same", 1), ("changed", 2), ("removed", 3)]);
        let new = snapshot(&[("same", 1), ("changed", 9), ("added", 3)]);
        let selected: Vec<String> = tts(&old, &new).into_iter().map(|id| id.name).collect();
        assert_eq!(selected, ["added", "changed"]);
        assert!(tts(&new, &new).is_empty());
    }
}
