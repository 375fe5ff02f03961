//! Fingerprints against brute-force reachability on random graphs, and on shapes that break naive algorithms.

use std::collections::{BTreeMap, BTreeSet};

use fewer_core::{
    Before, Digest, ElementId, Fingerprints, Graph, GraphBuilder, Mapping, TestId, TestNode, tts,
};
use proptest::prelude::*;

/// A graph as plain data: contents by element, and edges. Contents tell elements apart, as the graph demands.
#[derive(Clone, Debug)]
struct Sketch {
    contents: Vec<u64>,
    edges: Vec<(usize, usize)>,
}

impl Sketch {
    /// Builds the graph with elements and edges added in the given orders; test `i` starts at element `i`.
    fn build(&self, order: &[usize], reverse_edges: bool) -> Graph {
        let mut builder = GraphBuilder::new();
        let mut ids = vec![ElementId(0); self.contents.len()];
        for &index in order {
            let content = (index as u128) << 64 | self.contents[index] as u128;
            ids[index] = builder.element(&format!("e{index}"), Digest(content));
        }
        let add =
            |builder: &mut GraphBuilder, (from, to): &(usize, usize)| builder.reference(ids[*from], ids[*to]);
        if reverse_edges {
            self.edges.iter().rev().for_each(|edge| add(&mut builder, edge));
        } else {
            self.edges.iter().for_each(|edge| add(&mut builder, edge));
        }
        for (index, id) in ids.iter().enumerate() {
            builder.test(TestNode {
                id: TestId::new("t", format!("{index:03}")),
                roots: vec![*id],
                mapping: Mapping::Mapped,
                disabled: false,
            });
        }
        builder.build()
    }

    fn fingerprints(&self) -> BTreeMap<TestId, Digest> {
        let order: Vec<usize> = (0..self.contents.len()).collect();
        let graph = self.build(&order, false);
        Fingerprints::compute(&graph).snapshot(&graph)
    }

    /// Everything an element reaches, with content and references: what its fingerprint must stand for.
    fn reach(&self, start: usize) -> BTreeSet<(usize, u64, BTreeSet<usize>)> {
        let successors = |element: usize| -> BTreeSet<usize> {
            self.edges.iter().filter(|(from, _)| *from == element).map(|(_, to)| *to).collect()
        };
        let mut seen = BTreeSet::from([start]);
        let mut stack = vec![start];
        while let Some(element) = stack.pop() {
            for next in successors(element) {
                if seen.insert(next) {
                    stack.push(next);
                }
            }
        }
        seen.into_iter().map(|element| (element, self.contents[element], successors(element))).collect()
    }
}

fn sketches() -> impl Strategy<Value = Sketch> {
    (1usize..24).prop_flat_map(|count| {
        let contents = prop::collection::vec(0u64..4, count);
        let edges = prop::collection::vec((0..count, 0..count), 0..count * 3);
        (contents, edges).prop_map(|(contents, edges)| Sketch { contents, edges })
    })
}

