//! Explanations: what changed between two states, and the shortest path from a test to it. For people; the
//! decision itself rests on fingerprints alone.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, DigestBuilder, Domain};
use crate::graph::{ElementId, Graph, Referrers, TestNode};
use crate::test_id::TestId;

const REFERENCES: Domain = Domain::new("explain.references");
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    Added,
    Modified,
    /// Its own content is as before, but a reference of it now leads elsewhere.
    Rewired,
    Removed,
}

/// An element that differs between two states.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ElementChange {
    pub name: String,
    pub kind: ChangeKind,
}

impl fmt::Display for ElementChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.kind {
            ChangeKind::Added => "was added",
            ChangeKind::Modified => "changed",
            ChangeKind::Rewired => "leads elsewhere",
            ChangeKind::Removed => "was removed",
        };
        write!(f, "{} {verb}", self.name)
    }
}

/// Why a test's fingerprint differs from that of an earlier state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Explanation {
    /// Elements from the test's root to the nearest change, that included.
    pub path: Vec<String>,
    /// What differs: the nearest change first, then every other that the test can reach, as far as they are listed.
    pub changed: Vec<ElementChange>,
    /// How many others are not listed.
    pub changed_left_out: usize,
}

impl Explanation {
    fn of(path: Vec<String>, changed: Vec<ElementChange>) -> Explanation {
        Explanation { path, changed, changed_left_out: 0 }
    }

    /// With no more of the changes than so many.
    pub fn listing(mut self, most: usize) -> Explanation {
        self.changed_left_out += self.changed.len().saturating_sub(most);
        self.changed.truncate(most);
        self
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.changed.split_first() {
            None => write!(f, "what it reaches changed"),
            Some((first, more)) => match more.len() + self.changed_left_out {
                0 => write!(f, "{first}"),
                more => write!(f, "{first}, and {more} more"),
            },
        }
    }
}

/// What differs between two states, with the way from every element to the nearest difference. Computed once in
/// O(elements + references); every test is then explained by following the way.
pub struct ChangeMap<'g> {
    old: &'g Graph,
    new: &'g Graph,
    kinds: Vec<Option<ChangeKind>>,
    /// Per element the distance to the nearest change, and the next element on the way there.
    distance: Vec<u32>,
    next: Vec<u32>,
}

impl<'g> ChangeMap<'g> {
    pub fn between(old: &'g Graph, new: &'g Graph) -> ChangeMap<'g> {
        let kinds = classify(old, new);
        let (distance, next) = ways_to_changes(new, &kinds);
        ChangeMap { old, new, kinds, distance, next }
    }

    /// The elements of the new state that differ, and those that are gone, sorted.
    pub fn changes(&self) -> Vec<ElementChange> {
        let mut changes: Vec<ElementChange> =
            self.new.elements().filter_map(|element| self.change(element)).collect();
        changes.extend(removed(&named(self.old), &named(self.new)));
        changes.sort();
        changes.dedup();
        changes
    }

    /// Why the test differs; `None` where nothing it reaches differs.
    pub fn explain(&self, test: &TestId) -> Option<Explanation> {
        let node = self.new.test(test)?;
        match node.roots.iter().copied().min_by_key(|root| self.distance[root.index()]) {
            Some(root) if self.distance[root.index()] != NONE => Some(self.path_from(root, node)),
            Some(_) | None => self.lost_roots(node),
        }
    }

    fn path_from(&self, root: ElementId, node: &TestNode) -> Explanation {
        let mut path = vec![self.new.name(root).to_string()];
        let mut element = root;
        while self.distance[element.index()] != 0 {
            element = ElementId(self.next[element.index()]);
            path.push(self.new.name(element).to_string());
        }
        let nearest = self.change(element);
        let mut others: BTreeSet<ElementChange> =
            self.new.reachable(&node.roots).into_iter().filter_map(|element| self.change(element)).collect();
        if let Some(nearest) = &nearest {
            others.remove(nearest);
        }
        Explanation::of(path, nearest.into_iter().chain(others).collect())
    }

    /// The elements it reaches are as before, but it no longer starts from all that it started from.
    fn lost_roots(&self, node: &TestNode) -> Option<Explanation> {
        let before = self.old.test(&node.id)?;
        let reach = |graph: &Graph, roots: &[ElementId]| -> HashMap<String, u32> {
            let mut names = HashMap::new();
            for element in graph.reachable(roots) {
                *names.entry(graph.name(element).to_string()).or_insert(0) += 1;
            }
            names
        };
        let changed = removed(&reach(self.old, &before.roots), &reach(self.new, &node.roots));
        if changed.is_empty() {
            return None;
        }
        Some(Explanation::of(Vec::new(), changed))
    }

    fn change(&self, element: ElementId) -> Option<ElementChange> {
        self.kinds[element.index()]
            .map(|kind| ElementChange { name: self.new.name(element).to_string(), kind })
    }
}

/// How often each name occurs.
fn named(graph: &Graph) -> HashMap<String, u32> {
    let mut names = HashMap::new();
    for element in graph.elements() {
        *names.entry(graph.name(element).to_string()).or_insert(0) += 1;
    }
    names
}

fn removed(old: &HashMap<String, u32>, new: &HashMap<String, u32>) -> Vec<ElementChange> {
    let mut gone: Vec<ElementChange> = old
        .iter()
        .filter(|(name, count)| new.get(*name).copied().unwrap_or(0) < **count)
        .map(|(name, _)| ElementChange { name: name.clone(), kind: ChangeKind::Removed })
        .collect();
    gone.sort();
    gone
}

