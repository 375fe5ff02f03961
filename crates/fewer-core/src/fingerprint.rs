//! Fingerprints: the hash of everything an element or a test can reach, for all of them in one pass.
//! The graph is condensed into strongly connected components, which are hashed bottom-up.

use crate::digest::{Digest, DigestBuilder, Domain};
use crate::graph::{ElementId, Graph, Referrers, TestNode};
use crate::selection::Snapshot;

const MEMBER: Domain = Domain::new("fingerprint.member");
const COMPONENT: Domain = Domain::new("fingerprint.component");
const TEST: Domain = Domain::new("fingerprint.test");

/// An element that the walk has not met yet.
const UNVISITED: u32 = 0;
/// An element whose component is complete: larger than every visiting number, so it lowers nothing.
const CLOSED: u32 = u32::MAX;

/// The fingerprint of every element of one graph.
#[derive(Clone, Debug)]
pub struct Fingerprints {
    elements: Vec<Digest>,
    components: usize,
}

impl Fingerprints {
    /// O(elements + references) plus the sorting of each element's few successor digests.
    pub fn compute(graph: &Graph) -> Fingerprints {
        Condensation::new(graph).run()
    }

    /// Those of a graph of which an older state is known: only what reaches an element that is new, or has another
    /// content, is hashed again.
    pub fn renewed(graph: &Graph, before: Before<'_>) -> Fingerprints {
        let mut condensation = Condensation::new(graph);
        condensation.close_unaffected(before);
        condensation.run()
    }

    pub fn element(&self, element: ElementId) -> Digest {
        self.elements[element.index()]
    }

    /// The fingerprint of everything reachable from several roots together.
    pub fn roots(&self, roots: &[ElementId]) -> Digest {
        let mut digests: Vec<Digest> = roots.iter().map(|&root| self.element(root)).collect();
        DigestBuilder::new(TEST).set(&mut digests).finish()
    }

    pub fn test(&self, test: &TestNode) -> Digest {
        self.roots(&test.roots)
    }

    /// The fingerprints of all tests of the graph.
    pub fn snapshot(&self, graph: &Graph) -> Snapshot {
        graph.tests().iter().map(|test| (test.id.clone(), self.test(test))).collect()
    }

    /// The fingerprints of all elements, in their order.
    pub fn elements(&self) -> &[Digest] {
        &self.elements
    }

    /// How many strongly connected components there are; of renewed ones, how many were hashed again.
    pub fn component_count(&self) -> usize {
        self.components
    }
}

/// An older state of a graph, whose first elements are the same with the same references.
#[derive(Clone, Copy, Debug)]
pub struct Before<'b> {
    /// Per element, in the portable form.
    pub contents: &'b [[u8; 16]],
    pub fingerprints: &'b [[u8; 16]],
}

/// Tarjan's algorithm with an explicit stack, so that long chains cost heap, not stack.
struct Condensation<'g> {
    graph: &'g Graph,
    /// When the walk met an element; `CLOSED` once its component is complete.
    order: Vec<u32>,
    /// An element's content while its component is open, its fingerprint afterwards.
    digests: Vec<Digest>,
    components: usize,
    open: Vec<ElementId>,
    clock: u32,
    hashing: Hashing,
}

/// Buffers that every component's hash reuses.
struct Hashing {
    member: DigestBuilder,
    component: DigestBuilder,
    outside: Vec<Digest>,
    inside: Vec<Digest>,
    members: Vec<Digest>,
}

/// An element whose references are being followed, and the rest of them.
struct Frame<'g> {
    element: ElementId,
    order: u32,
    low: u32,
    rest: std::slice::Iter<'g, ElementId>,
}

