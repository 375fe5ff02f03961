//! The three-way merge of recorded graphs: per element what git does per line of text. Elements of which nobody
//! can know what they will be become unknown, with the cause. Which states to merge is `predict`'s business.

use std::collections::BTreeMap;

use super::element_table::{ElementKey, ElementTable, NameNumbers};
use super::recorded_graph::{RecordedGraph, Standing, TestDoubt, UnknownCause};
use super::units::{ChangedPaths, JoinedUnits, UnitIndex, UnitsBuilder};
use crate::digest::{Digest, DigestBuilder, Domain};
use crate::graph::{ElementId, GraphBuilder, Mapping, TestNode};
use crate::test_id::TestId;

const UNKNOWN: Domain = Domain::new("history.unknown");

/// Merges two states that come from a common one.
///
/// `changed_ours` and `changed_theirs` are the paths that differ between the base and each side; for a base that
/// is itself a merge, those that differ from any of the merged states.
pub fn merge_graphs(
    base: &RecordedGraph,
    ours: &RecordedGraph,
    theirs: &RecordedGraph,
    changed_ours: &ChangedPaths,
    changed_theirs: &ChangedPaths,
) -> RecordedGraph {
    let units = [&ours.units, &theirs.units, &base.units];
    let JoinedUnits { builder, joined, is_untried } = JoinedUnits::new(units, changed_ours, changed_theirs);
    let mut names = NameNumbers::default();
    let numbers = [ours, theirs, base].map(|state| names.of_elements(state));
    let count = names.names.len();
    let table =
        |side: Side, state| ElementTable::new(state, &numbers[side as usize], count, &joined[side as usize]);
    let tables = [table(Side::Ours, ours), table(Side::Theirs, theirs), table(Side::Base, base)];
    Merge::new(&names.names, &tables, &is_untried).build(builder)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Ours = 0,
    Theirs = 1,
    Base = 2,
}

const SIDES: [Side; 3] = [Side::Ours, Side::Theirs, Side::Base];

/// The states in which something is as it is in the merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Origin(u8);

impl Origin {
    fn of(sides: &[Side]) -> Origin {
        Origin(sides.iter().fold(0, |bits, &side| bits | 1 << side as u8))
    }

    fn meets(self, other: Origin) -> bool {
        self.0 & other.0 != 0
    }
}

/// What becomes of a name, or of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict<Doubt> {
    Absent,
    Taken {
        from: Side,
        origin: Origin,
    },
    /// Only the references differ, of an element that no unit has: they are merged as a set.
    Gathered,
    Unknown(Doubt),
}

/// How two states compare.
#[derive(Clone, Copy)]
struct Comparison {
    sides_agree: bool,
    ours_is_base: bool,
    theirs_is_base: bool,
}

impl Comparison {
    fn verdict<Doubt>(self, is_absent: impl Fn(Side) -> bool, doubt: Doubt) -> Verdict<Doubt> {
        let (from, origin) = match (self.sides_agree, self.ours_is_base, self.theirs_is_base) {
            (true, true, _) => (Side::Ours, Origin::of(&SIDES)),
            (true, false, _) => (Side::Ours, Origin::of(&[Side::Ours, Side::Theirs])),
            (false, true, _) => (Side::Theirs, Origin::of(&[Side::Theirs])),
            (false, false, true) => (Side::Ours, Origin::of(&[Side::Ours])),
            (false, false, false) => return Verdict::Unknown(doubt),
        };
        if is_absent(from) { Verdict::Absent } else { Verdict::Taken { from, origin } }
    }
}

struct Merge<'m, 'g> {
    names: &'m [&'g str],
    tables: &'m [ElementTable<'g>; 3],
    verdicts: Vec<Verdict<UnknownCause>>,
    /// Per name the first merged element of it.
    first: Vec<u32>,
}