/// What an element is, apart from its name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    content: Digest,
    references: Digest,
}

fn shape(graph: &Graph, element: ElementId, builder: &mut DigestBuilder) -> Shape {
    let mut targets: Vec<Digest> = graph
        .references(element)
        .iter()
        .map(|&target| Digest::of(REFERENCES, graph.name(target).as_bytes()))
        .collect();
    Shape { content: graph.content(element), references: builder.set(&mut targets).finish() }
}

fn classify(old: &Graph, new: &Graph) -> Vec<Option<ChangeKind>> {
    let mut builder = DigestBuilder::new(REFERENCES);
    let mut before: HashMap<&str, Vec<Shape>> = HashMap::with_capacity(old.element_count());
    for element in old.elements() {
        before.entry(old.name(element)).or_default().push(shape(old, element, &mut builder));
    }
    new.elements()
        .map(|element| {
            let Some(shapes) = before.get(new.name(element)) else { return Some(ChangeKind::Added) };
            let shape = shape(new, element, &mut builder);
            if shapes.contains(&shape) {
                None
            } else if shapes.iter().any(|earlier| earlier.content == shape.content) {
                Some(ChangeKind::Rewired)
            } else {
                Some(ChangeKind::Modified)
            }
        })
        .collect()
}

/// A breadth-first walk against the references, from all changes at once.
fn ways_to_changes(graph: &Graph, kinds: &[Option<ChangeKind>]) -> (Vec<u32>, Vec<u32>) {
    let referrers = Referrers::of(graph);
    let mut distance = vec![NONE; graph.element_count()];
    let mut next = vec![NONE; graph.element_count()];
    let mut queue: VecDeque<u32> = VecDeque::new();
    for (index, kind) in kinds.iter().enumerate() {
        if kind.is_some() {
            distance[index] = 0;
            queue.push_back(index as u32);
        }
    }
    while let Some(element) = queue.pop_front() {
        for referrer in referrers.of_element(ElementId(element)) {
            if distance[referrer.index()] == NONE {
                distance[referrer.index()] = distance[element as usize] + 1;
                next[referrer.index()] = element;
                queue.push_back(referrer.0);
            }
        }
    }
    (distance, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Mapping};

    /// Elements `(name, content)`, references by index, and one test starting at `roots`.
    fn graph(elements: &[(&str, u128)], references: &[(usize, usize)], roots: &[usize]) -> Graph {
        let mut builder = GraphBuilder::new();
        let ids: Vec<_> =
            elements.iter().map(|(name, content)| builder.element(name, Digest(*content))).collect();
        for (from, to) in references {
            builder.reference(ids[*from], ids[*to]);
        }
        builder.test(TestNode {
            id: TestId::new("t", "S.N"),
            roots: roots.iter().map(|root| ids[*root]).collect(),
            mapping: Mapping::Mapped,
            disabled: false,
        });
        builder.build()
    }

    fn explain(old: &Graph, new: &Graph) -> Option<Explanation> {
        ChangeMap::between(old, new).explain(&TestId::new("t", "S.N"))
    }

    #[test]
    fn the_path_leads_to_the_nearest_change() {
        let references = [(0, 1), (1, 2), (1, 3)];
        let old = graph(&[("test", 1), ("f", 2), ("g", 3), ("h", 4)], &references, &[0]);
        let new = graph(&[("test", 1), ("f", 2), ("g", 9), ("h", 4)], &references, &[0]);
        let explanation = explain(&old, &new).unwrap();
        assert_eq!(explanation.path, ["test", "f", "g"]);
        assert_eq!(explanation.changed, [ElementChange { name: "g".into(), kind: ChangeKind::Modified }]);
        assert_eq!(explain(&old, &old), None);
    }

    #[test]
    fn an_added_element_and_the_reference_to_it_are_both_named() {
        let old = graph(&[("test", 1)], &[], &[0]);
        let new = graph(&[("test", 1), ("f", 2)], &[(0, 1)], &[0]);
        let explanation = explain(&old, &new).unwrap();
        assert_eq!(explanation.path, ["test"]);
        assert_eq!(explanation.changed[0].kind, ChangeKind::Rewired);
        assert_eq!(explanation.changed[1], ElementChange { name: "f".into(), kind: ChangeKind::Added });
    }

    #[test]
    fn what_is_not_listed_is_counted() {
        let change = |name: &str| ElementChange { name: name.into(), kind: ChangeKind::Modified };
        let explanation = Explanation::of(Vec::new(), vec![change("a"), change("b"), change("c")]);
        let whole = explanation.to_string();
        let listed = explanation.listing(1);
        assert_eq!((&listed.changed, listed.changed_left_out), (&vec![change("a")], 2));
        assert_eq!((listed.to_string(), whole.as_str()), (whole.clone(), "a changed, and 2 more"));
    }

    #[test]
    fn a_lost_root_is_named() {
        let old = graph(&[("test", 1), ("generator", 2)], &[], &[0, 1]);
        let new = graph(&[("test", 1)], &[], &[0]);
        let explanation = explain(&old, &new).unwrap();
        assert_eq!(
            explanation.changed,
            [ElementChange { name: "generator".into(), kind: ChangeKind::Removed }]
        );
        assert_eq!(explanation.to_string(), "generator was removed");
    }

    #[test]
    fn changes_out_of_reach_explain_nothing() {
        let old = graph(&[("test", 1), ("far", 2)], &[], &[0]);
        let new = graph(&[("test", 1), ("far", 3)], &[], &[0]);
        assert_eq!(explain(&old, &new), None);
        assert_eq!(ChangeMap::between(&old, &new).changes().len(), 1);
    }
}
