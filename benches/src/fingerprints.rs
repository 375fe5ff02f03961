//! Fingerprinting a large random graph against one plain traversal of the same graph.
//! Two shapes, because they cost differently: layers without cycles, where every element is a component, and
//! a fully random graph, where nearly all elements are one component.

use std::time::Duration;

use clap::ValueEnum;
use fewer_core::{Digest, Domain, ElementId, Fingerprints, Graph, GraphBuilder};
use serde::{Deserialize, Serialize};

use crate::measure;
use crate::random::Random;

const CONTENT: Domain = Domain::new("bench.content");
const SEED: u64 = 0x5eed;
const LAYERS: usize = 100;

/// How the references of the graph are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Only from a layer into one of the next four.
    Layered,
    /// From anywhere to anywhere.
    Random,
}

/// CPU times of the same number of traversals and fingerprintings of one graph, taken in turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Samples {
    pub shape: Shape,
    pub elements: usize,
    pub references: usize,
    pub components: usize,
    pub traversal: Vec<Duration>,
    pub fingerprints: Vec<Duration>,
}

/// Measures one shape `repeats` times, after one round that only warms up.
pub fn sample(shape: Shape, elements: usize, references: usize, repeats: usize) -> Samples {
    let graph = graph(shape, elements, references);
    let mut samples = Samples {
        shape,
        elements: graph.element_count(),
        references: graph.reference_count(),
        components: 0,
        traversal: Vec::new(),
        fingerprints: Vec::new(),
    };
    for round in 0..=repeats {
        let (traversal, visited) = measure::closure(|| traverse(&graph));
        assert_eq!(visited, Visited { elements: samples.elements, references: samples.references });
        let (fingerprints, computed) = measure::closure(|| Fingerprints::compute(&graph));
        samples.components = computed.component_count();
        if round > 0 {
            samples.traversal.push(traversal);
            samples.fingerprints.push(fingerprints);
        }
    }
    samples
}

/// What a traversal met; also keeps the compiler from dropping the traversal.
#[derive(Debug, PartialEq, Eq, Default)]
struct Visited {
    elements: usize,
    references: usize,
}

/// Depth first from every element not met before, each reference followed once. It keeps no more than a stack of
/// elements met but not yet left: the leanest traversal there is, not one shaped like the fingerprints' own walk.
fn traverse(graph: &Graph) -> Visited {
    let mut seen = vec![false; graph.element_count()];
    let mut visited = Visited::default();
    let mut stack: Vec<ElementId> = Vec::new();
    for start in graph.elements() {
        if !std::mem::replace(&mut seen[start.index()], true) {
            stack.push(start);
        }
        while let Some(element) = stack.pop() {
            visited.elements += 1;
            for &target in graph.references(element) {
                visited.references += 1;
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push(target);
                }
            }
        }
    }
    visited
}

fn graph(shape: Shape, elements: usize, references: usize) -> Graph {
    let mut random = Random::new(SEED);
    let mut builder = GraphBuilder::with_capacity(elements, references);
    for index in 0..elements as u64 {
        builder.element("", Digest::of(CONTENT, &index.to_le_bytes()));
    }
    for _ in 0..references {
        let (from, to) = match shape {
            Shape::Layered => layered_reference(&mut random, elements),
            Shape::Random => (random.below(elements), random.below(elements)),
        };
        builder.reference(ElementId(from as u32), ElementId(to as u32));
    }
    builder.build()
}

fn layered_reference(random: &mut Random, elements: usize) -> (usize, usize) {
    let width = elements / LAYERS;
    let from = random.below(elements - width);
    let first_below = (from / width + 1) * width;
    let end = (first_below + 4 * width).min(elements);
    (from, random.between(first_below, end - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_no_cycle() {
        let samples = sample(Shape::Layered, 2_000, 20_000, 1);
        assert_eq!(samples.components, samples.elements);
        assert!(samples.references > 18_000, "{samples:?}");
    }

    #[test]
    fn a_random_graph_is_mostly_one_component() {
        let samples = sample(Shape::Random, 2_000, 20_000, 1);
        assert!(samples.components < 20, "{samples:?}");
    }
}