impl<'g> Condensation<'g> {
    fn new(graph: &'g Graph) -> Condensation<'g> {
        let count = graph.element_count();
        Condensation {
            graph,
            order: vec![UNVISITED; count],
            digests: graph.elements().map(|element| graph.content(element)).collect(),
            components: 0,
            open: Vec::new(),
            clock: UNVISITED,
            hashing: Hashing {
                member: DigestBuilder::new(MEMBER),
                component: DigestBuilder::new(COMPONENT),
                outside: Vec::new(),
                inside: Vec::new(),
                members: Vec::new(),
            },
        }
    }

    /// Takes the fingerprints of elements that reach nothing new as they were.
    fn close_unaffected(&mut self, before: Before<'_>) {
        let is_new = |element: &ElementId| {
            before.contents.get(element.index()) != Some(&self.graph.content(*element).to_bytes())
        };
        let referrers = Referrers::of(self.graph);
        let mut is_affected = vec![false; self.graph.element_count()];
        let mut affected: Vec<ElementId> = self.graph.elements().filter(is_new).collect();
        affected.iter().for_each(|element| is_affected[element.index()] = true);
        while let Some(element) = affected.pop() {
            for referrer in referrers.of_element(element) {
                if !std::mem::replace(&mut is_affected[referrer.index()], true) {
                    affected.push(*referrer);
                }
            }
        }
        for ((digest, order), (is_affected, known)) in
            self.digests.iter_mut().zip(&mut self.order).zip(is_affected.iter().zip(before.fingerprints))
        {
            if !is_affected {
                (*digest, *order) = (Digest::from_bytes(*known), CLOSED);
            }
        }
    }

    fn run(mut self) -> Fingerprints {
        let mut frames: Vec<Frame> = Vec::new();
        for start in self.graph.elements() {
            if self.order[start.index()] == UNVISITED {
                let frame = self.enter(start);
                self.follow(frame, &mut frames);
            }
        }
        Fingerprints { elements: self.digests, components: self.components }
    }

    fn enter(&mut self, element: ElementId) -> Frame<'g> {
        self.clock += 1;
        self.order[element.index()] = self.clock;
        self.open.push(element);
        Frame { element, order: self.clock, low: self.clock, rest: self.graph.references(element).iter() }
    }

    fn follow(&mut self, mut frame: Frame<'g>, frames: &mut Vec<Frame<'g>>) {
        loop {
            let unmet = loop {
                let Some(&target) = frame.rest.next() else { break None };
                match self.order[target.index()] {
                    UNVISITED => break Some(target),
                    met => frame.low = frame.low.min(met),
                }
            };
            if let Some(target) = unmet {
                let entered = self.enter(target);
                frames.push(std::mem::replace(&mut frame, entered));
                continue;
            }
            let low = if frame.low == frame.order {
                self.close(frame.element);
                CLOSED
            } else {
                frame.low
            };
            let Some(parent) = frames.pop() else { return };
            frame = parent;
            frame.low = frame.low.min(low);
        }
    }

    /// `head` is the first element of its component: everything opened since belongs to it.
    fn close(&mut self, head: ElementId) {
        self.components += 1;
        if self.open.last() == Some(&head) {
            self.open.pop();
            self.digests[head.index()] = self.member_digest(head, |_, target| target == head);
            self.order[head.index()] = CLOSED;
            return;
        }
        let first = self.open.iter().rposition(|&element| element == head).expect("the head is open");
        let mut members = self.open.split_off(first);
        // In the order of the graph, so that the rows of a large component are read one after the other.
        members.sort_unstable();
        let mut digests = std::mem::take(&mut self.hashing.members);
        digests.clear();
        digests.extend(
            members
                .iter()
                .map(|&member| self.member_digest(member, |order, target| order[target.index()] != CLOSED)),
        );
        let component = self.hashing.component.set(&mut digests).finish();
        self.hashing.members = digests;
        for &member in &members {
            self.order[member.index()] = CLOSED;
            self.digests[member.index()] =
                self.hashing.component.digest(component).digest(self.graph.content(member)).finish();
        }
    }

    /// A member's own content, what it reaches outside its component, and which members it refers to.
    fn member_digest(&mut self, member: ElementId, is_inside: impl Fn(&[u32], ElementId) -> bool) -> Digest {
        let Hashing { member: builder, outside, inside, .. } = &mut self.hashing;
        outside.clear();
        inside.clear();
        for &target in self.graph.references(member) {
            let digest = self.digests[target.index()];
            if is_inside(&self.order, target) { inside.push(digest) } else { outside.push(digest) }
        }
        builder.digest(self.digests[member.index()]).set(outside).set(inside).finish()
    }
}
