//! Fingerprints: the hash of everything an element or a test can reach, for all of them in one pass.
//! The graph is condensed into strongly connected components, which are hashed bottom-up.

use crate::digest::{Digest, DigestBuilder, Domain};
use crate::graph::{ElementId, Graph, TestNode};
use crate::selection::Snapshot;

const MEMBER: Domain = Domain::new("fingerprint.member");
const COMPONENT: Domain = Domain::new("fingerprint.component");
const TEST: Domain = Domain::new("fingerprint.test");

/// An element that the walk has not met yet.
const UNVISITED: u32 = 0;
/// An element whose component is complete: larger than every visiting number, so it lowers nothing.
const CLOSED: u32 = u32::MAX;
/// The fingerprint of an element whose component is not complete yet.
const OPEN: Digest = Digest(0);

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

    /// How many strongly connected components there are.
    pub fn component_count(&self) -> usize {
        self.components
    }
}

/// Tarjan's algorithm with an explicit stack, so that long chains cost heap, not stack.
struct Condensation<'g> {
    graph: &'g Graph,
    /// When the walk met an element; `CLOSED` once its component is complete.
    order: Vec<u32>,
    low: Vec<u32>,
    fingerprints: Vec<Digest>,
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

/// An element whose references are being followed, and the next of them.
struct Frame {
    element: ElementId,
    next: usize,
}

impl<'g> Condensation<'g> {
    fn new(graph: &'g Graph) -> Condensation<'g> {
        let count = graph.element_count();
        Condensation {
            graph,
            order: vec![UNVISITED; count],
            low: vec![0; count],
            fingerprints: vec![OPEN; count],
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

    fn run(mut self) -> Fingerprints {
        let mut frames: Vec<Frame> = Vec::new();
        for start in self.graph.elements() {
            if self.order[start.index()] == UNVISITED {
                frames.push(self.enter(start));
                self.follow(&mut frames);
            }
        }
        Fingerprints { elements: self.fingerprints, components: self.components }
    }

    fn enter(&mut self, element: ElementId) -> Frame {
        self.clock += 1;
        self.order[element.index()] = self.clock;
        self.low[element.index()] = self.clock;
        self.open.push(element);
        Frame { element, next: 0 }
    }

    fn follow(&mut self, frames: &mut Vec<Frame>) {
        while let Some(frame) = frames.last_mut() {
            let element = frame.element;
            match self.graph.references(element).get(frame.next) {
                Some(&target) => {
                    frame.next += 1;
                    match self.order[target.index()] {
                        UNVISITED => {
                            let entered = self.enter(target);
                            frames.push(entered);
                        }
                        met => self.lower(element, met),
                    }
                }
                None => {
                    frames.pop();
                    if self.low[element.index()] == self.order[element.index()] {
                        self.close(element);
                    } else if let Some(parent) = frames.last() {
                        let low = self.low[element.index()];
                        self.lower(parent.element, low);
                    }
                }
            }
        }
    }

    fn lower(&mut self, element: ElementId, bound: u32) {
        let low = &mut self.low[element.index()];
        *low = (*low).min(bound);
    }

    /// `head` is the first element of its component: everything opened since belongs to it.
    fn close(&mut self, head: ElementId) {
        self.components += 1;
        if self.open.last() == Some(&head) {
            self.open.pop();
            self.order[head.index()] = CLOSED;
            self.fingerprints[head.index()] = self.member_digest(head);
            return;
        }
        let first = self.open.iter().rposition(|&element| element == head).expect("the head is open");
        let members = self.open.split_off(first);
        let mut digests = std::mem::take(&mut self.hashing.members);
        digests.clear();
        digests.extend(members.iter().map(|&member| self.member_digest(member)));
        let component = self.hashing.component.set(&mut digests).finish();
        self.hashing.members = digests;
        for &member in &members {
            self.order[member.index()] = CLOSED;
            self.fingerprints[member.index()] =
                self.hashing.component.digest(component).digest(self.graph.content(member)).finish();
        }
    }

    /// A member's own content, what it reaches outside its component, and which members it refers to.
    fn member_digest(&mut self, member: ElementId) -> Digest {
        let Hashing { member: builder, outside, inside, .. } = &mut self.hashing;
        outside.clear();
        inside.clear();
        for &target in self.graph.references(member) {
            match self.fingerprints[target.index()] {
                OPEN => inside.push(self.graph.content(target)),
                complete => outside.push(complete),
            }
        }
        builder.digest(self.graph.content(member)).set(outside).set(inside).finish()
    }
}
