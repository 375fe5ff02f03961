//! Why fingerprints differ: the graph of the state a test last had an outcome in, compared with the graph at
//! hand. For people; nothing is decided by it.

use std::collections::BTreeMap;

use fewer_core::{ChangeKind, ChangeMap, ElementChange, Explanation, Graph, Plan, Reason, TestId};
use fewer_store::{StateId, Store};
use rayon::prelude::*;

use crate::circumstances;
use crate::record::recorded_graph;

/// How many earlier states are built again for one explanation of a whole plan.
const STATES: usize = 4;

/// With which state the graph at hand is compared.
#[derive(Clone, Copy)]
pub enum Since<'s> {
    /// Per test the state of its last outcome.
    LastOutcome,
    /// The newest state before this run recorded its own; `None` if there was none.
    State(Option<StateId>),
    /// Per test the state of its last outcome before this run.
    Before(&'s BTreeMap<TestId, StateId>),
}

/// How many changes are listed per test where a whole plan is explained: thousands of tests may reach thousands each.
pub const LISTED: usize = 10;

/// Fills in, for the changed tests that are `wanted`, the path to the change, and so many of the changes.
pub fn explain(
    store: &Store,
    graph: &Graph,
    plan: &mut Plan,
    since: Since<'_>,
    most: usize,
    wanted: impl Fn(&TestId) -> bool,
) {
    let mut by_state: BTreeMap<StateId, Vec<usize>> = BTreeMap::new();
    for (index, test) in plan.tests.iter().enumerate() {
        if !matches!(test.reason, Reason::Changed { .. }) || !wanted(&test.id) {
            continue;
        }
        let state = match since {
            Since::LastOutcome => store.state_of_last_outcome(&test.id).ok().flatten(),
            Since::State(state) => state,
            Since::Before(states) => states.get(&test.id).copied(),
        };
        if let Some(state) = state {
            by_state.entry(state).or_default().push(index);
        }
    }
    let mut states: Vec<(StateId, Vec<usize>)> = by_state.into_iter().collect();
    states.sort_by_key(|(state, tests)| (std::cmp::Reverse(tests.len()), *state));
    for (state, tests) in states.into_iter().take(STATES) {
        let Some(old) = recorded_graph(store, state) else { continue };
        let changes = ChangeMap::between(&old, graph);
        let explanations: Vec<(usize, Explanation)> = tests
            .into_par_iter()
            .filter_map(|index| {
                Some((index, explanation(&changes, &plan.tests[index].id, since)?.listing(most)))
            })
            .collect();
        for (index, explanation) in explanations {
            if let Reason::Changed { because, .. } = &mut plan.tests[index].reason {
                *because = Some(explanation);
            }
        }
    }
}

/// Where nothing that the test reaches differs from its last outcome, only the way it is started can. Another state may
/// have held the change already, without a run of the test.
fn explanation(changes: &ChangeMap<'_>, test: &TestId, since: Since<'_>) -> Option<Explanation> {
    let circumstances = || Explanation {
        path: Vec::new(),
        changed: vec![ElementChange { name: circumstances::NAME.to_string(), kind: ChangeKind::Modified }],
        changed_left_out: 0,
    };
    changes.explain(test).or_else(|| match since {
        Since::LastOutcome | Since::Before(_) => Some(circumstances()),
        Since::State(_) => None,
    })
}
