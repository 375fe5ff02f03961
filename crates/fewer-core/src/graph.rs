//! The graph of one built or parsed state: elements with their content and references, and the tests with the
//! elements they start from. Compact (dense `u32` ids, one edge array) and immutable once built.
//! Where elements come from and what their content covers is the analysers' business.

use std::sync::Arc;

use crate::digest::Digest;
use crate::lazy::Lazy;
use crate::test_id::TestId;

/// A dense index into the elements of one graph; meaningless in any other graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ElementId(pub u32);

impl ElementId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether the analyser knows what a test starts from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mapping {
    Mapped,
    /// The test exists but nothing in the graph stands for it, so it always runs.
    Unmapped {
        cause: String,
    },
}

/// A test and where its reach begins.
#[derive(Clone, Debug)]
pub struct TestNode {
    pub id: TestId,
    pub roots: Vec<ElementId>,
    pub mapping: Mapping,
    /// The framework lists the test but does not run it (GoogleTest's `DISABLED_`).
    pub disabled: bool,
}

/// All elements of one state, and its tests sorted by id.
///
/// An element's content digest must cover everything that tells it from other elements and how its references
/// are used (a reference's label and place, for object files), not only its bytes.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    names: Lazy<Names>,
    contents: Vec<Digest>,
    offsets: Vec<u32>,
    targets: Vec<ElementId>,
    tests: Vec<TestNode>,
}

impl Graph {
    pub fn element_count(&self) -> usize {
        self.contents.len()
    }

    pub fn reference_count(&self) -> usize {
        self.targets.len()
    }

    pub fn elements(&self) -> impl Iterator<Item = ElementId> + use<> {
        (0..self.contents.len() as u32).map(ElementId)
    }

    /// The name by which people and other states know the element; not necessarily unique.
    pub fn name(&self, element: ElementId) -> &str {
        self.names.get(element.index())
    }

    pub fn content(&self, element: ElementId) -> Digest {
        self.contents[element.index()]
    }

    /// What the element refers to, sorted, without repetitions.
    pub fn references(&self, element: ElementId) -> &[ElementId] {
        let index = element.index();
        &self.targets[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    pub fn tests(&self) -> &[TestNode] {
        &self.tests
    }

    pub fn test(&self, id: &TestId) -> Option<&TestNode> {
        self.tests.binary_search_by(|test| test.id.cmp(id)).ok().map(|index| &self.tests[index])
    }

    /// The same elements with other tests: listing tests needs the startup fingerprint, which needs the graph.
    pub fn with_tests(mut self, mut tests: Vec<TestNode>) -> Graph {
        tests.sort_by(|a, b| a.id.cmp(&b.id));
        self.tests = tests;
        self
    }

    /// Every element reachable from `roots`, roots included, in breadth-first order.
    pub fn reachable(&self, roots: &[ElementId]) -> Vec<ElementId> {
        let mut seen = vec![false; self.element_count()];
        let mut order: Vec<ElementId> = Vec::new();
        let visit = |element: ElementId, seen: &mut Vec<bool>, order: &mut Vec<ElementId>| {
            if !std::mem::replace(&mut seen[element.index()], true) {
                order.push(element);
            }
        };
        for &root in roots {
            visit(root, &mut seen, &mut order);
        }
        let mut next = 0;
        while let Some(&element) = order.get(next) {
            next += 1;
            for &target in self.references(element) {
                visit(target, &mut seen, &mut order);
            }
        }
        order
    }
}

/// Collects elements, references and tests in any order.
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    names: Names,
    contents: Vec<Digest>,
    references: Vec<(ElementId, ElementId)>,
    tests: Vec<TestNode>,
}

impl GraphBuilder {
    pub fn new() -> GraphBuilder {
        GraphBuilder::default()
    }

    pub fn with_capacity(elements: usize, references: usize) -> GraphBuilder {
        GraphBuilder {
            names: Names { text: String::new(), ends: Vec::with_capacity(elements) },
            contents: Vec::with_capacity(elements),
            references: Vec::with_capacity(references),
            tests: Vec::new(),
        }
    }

    /// Adds an element; ids are given in order, starting at 0.
    pub fn element(&mut self, name: &str, content: Digest) -> ElementId {
        self.names.push(name);
        self.contents.push(content);
        ElementId(u32::try_from(self.contents.len() - 1).expect("at most 2^32 elements"))
    }

    pub fn element_count(&self) -> usize {
        self.contents.len()
    }

    /// Both ends must exist when the graph is built; repetitions are welcome.
    pub fn reference(&mut self, from: ElementId, to: ElementId) {
        self.references.push((from, to));
    }

