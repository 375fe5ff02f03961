//! A reduced suite at a later revision: tests that are gone are gone from it too, tests that are new are in it.

use std::collections::BTreeSet;

use crate::test_id::TestId;

/// `E(i, i')` with what became of the tests since. Tests are known by name: a renamed one counts as new, so it runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evolved {
    /// All tests of the evolved reduced suite.
    pub suite: BTreeSet<TestId>,
    /// Those of them that the full suite did not have when it was reduced.
    pub added: BTreeSet<TestId>,
    /// Kept then, no longer in the full suite.
    pub removed: BTreeSet<TestId>,
    /// In the full suite, but made redundant by the reduction.
    pub left_out: BTreeSet<TestId>,
}

/// `E(i, i') = (R_i intersect O_i') union (O_i' without O_i)`.
pub fn evolve(reduced: &BTreeSet<TestId>, full: &BTreeSet<TestId>, later: &BTreeSet<TestId>) -> Evolved {
    let added: BTreeSet<TestId> = later.difference(full).cloned().collect();
    let suite: BTreeSet<TestId> = reduced.intersection(later).chain(&added).cloned().collect();
    let left_out = later.difference(&suite).cloned().collect();
    Evolved { removed: reduced.difference(later).cloned().collect(), suite, added, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &str) -> BTreeSet<TestId> {
        names.split_whitespace().map(|name| TestId::new("t", name)).collect()
    }

    #[test]
    fn added_tests_come_in_removed_ones_go_and_renamed_ones_count_as_added() {
        // a and c were kept, b and d were redundant; c was removed, d renamed to e, f added.
        let evolved = evolve(&set("a c"), &set("a b c d"), &set("a b e f"));
        assert_eq!(evolved.suite, set("a e f"));
        assert_eq!((evolved.added, evolved.removed), (set("e f"), set("c")));
        assert_eq!(evolved.left_out, set("b"));
    }

    #[test]
    fn without_changes_it_is_the_reduced_suite() {
        let evolved = evolve(&set("a"), &set("a b"), &set("a b"));
        assert_eq!(evolved.suite, set("a"));
        assert!(evolved.added.is_empty() && evolved.removed.is_empty());
    }
}
