//! The elements of one state under keys that other states understand: the name, and the place within the group
//! of elements of that name. It compares groups; it decides nothing.

use std::collections::HashMap;

use super::recorded_graph::RecordedGraph;
use super::units::UnitIndex;
use crate::graph::ElementId;

/// Names of several states as dense numbers.
#[derive(Default)]
pub(super) struct NameNumbers<'g> {
    numbers: HashMap<&'g str, u32>,
    pub(super) names: Vec<&'g str>,
}

/// The key of an element: the number of its name and its place within the group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ElementKey(u64);

/// Elements by name, and references by key.
///
/// Members of a group are in the order of their content, then of their units, then of the names they refer to:
/// an order that does not depend on the state. If that does not tell two members apart the group is ambiguous,
/// and a place in it means nothing in another state.
pub(super) struct ElementTable<'g> {
    pub(super) state: &'g RecordedGraph,
    joined: &'g [UnitIndex],
    keys: Vec<ElementKey>,
    /// Per name where its group begins.
    groups: Vec<u32>,
    members: Vec<ElementId>,
    is_ambiguous: Vec<bool>,
    row_starts: Vec<u32>,
    /// References per element, as sorted keys.
    rows: Vec<ElementKey>,
}

impl<'g> NameNumbers<'g> {
    fn number(&mut self, name: &'g str) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            u32::try_from(self.names.len() - 1).expect("at most 2^32 names")
        })
    }

    /// The number of every element's name.
    pub(super) fn of_elements(&mut self, state: &'g RecordedGraph) -> Vec<u32> {
        state.graph.elements().map(|element| self.number(state.graph.name(element))).collect()
    }
}

impl ElementKey {
    fn new(name: u32, place: u32) -> ElementKey {
        ElementKey(u64::from(name) << 32 | u64::from(place))
    }

    pub(super) fn name(self) -> usize {
        (self.0 >> 32) as usize
    }

    pub(super) fn place(self) -> usize {
        (self.0 & u64::from(u32::MAX)) as usize
    }
}

impl<'g> ElementTable<'g> {
    /// `names` are the numbers of the elements' names, out of `name_count`; `joined` tells the units of this
    /// state in the numbers that all states share.
    pub(super) fn new(
        state: &'g RecordedGraph,
        names: &[u32],
        name_count: usize,
        joined: &'g [UnitIndex],
    ) -> ElementTable<'g> {
        let mut table = ElementTable {
            state,
            joined,
            keys: names.iter().map(|&name| ElementKey::new(name, 0)).collect(),
            groups: vec![0; name_count + 1],
            members: vec![ElementId(0); names.len()],
            is_ambiguous: vec![false; name_count],
            row_starts: Vec::with_capacity(names.len() + 1),
            rows: Vec::with_capacity(state.graph.reference_count()),
        };
        table.fill_groups(names);
        for name in 0..name_count {
            if table.group(name).len() > 1 {
                table.order_group(name);
            }
        }
        table.fill_rows();
        table
    }

    /// The elements of a name; none if the state does not have it.
    pub(super) fn group(&self, name: usize) -> &[ElementId] {
        &self.members[self.groups[name] as usize..self.groups[name + 1] as usize]
    }

    pub(super) fn is_ambiguous(&self, name: usize) -> bool {
        self.is_ambiguous[name]
    }

    pub(super) fn key(&self, element: ElementId) -> ElementKey {
        self.keys[element.index()]
    }

    /// What the element refers to, as sorted keys.
    pub(super) fn row(&self, element: ElementId) -> &[ElementKey] {
        let index = element.index();
        &self.rows[self.row_starts[index] as usize..self.row_starts[index + 1] as usize]
    }

    /// The units of an element in the numbers that all states share.
    pub(super) fn units(&self, element: ElementId) -> impl Iterator<Item = UnitIndex> + '_ {
        self.state.units.of(element).iter().map(|&unit| self.joined(unit))
    }

    /// A unit of this state in the numbers that all states share.
    pub(super) fn joined(&self, unit: UnitIndex) -> UnitIndex {
        self.joined[unit.0 as usize]
    }

    /// Whether a name means the same in both states; what is unknown equals nothing.
    pub(super) fn agrees(&self, other: &ElementTable<'_>, name: usize) -> bool {
        let (own, others) = (self.group(name), other.group(name));
        own.len() == others.len()
            && own.iter().zip(others).all(|(&a, &b)| {
                self.state.graph.content(a) == other.state.graph.content(b)
                    && self.row(a) == other.row(b)
                    && (own.len() == 1 || self.sorted_units(a) == other.sorted_units(b))
                    && self.state.unknown(a).is_none()
                    && other.state.unknown(b).is_none()
            })
    }

    /// A counting sort of the elements by name.
    fn fill_groups(&mut self, names: &[u32]) {
        for &name in names {
            self.groups[name as usize + 1] += 1;
        }
        for name in 1..self.groups.len() {
            self.groups[name] += self.groups[name - 1];
        }
        let mut cursor = self.groups.clone();
        for (element, &name) in names.iter().enumerate() {
            let slot = &mut cursor[name as usize];
            self.members[*slot as usize] = ElementId(element as u32);
            *slot += 1;
        }
    }

    fn order_group(&mut self, name: usize) {
        let mut group: Vec<_> = self
            .group(name)
            .iter()
            .map(|&element| {
                let order =
                    (self.state.graph.content(element), self.sorted_units(element), self.names_used(element));
                (order, element)
            })
            .collect();
        group.sort();
        self.is_ambiguous[name] = group.windows(2).any(|pair| pair[0].0 == pair[1].0);
        let start = self.groups[name] as usize;
        for (place, (_, element)) in group.into_iter().enumerate() {
            self.members[start + place] = element;
            self.keys[element.index()] = ElementKey::new(name as u32, place as u32);
        }
    }

    fn fill_rows(&mut self) {
        self.row_starts.push(0);
        for element in self.state.graph.elements() {
            let start = self.rows.len();
            let targets = self.state.graph.references(element);
            self.rows.extend(targets.iter().map(|target| self.keys[target.index()]));
            self.rows[start..].sort_unstable();
            self.row_starts.push(self.rows.len() as u32);
        }
    }

    fn sorted_units(&self, element: ElementId) -> Vec<UnitIndex> {
        let mut units: Vec<UnitIndex> = self.units(element).collect();
        units.sort_unstable();
        units
    }

    fn names_used(&self, element: ElementId) -> Vec<usize> {
        let targets = self.state.graph.references(element);
        let mut names: Vec<usize> = targets.iter().map(|target| self.keys[target.index()].name()).collect();
        names.sort_unstable();
        names
    }
}