    pub fn test(&mut self, test: TestNode) {
        self.tests.push(test);
    }

    pub fn build(self) -> Graph {
        let GraphBuilder { names, contents, references, tests } = self;
        let (offsets, targets) = compress(contents.len(), &references);
        Graph { names: names.into(), contents, offsets, targets, tests: Vec::new() }.with_tests(tests)
    }
}

/// A graph whose references are known element by element.
#[derive(Clone, PartialEq, Debug)]
pub struct Rows {
    /// Where each element's references begin, and where the last one's end.
    offsets: Vec<u32>,
    targets: Vec<ElementId>,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows::with_capacity(0, 0)
    }
}

impl Rows {
    pub fn with_capacity(elements: usize, references: usize) -> Rows {
        let mut rows = Rows { offsets: Vec::with_capacity(elements + 1), targets: Vec::new() };
        rows.targets.reserve(references);
        rows.offsets.push(0);
        rows
    }

    /// Adds the references of the next element, in any order.
    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        let start = self.targets.len();
        self.targets.extend(row.into_iter().map(ElementId));
        let row = &mut self.targets[start..];
        if !row.is_sorted_by(|a, b| a < b) {
            row.sort_unstable();
            let unique = start + dedup(row);
            self.targets.truncate(unique);
        }
        self.offsets.push(self.targets.len() as u32);
    }
    /// So many references of each element, one element after the other; `None` if these are not all, or not sorted.
    pub fn of_counts(counts: &[u32], targets: Vec<u32>) -> Option<Rows> {
        let mut rows = Rows::with_capacity(counts.len(), 0);
        let targets: Vec<ElementId> = targets.into_iter().map(ElementId).collect();
        let mut end = 0;
        for &count in counts {
            let start = end;
            end += count as usize;
            if !targets.get(start..end)?.is_sorted_by(|a, b| a < b) {
                return None;
            }
            rows.offsets.push(u32::try_from(end).ok()?);
        }
        (end == targets.len()).then_some(Rows { targets, ..rows })
    }

    pub fn element_count(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn reference_count(&self) -> usize {
        self.targets.len()
    }

    /// Per element its references, sorted and without repetitions.
    pub fn iter(&self) -> impl Iterator<Item = &[ElementId]> {
        self.offsets.windows(2).map(|ends| &self.targets[ends[0] as usize..ends[1] as usize])
    }

    /// The graph of these rows. Names are made when somebody asks for one: all of them, one per element.
    pub fn into_graph(
        self,
        contents: Vec<Digest>,
        names: impl FnOnce() -> Vec<String> + Send + 'static,
    ) -> Graph {
        assert_eq!(self.offsets.len(), contents.len() + 1, "one row per element");
        let is_known = |target: &ElementId| target.index() < contents.len();
        assert!(self.targets.iter().all(is_known), "a reference to an element that was never added");
        let names = Lazy::new(move || {
            let mut made = Names::default();
            names().iter().for_each(|name| made.push(name));
            Arc::new(made)
        });
        Graph { names, contents, offsets: self.offsets, targets: self.targets, tests: Vec::new() }
    }
}

/// The references of a graph, backwards: who refers to an element.
#[derive(Clone, Debug)]
pub struct Referrers {
    offsets: Vec<u32>,
    sources: Vec<ElementId>,
}

impl Referrers {
    pub fn of(graph: &Graph) -> Referrers {
        // Counted two places on: where the sources of an element begin is then counted up, one place on, to where they
        // end, which is where those of the next begin.
        let mut offsets = vec![0u32; graph.element_count() + 2];
        for target in &graph.targets {
            offsets[target.index() + 2] += 1;
        }
        for index in 2..offsets.len() {
            offsets[index] += offsets[index - 1];
        }
        let mut sources = vec![ElementId(0); graph.reference_count()];
        for element in graph.elements() {
            for target in graph.references(element) {
                let next = &mut offsets[target.index() + 1];
                sources[*next as usize] = element;
                *next += 1;
            }
        }
        Referrers { offsets, sources }
    }

