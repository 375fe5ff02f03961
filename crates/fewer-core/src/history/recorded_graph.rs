//! The graph of a recorded state with the units its elements come from, or the merge of several such graphs, in
//! which some elements and tests are unknown. How they are merged is `graph_merge`'s business.

use std::collections::BTreeMap;
use std::fmt;

use super::units::{UnitIndex, Units};
use crate::graph::{ElementId, Graph};
use crate::test_id::TestId;

/// A state's elements and tests, and what they were compiled from.
#[derive(Clone, Debug, Default)]
pub struct RecordedGraph {
    pub(super) graph: Graph,
    pub(super) units: Units,
    /// By element; empty if all are known, as in every state that was analysed.
    pub(super) unknown: Vec<Option<UnknownCause>>,
    /// Tests that are not simply those of the base.
    pub(super) standings: BTreeMap<TestId, Standing>,
}

/// Why nobody knows what an element of a merged graph will be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnknownCause {
    ChangedOnBothSides,
    /// One side deleted it, the other changed it.
    DeletedAndChanged,
    /// It refers to an element that the other side deleted.
    RefersToDeleted,
    /// The merge bases do not agree on it, nor do the sides.
    BaseUnknown,
    /// It comes from a unit whose inputs both sides touched.
    UntriedUnit(UnitIndex),
}

/// How a test came into a merged graph, unless it was in the base and is clear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The base did not have it.
    Added,
    Doubtful(TestDoubt),
}

/// Why nobody knows what a test of a merged graph starts from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TestDoubt {
    ChangedOnBothSides,
    DeletedAndChanged,
    /// The other side deleted an element that the test starts from.
    RootDeleted,
}

impl RecordedGraph {
    pub fn new(graph: Graph, units: Units) -> RecordedGraph {
        RecordedGraph { graph, units, unknown: Vec::new(), standings: BTreeMap::new() }
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    pub fn units(&self) -> &Units {
        &self.units
    }

    pub fn unknown(&self, element: ElementId) -> Option<UnknownCause> {
        self.unknown.get(element.index()).copied().flatten()
    }

    pub fn unknown_count(&self) -> usize {
        self.unknown.iter().flatten().count()
    }

    pub fn standing(&self, test: &TestId) -> Option<Standing> {
        self.standings.get(test).copied()
    }

    /// The cause in words, with the name of the unit.
    pub fn describe(&self, cause: UnknownCause) -> String {
        match cause {
            UnknownCause::ChangedOnBothSides => "both sides changed it".to_string(),
            UnknownCause::DeletedAndChanged => "one side deleted it and the other changed it".to_string(),
            UnknownCause::RefersToDeleted => "it uses something that the other side deleted".to_string(),
            UnknownCause::BaseUnknown => "it differs and has several merge bases".to_string(),
            UnknownCause::UntriedUnit(unit) => {
                format!("both sides changed files that {} is compiled from", self.units.unit(unit).name)
            }
        }
    }
}

impl fmt::Display for TestDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TestDoubt::ChangedOnBothSides => "both sides changed the test",
            TestDoubt::DeletedAndChanged => "one side deleted the test and the other changed it",
            TestDoubt::RootDeleted => "the other side deleted what the test starts from",
        })
    }
}