impl<'m, 'g> Merge<'m, 'g> {
    fn new(names: &'m [&'g str], tables: &'m [ElementTable<'g>; 3], is_untried: &[bool]) -> Merge<'m, 'g> {
        let mut merge =
            Merge { names, tables, verdicts: Vec::new(), first: Vec::with_capacity(names.len() + 1) };
        merge.verdicts = (0..names.len()).map(|name| merge.judge(name, is_untried)).collect();
        let mut next = 0u32;
        for name in 0..names.len() {
            merge.first.push(next);
            next += match merge.verdicts[name] {
                Verdict::Absent => 0,
                Verdict::Taken { from, .. } => merge.table(from).group(name).len() as u32,
                Verdict::Gathered | Verdict::Unknown(_) => 1,
            };
        }
        merge.first.push(next);
        merge
    }

    fn table(&self, side: Side) -> &'m ElementTable<'g> {
        &self.tables[side as usize]
    }

    fn judge(&self, name: usize, is_untried: &[bool]) -> Verdict<UnknownCause> {
        let [ours, theirs, base] = self.tables;
        let comparison = Comparison {
            sides_agree: ours.agrees(theirs, name),
            ours_is_base: ours.agrees(base, name),
            theirs_is_base: theirs.agrees(base, name),
        };
        let is_absent = |side| self.table(side).group(name).is_empty();
        let is_deleted = !is_absent(Side::Base) && (is_absent(Side::Ours) || is_absent(Side::Theirs));
        let is_base_unknown = base.group(name).iter().any(|&member| base.state.unknown(member).is_some());
        let doubt = match (is_base_unknown, is_deleted) {
            (true, _) => UnknownCause::BaseUnknown,
            (false, true) => UnknownCause::DeletedAndChanged,
            (false, false) => UnknownCause::ChangedOnBothSides,
        };
        let verdict = comparison.verdict(is_absent, doubt);
        match verdict {
            Verdict::Absent => Verdict::Absent,
            Verdict::Unknown(_) if self.is_gathering(name) => Verdict::Gathered,
            Verdict::Taken { .. } | Verdict::Gathered | Verdict::Unknown(_) => {
                let untried = self.units(name).find(|unit| is_untried[unit.0 as usize]);
                untried.map_or(verdict, |unit| Verdict::Unknown(UnknownCause::UntriedUnit(unit)))
            }
        }
    }

    /// Whether the name is in all three states one known element of the same content that no unit has: a
    /// collection, such as all data files. What each side added and removed is then independent.
    fn is_gathering(&self, name: usize) -> bool {
        let single = |table: &ElementTable<'g>| match table.group(name) {
            &[element] if table.state.unknown(element).is_none() => Some(table.state.graph.content(element)),
            _ => None,
        };
        let [ours, theirs, base] = self.tables.each_ref().map(single);
        ours.is_some() && ours == theirs && ours == base && self.units(name).next().is_none()
    }

    /// The units that a name has in any state.
    fn units(&self, name: usize) -> impl Iterator<Item = UnitIndex> + '_ {
        self.tables
            .iter()
            .flat_map(move |table| table.group(name).iter().flat_map(|&element| table.units(element)))
    }

    fn build(self, mut units: UnitsBuilder) -> RecordedGraph {
        let references = self.tables.iter().map(|table| table.state.graph.reference_count()).max();
        let mut output = Output {
            graph: GraphBuilder::with_capacity(
                self.first[self.names.len()] as usize,
                references.unwrap_or(0),
            ),
            unknown: Vec::new(),
        };
        for name in 0..self.names.len() {
            match self.verdicts[name] {
                Verdict::Absent => {}
                Verdict::Taken { from, origin } => self.put_group(name, from, origin, &mut output),
                Verdict::Gathered => self.put_gathered(name, &mut output),
                Verdict::Unknown(cause) => self.put_unknown(name, cause, &mut output),
            }
            self.put_units(name, &mut units);
        }
        let mut standings = BTreeMap::new();
        for test in self.merge_tests(&mut standings) {
            output.graph.test(test);
        }
        let has_unknown = output.unknown.iter().any(Option::is_some);
        let unknown = if has_unknown { output.unknown } else { Vec::new() };
        RecordedGraph { graph: output.graph.build(), units: units.build(), unknown, standings }
    }

    fn put_group(&self, name: usize, from: Side, origin: Origin, output: &mut Output) {
        let table = self.table(from);
        for &element in table.group(name) {
            let row = table.row(element);
            let cause = match table.state.unknown(element) {
                Some(UnknownCause::UntriedUnit(unit)) => Some(UnknownCause::UntriedUnit(table.joined(unit))),
                Some(cause) => Some(cause),
                None => row.iter().any(|&key| self.is_gone(key)).then_some(UnknownCause::RefersToDeleted),
            };
            let content = table.state.graph.content(element);
            let content = if cause.is_some() { self.unknown_content(name, Some(content)) } else { content };
            let merged = output.put(self.names[name], content, cause);
            for &key in row {
                self.targets(key, origin, |target| output.graph.reference(merged, target));
            }
        }
    }

    /// The references of both sides, without those that either dropped.
    fn put_gathered(&self, name: usize, output: &mut Output) {
        let row = |side| {
            let table = self.table(side);
            table.row(table.group(name)[0])
        };
        let (ours, theirs, base) = (row(Side::Ours), row(Side::Theirs), row(Side::Base));
        let has = |row: &[ElementKey], key| row.binary_search(key).is_ok();
        let mut kept: Vec<(ElementKey, Origin)> = Vec::new();
        for key in ours {
            if has(theirs, key) {
                kept.push((*key, Origin::of(&[Side::Ours, Side::Theirs])));
            } else if !has(base, key) {
                kept.push((*key, Origin::of(&[Side::Ours])));
            }
        }
        let added = theirs.iter().filter(|key| !has(ours, key) && !has(base, key));
        kept.extend(added.map(|key| (*key, Origin::of(&[Side::Theirs]))));
        let is_broken = kept.iter().any(|(key, _)| self.is_gone(*key));
        let cause = is_broken.then_some(UnknownCause::RefersToDeleted);
        let table = self.table(Side::Ours);
        let content = table.state.graph.content(table.group(name)[0]);
        let content = if is_broken { self.unknown_content(name, None) } else { content };
        let merged = output.put(self.names[name], content, cause);
        for (key, origin) in kept {
            self.targets(key, origin, |target| output.graph.reference(merged, target));
        }
    }

    /// One element for the whole group, with the references of both sides.
    fn put_unknown(&self, name: usize, cause: UnknownCause, output: &mut Output) {
        let merged = output.put(self.names[name], self.unknown_content(name, None), Some(cause));
        for side in [Side::Ours, Side::Theirs] {
            let table = self.table(side);
            for &element in table.group(name) {
                for &key in table.row(element) {
                    self.targets(key, Origin::of(&[side]), |target| output.graph.reference(merged, target));
                }
            }
        }
    }

    fn put_units(&self, name: usize, units: &mut UnitsBuilder) {
        let first = self.first[name];
        match self.verdicts[name] {
            Verdict::Absent => {}
            Verdict::Taken { from, .. } if self.table(from).group(name).len() > 1 => {
                let table = self.table(from);
                for (place, &element) in table.group(name).iter().enumerate() {
                    table.units(element).for_each(|unit| units.member(ElementId(first + place as u32), unit));
                }
            }
            Verdict::Taken { .. } | Verdict::Gathered | Verdict::Unknown(_) => {
                self.units(name).for_each(|unit| units.member(ElementId(first), unit));
            }
        }
    }

    fn is_gone(&self, key: ElementKey) -> bool {
        self.verdicts[key.name()] == Verdict::Absent
    }

    /// The merged elements that a reference may mean. The place within a group counts only in a state that has
    /// both the reference and the group as the merge has them; else all members are meant.
    fn targets(&self, key: ElementKey, made_in: Origin, mut put: impl FnMut(ElementId)) {
        let (start, end) = (self.first[key.name()], self.first[key.name() + 1]);
        match self.verdicts[key.name()] {
            Verdict::Taken { from, origin }
                if origin.meets(made_in) && !self.table(from).is_ambiguous(key.name()) =>
            {
                put(ElementId(start + key.place() as u32));
            }
            Verdict::Taken { .. } | Verdict::Absent | Verdict::Gathered | Verdict::Unknown(_) => {
                (start..end).map(ElementId).for_each(put);
            }
        }
    }

    /// The same for the same three states, and unlike any content that an analyser gives.
    fn unknown_content(&self, name: usize, member: Option<Digest>) -> Digest {
        let mut builder = DigestBuilder::new(UNKNOWN);
        builder.text(self.names[name]);
        for table in self.tables {
            let group = table.group(name);
            builder.number(group.len() as u64);
            for &element in group {
                builder.digest(table.state.graph.content(element));
            }
        }
        if let Some(member) = member {
            builder.digest(member);
        }
        builder.finish()
    }

    fn merge_tests(&self, standings: &mut BTreeMap<TestId, Standing>) -> Vec<TestNode> {
        let mut by_id: BTreeMap<&TestId, [Option<&TestNode>; 3]> = BTreeMap::new();
        for side in SIDES {
            for test in self.table(side).state.graph.tests() {
                by_id.entry(&test.id).or_default()[side as usize] = Some(test);
            }
        }
        let mut tests = Vec::with_capacity(by_id.len());
        for (id, nodes) in by_id {
            if let Some((test, standing)) = self.merge_test(id, nodes) {
                tests.push(test);
                standings.extend(standing.map(|standing| (id.clone(), standing)));
            }
        }
        tests
    }

    fn merge_test(&self, id: &TestId, nodes: [Option<&TestNode>; 3]) -> Option<(TestNode, Option<Standing>)> {
        let [ours, theirs, base] = nodes;
        let comparison = Comparison {
            sides_agree: self.same_test(Side::Ours, ours, Side::Theirs, theirs),
            ours_is_base: self.same_test(Side::Ours, ours, Side::Base, base),
            theirs_is_base: self.same_test(Side::Theirs, theirs, Side::Base, base),
        };
        let doubt = match (ours, theirs) {
            (Some(_), Some(_)) => TestDoubt::ChangedOnBothSides,
            (None, _) | (_, None) => TestDoubt::DeletedAndChanged,
        };
        match comparison.verdict(|side| nodes[side as usize].is_none(), doubt) {
            Verdict::Absent | Verdict::Gathered => None,
            Verdict::Taken { from, origin } => {
                let node = nodes[from as usize]?;
                let roots = self.roots([(from, origin, node)]);
                let is_broken = self.root_keys(from, node).iter().any(|&key| self.is_gone(key));
                let carried = match self.table(from).state.standing(id) {
                    Some(Standing::Doubtful(doubt)) => Some(Standing::Doubtful(doubt)),
                    Some(Standing::Added) | None => base.is_none().then_some(Standing::Added),
                };
                let broken = is_broken.then_some(Standing::Doubtful(TestDoubt::RootDeleted));
                Some((TestNode { roots, ..node.clone() }, broken.or(carried)))
            }
            Verdict::Unknown(doubt) => {
                let sides = [Side::Ours, Side::Theirs].into_iter();
                let present: Vec<_> = sides
                    .filter_map(|side| nodes[side as usize].map(|node| (side, Origin::of(&[side]), node)))
                    .collect();
                let unmapped = present.iter().find(|(.., node)| node.mapping != Mapping::Mapped);
                let (.., node) = *unmapped.or(present.first())?;
                let disabled = present.iter().all(|(.., node)| node.disabled);
                let test = TestNode { roots: self.roots(present), disabled, ..node.clone() };
                Some((test, Some(Standing::Doubtful(doubt))))
            }
        }
    }

    fn same_test(&self, a: Side, left: Option<&TestNode>, b: Side, right: Option<&TestNode>) -> bool {
        let is_doubtful = |side, node: &TestNode| {
            matches!(self.table(side).state.standing(&node.id), Some(Standing::Doubtful(_)))
        };
        match (left, right) {
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
            (Some(left), Some(right)) => {
                left.mapping == right.mapping
                    && left.disabled == right.disabled
                    && !is_doubtful(a, left)
                    && !is_doubtful(b, right)
                    && self.root_keys(a, left) == self.root_keys(b, right)
            }
        }
    }

    fn root_keys(&self, side: Side, test: &TestNode) -> Vec<ElementKey> {
        let mut keys: Vec<ElementKey> = test.roots.iter().map(|&root| self.table(side).key(root)).collect();
        keys.sort_unstable();
        keys
    }

    fn roots<'t>(&self, nodes: impl IntoIterator<Item = (Side, Origin, &'t TestNode)>) -> Vec<ElementId> {
        let mut roots = Vec::new();
        for (side, origin, node) in nodes {
            for &root in &node.roots {
                self.targets(self.table(side).key(root), origin, |target| roots.push(target));
            }
        }
        roots.sort_unstable();
        roots.dedup();
        roots
    }
}

/// The merged graph in the making.
struct Output {
    graph: GraphBuilder,
    unknown: Vec<Option<UnknownCause>>,
}

impl Output {
    fn put(&mut self, name: &str, content: Digest, cause: Option<UnknownCause>) -> ElementId {
        self.unknown.push(cause);
        self.graph.element(name, content)
    }
}