    /// Sorted, without repetitions.
    pub fn of_element(&self, element: ElementId) -> &[ElementId] {
        let index = element.index();
        &self.sources[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }
}

/// Moves each of a sorted list to its front once; gives how many they are.
fn dedup(sorted: &mut [ElementId]) -> usize {
    let mut kept = 0;
    for index in 0..sorted.len() {
        if kept == 0 || sorted[kept - 1] != sorted[index] {
            sorted[kept] = sorted[index];
            kept += 1;
        }
    }
    kept
}

/// Edge pairs to one array of targets with an offset per source: a counting sort, then each row sorted and
/// freed of repetitions.
fn compress(elements: usize, references: &[(ElementId, ElementId)]) -> (Vec<u32>, Vec<ElementId>) {
    let mut ends = vec![0u32; elements + 1];
    for (from, to) in references {
        assert!(to.index() < elements, "a reference to an element that was never added");
        ends[from.index() + 1] += 1;
    }
    for index in 0..elements {
        ends[index + 1] += ends[index];
    }
    let mut cursor = ends.clone();
    let mut targets = vec![ElementId(0); references.len()];
    for (from, to) in references {
        let slot = &mut cursor[from.index()];
        targets[*slot as usize] = *to;
        *slot += 1;
    }
    let mut offsets = Vec::with_capacity(elements + 1);
    offsets.push(0);
    let mut kept = 0usize;
    for index in 0..elements {
        let (start, end) = (ends[index] as usize, ends[index + 1] as usize);
        let row = &mut targets[start..end];
        row.sort_unstable();
        let unique = dedup(row);
        targets.copy_within(start..start + unique, kept);
        kept += unique;
        offsets.push(kept as u32);
    }
    targets.truncate(kept);
    targets.shrink_to_fit();
    (offsets, targets)
}

/// Many short strings in one allocation.
#[derive(Clone, Debug, Default)]
struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_of_counts_are_those_pushed_and_anything_else_is_refused() {
        let mut pushed = Rows::default();
        [&[1, 2][..], &[], &[0]].into_iter().for_each(|row| pushed.push(row.iter().copied()));
        assert_eq!(Rows::of_counts(&[2, 0, 1], vec![1, 2, 0]), Some(pushed));
        for (counts, targets) in
            [(&[2, 0][..], vec![1, 2, 0]), (&[4], vec![1]), (&[2], vec![2, 1]), (&[2], vec![1, 1])]
        {
            assert_eq!(Rows::of_counts(counts, targets.clone()), None, "{counts:?} {targets:?}");
        }
    }

    #[test]
    fn references_are_sorted_and_unique_whatever_the_order_they_came_in() {
        let mut builder = GraphBuilder::new();
        let ids: Vec<_> = (0..3).map(|i| builder.element(&format!("e{i}"), Digest(i))).collect();
        for (from, to) in [(0, 2), (0, 1), (2, 2), (0, 2)] {
            builder.reference(ids[from], ids[to]);
        }
        let graph = builder.build();
        assert_eq!(graph.references(ids[0]), &[ids[1], ids[2]]);
        assert_eq!(graph.references(ids[1]), &[]);
        assert_eq!(graph.references(ids[2]), &[ids[2]]);
        assert_eq!(graph.name(ids[1]), "e1");
        let referrers = Referrers::of(&graph);
        assert_eq!(referrers.of_element(ids[2]), &[ids[0], ids[2]]);
        assert_eq!(referrers.of_element(ids[0]), &[]);
    }

    #[test]
    fn reachable_follows_cycles_once() {
        let mut builder = GraphBuilder::new();
        let ids: Vec<_> = (0..4).map(|i| builder.element("e", Digest(i))).collect();
        for (from, to) in [(0, 1), (1, 0), (1, 2)] {
            builder.reference(ids[from], ids[to]);
        }
        assert_eq!(builder.build().reachable(&[ids[1]]), vec![ids[1], ids[0], ids[2]]);
    }

    proptest! {
        #[test]
        fn rows_and_single_references_make_the_same_graph_whatever_repeats(
            wanted in prop::collection::vec(prop::collection::vec(0u32..12, 0..9), 12)
        ) {
            let mut builder = GraphBuilder::new();
            let mut rows = Rows::with_capacity(wanted.len(), 0);
            for (element, row) in wanted.iter().enumerate() {
                builder.element(&format!("e{element}"), Digest(element as u128));
                rows.push(row.iter().copied());
            }
            for (from, row) in (0..).zip(&wanted) {
                row.iter().for_each(|&to| builder.reference(ElementId(from), ElementId(to)));
            }
            let built = builder.build();
            let names = || (0..12).map(|element| format!("e{element}")).collect();
            let graph = rows.into_graph((0..12).map(Digest).collect(), names);
            for (element, row) in graph.elements().zip(wanted) {
                let expected: BTreeSet<ElementId> = row.into_iter().map(ElementId).collect();
                prop_assert_eq!(graph.references(element), expected.into_iter().collect::<Vec<_>>());
                prop_assert_eq!(graph.references(element), built.references(element));
                prop_assert_eq!(graph.name(element), built.name(element));
                prop_assert_eq!(graph.content(element), built.content(element));
            }
        }
    }
}