/// A sketch and a small change of it: contents altered, edges added or removed.
fn changed_sketches() -> impl Strategy<Value = (Sketch, Sketch)> {
    sketches().prop_flat_map(|sketch| {
        let count = sketch.contents.len();
        let contents = prop::collection::vec((0..count, 0u64..4), 0..3);
        let added = prop::collection::vec((0..count, 0..count), 0..3);
        let removed = prop::collection::vec(any::<prop::sample::Index>(), 0..3);
        (Just(sketch), contents, added, removed).prop_map(|(old, contents, added, removed)| {
            let mut new = old.clone();
            contents.into_iter().for_each(|(element, content)| new.contents[element] = content);
            for index in removed {
                if !new.edges.is_empty() {
                    let index = index.index(new.edges.len());
                    new.edges.swap_remove(index);
                }
            }
            new.edges.extend(added);
            (old, new)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_fingerprint_does_not_depend_on_the_order_of_input(
        (sketch, order) in sketches().prop_flat_map(|sketch| {
            let order: Vec<usize> = (0..sketch.contents.len()).collect();
            (Just(sketch), Just(order).prop_shuffle())
        })
    ) {
        let graph = sketch.build(&order, true);
        prop_assert_eq!(Fingerprints::compute(&graph).snapshot(&graph), sketch.fingerprints());
    }

    #[test]
    fn renewed_fingerprints_are_those_computed_from_scratch(
        (old, new, added) in changed_sketches().prop_flat_map(|(old, new)| {
            let count = old.contents.len() + 3;
            let added = prop::collection::vec((old.contents.len()..count, 0..count), 0..6);
            (Just(old), Just(new), added)
        })
    ) {
        let order: Vec<usize> = (0..old.contents.len() + 3).collect();
        let before = old.build(&order[..old.contents.len()], false);
        let contents: Vec<[u8; 16]> =
            before.elements().map(|element| before.content(element).to_bytes()).collect();
        let fingerprints: Vec<[u8; 16]> =
            Fingerprints::compute(&before).elements().iter().map(|digest| digest.to_bytes()).collect();
        // Other contents, and elements behind the old ones that refer to anything; what is there refers to what it did.
        let mut next = Sketch { contents: new.contents, edges: old.edges };
        next.contents.extend([0, 1, 2]);
        next.edges.extend(added);
        let graph = next.build(&order, false);
        let known = Before { contents: &contents, fingerprints: &fingerprints };
        let (renewed, computed) = (Fingerprints::renewed(&graph, known), Fingerprints::compute(&graph));
        prop_assert_eq!(renewed.elements(), computed.elements());
    }

    #[test]
    fn a_fingerprint_changes_if_and_only_if_something_reachable_changed((old, new) in changed_sketches()) {
        let selected = tts(&old.fingerprints(), &new.fingerprints());
        for start in 0..new.contents.len() {
            let differs = old.reach(start) != new.reach(start);
            let is_selected = selected.contains(&TestId::new("t", format!("{start:03}")));
            prop_assert_eq!(differs, is_selected, "element {}", start);
        }
    }
}

/// The fingerprints of a graph of `count` elements whose last element's content is `last`.
fn shaped(count: usize, last: u64, edge: impl Fn(usize) -> Option<usize>) -> (Graph, Fingerprints) {
    let mut builder = GraphBuilder::with_capacity(count, count);
    for index in 0..count {
        let content = if index == count - 1 { last } else { 0 };
        builder.element("e", Digest((index as u128) << 64 | content as u128));
    }
    for index in 0..count {
        if let Some(to) = edge(index) {
            builder.reference(ElementId(index as u32), ElementId(to as u32));
        }
    }
    let graph = builder.build();
    let fingerprints = Fingerprints::compute(&graph);
    (graph, fingerprints)
}

#[test]
fn a_chain_of_a_million_elements_is_followed_to_its_end() {
    const COUNT: usize = 1_000_000;
    let chain = |index: usize| (index + 1 < COUNT).then_some(index + 1);
    let (_, one) = shaped(COUNT, 1, chain);
    let (_, two) = shaped(COUNT, 2, chain);
    assert_eq!(one.component_count(), COUNT);
    assert_ne!(one.element(ElementId(0)), two.element(ElementId(0)));
}

#[test]
fn a_ring_of_a_million_elements_is_one_component() {
    const COUNT: usize = 1_000_000;
    let ring = |index: usize| Some((index + 1) % COUNT);
    let (_, one) = shaped(COUNT, 1, ring);
    let (_, two) = shaped(COUNT, 2, ring);
    assert_eq!(one.component_count(), 1);
    assert_ne!(one.element(ElementId(0)), two.element(ElementId(0)));
}

#[test]
fn a_self_loop_is_seen() {
    let (_, without) = shaped(1, 0, |_| None);
    let (_, with) = shaped(1, 0, Some);
    assert_ne!(without.element(ElementId(0)), with.element(ElementId(0)));
}

#[test]
fn swapping_what_two_members_of_a_cycle_refer_to_is_seen() {
    // 0 <-> 1, with 2 and 3 hanging off one of them each.
    let sketch = |hang: [(usize, usize); 2]| Sketch {
        contents: vec![0; 4],
        edges: [(0, 1), (1, 0)].into_iter().chain(hang).collect(),
    };
    let (one, two) = (sketch([(0, 2), (1, 3)]), sketch([(0, 3), (1, 2)]));
    assert_ne!(one.fingerprints(), two.fingerprints());
}
