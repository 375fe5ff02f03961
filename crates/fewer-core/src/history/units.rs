//! What elements are compiled from: units (objects, classes, files) with their input files, and the paths that
//! a side of a merge changed. It tells which units are text that nobody compiled; it reads no file.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::graph::ElementId;

/// A dense index into the paths of one [`Units`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathIndex(pub u32);

/// A dense index into the units of one [`Units`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UnitIndex(pub u32);

/// The files that a unit is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inputs {
    Known(Vec<PathIndex>),
    /// Any file may be one, so every change touches the unit.
    Unknown,
}

/// Something compiled as a whole. Example: `src/lexer.cpp.o` from `src/lexer.cpp` and the headers it includes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    pub name: String,
    pub inputs: Inputs,
}

/// The units of one state, and per element those it comes from: one usually, several for inline code.
///
/// Every element that is made from tracked files should have a unit, data files included (a unit of their own
/// with themselves as input); only what no tracked file decides, such as system libraries, has none.
#[derive(Clone, Debug, Default)]
pub struct Units {
    paths: Vec<String>,
    units: Vec<Unit>,
    common: Vec<PathIndex>,
    offsets: Vec<u32>,
    members: Vec<UnitIndex>,
}

impl Units {
    pub fn len(&self) -> usize {
        self.units.len()
    }

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub fn unit(&self, unit: UnitIndex) -> &Unit {
        &self.units[unit.0 as usize]
    }

    pub fn path(&self, path: PathIndex) -> &str {
        &self.paths[path.0 as usize]
    }

    /// The units of an element, sorted.
    pub fn of(&self, element: ElementId) -> &[UnitIndex] {
        match self.offsets.get(element.index() + 1) {
            Some(&end) => &self.members[self.offsets[element.index()] as usize..end as usize],
            None => &[],
        }
    }
}

/// Collects units, their inputs and their elements.
#[derive(Clone, Debug, Default)]
pub struct UnitsBuilder {
    units: Units,
    numbers: HashMap<String, PathIndex>,
    members: Vec<(ElementId, UnitIndex)>,
}

impl UnitsBuilder {
    pub fn new() -> UnitsBuilder {
        UnitsBuilder::default()
    }

    /// The index of a path relative to the root of the repository, with `/`, as git writes it.
    pub fn path(&mut self, path: &str) -> PathIndex {
        if let Some(&index) = self.numbers.get(path) {
            return index;
        }
        let index = PathIndex(u32::try_from(self.units.paths.len()).expect("at most 2^32 paths"));
        self.units.paths.push(path.to_string());
        self.numbers.insert(path.to_string(), index);
        index
    }

    /// Adds a unit; its name must be the same in every state and unlike that of any other unit.
    pub fn unit(&mut self, name: &str, inputs: Inputs) -> UnitIndex {
        let index = UnitIndex(u32::try_from(self.units.units.len()).expect("at most 2^32 units"));
        self.units.units.push(Unit { name: name.to_string(), inputs });
        index
    }

    /// A file that every unit depends on: a build description.
    pub fn common_input(&mut self, path: &str) {
        let index = self.path(path);
        self.units.common.push(index);
    }

    pub fn member(&mut self, element: ElementId, unit: UnitIndex) {
        self.members.push((element, unit));
    }

    pub fn build(self) -> Units {
        let UnitsBuilder { mut units, mut members, .. } = self;
        members.sort_unstable();
        members.dedup();
        let elements = members.last().map_or(0, |(element, _)| element.index() + 1);
        units.offsets = vec![0; elements + 1];
        for (element, _) in &members {
            units.offsets[element.index() + 1] += 1;
        }
        for index in 0..elements {
            units.offsets[index + 1] += units.offsets[index];
        }
        units.members = members.into_iter().map(|(_, unit)| unit).collect();
        units.common.sort_unstable();
        units.common.dedup();
        units
    }
}

/// The paths that differ between two states, without following renames: a renamed file is deleted under one
/// name and added under the other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangedPaths {
    pub added: BTreeSet<String>,
    pub modified: BTreeSet<String>,
    pub deleted: BTreeSet<String>,
}

impl ChangedPaths {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.deleted.is_empty()
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        [&self.added, &self.modified, &self.deleted].into_iter().flatten().map(String::as_str)
    }

    /// Joins the changes of another pair of states; a path may then have changed in several ways.
    pub fn extend(&mut self, more: ChangedPaths) {
        self.added.extend(more.added);
        self.modified.extend(more.modified);
        self.deleted.extend(more.deleted);
    }

    /// Whether this side may have renamed a file that the other side changed: the other side's change then goes
    /// into a file that is new here.
    fn moved_what_changed_in(&self, other: &ChangedPaths) -> bool {
        self.deleted.iter().any(|path| other.modified.contains(path) || other.added.contains(path))
    }
}

/// The units of three states joined by name, with the inputs of all three.
pub(super) struct JoinedUnits {
    /// Without members yet.
    pub(super) builder: UnitsBuilder,
    /// Per state and unit the joined unit.
    pub(super) joined: [Vec<UnitIndex>; 3],
    /// Units whose inputs both sides touched: text that nobody compiled.
    pub(super) is_untried: Vec<bool>,
}

impl JoinedUnits {
    pub(super) fn new(states: [&Units; 3], ours: &ChangedPaths, theirs: &ChangedPaths) -> JoinedUnits {
        let mut builder = UnitsBuilder::new();
        let mut numbers: HashMap<&str, UnitIndex> = HashMap::new();
        let joined = states.map(|units| {
            let paths: Vec<PathIndex> = units.paths.iter().map(|path| builder.path(path)).collect();
            builder.units.common.extend(units.common.iter().map(|path| paths[path.0 as usize]));
            units
                .units
                .iter()
                .map(|unit| {
                    let inputs = match &unit.inputs {
                        Inputs::Known(inputs) => {
                            Inputs::Known(inputs.iter().map(|path| paths[path.0 as usize]).collect())
                        }
                        Inputs::Unknown => Inputs::Unknown,
                    };
                    match numbers.get(unit.name.as_str()) {
                        Some(&index) => {
                            widen(&mut builder.units.units[index.0 as usize].inputs, inputs);
                            index
                        }
                        None => {
                            let index = builder.unit(&unit.name, inputs);
                            numbers.insert(&unit.name, index);
                            index
                        }
                    }
                })
                .collect()
        });
        let (by_ours, by_theirs) =
            (touched(&builder.units, ours, theirs), touched(&builder.units, theirs, ours));
        let is_untried = by_ours.into_iter().zip(by_theirs).map(|(ours, theirs)| ours && theirs).collect();
        JoinedUnits { builder, joined, is_untried }
    }
}

fn widen(inputs: &mut Inputs, more: Inputs) {
    match (&mut *inputs, more) {
        (Inputs::Known(known), Inputs::Known(more)) => {
            if *known != more {
                known.extend(more);
                known.sort();
                known.dedup();
            }
        }
        (Inputs::Unknown, Inputs::Known(_) | Inputs::Unknown) | (Inputs::Known(_), Inputs::Unknown) => {
            *inputs = Inputs::Unknown;
        }
    }
}

/// Per unit whether a side touched one of its inputs.
fn touched(units: &Units, side: &ChangedPaths, other: &ChangedPaths) -> Vec<bool> {
    let mut changed: HashSet<&str> = side.paths().collect();
    if other.moved_what_changed_in(side) {
        changed.extend(other.added.iter().map(String::as_str));
    }
    let is_changed: Vec<bool> = units.paths.iter().map(|path| changed.contains(path.as_str())).collect();
    let any_common = units.common.iter().any(|path| is_changed[path.0 as usize]);
    // A new file may be found instead of the one that was included so far under the same file name.
    let new_names: HashSet<&str> = side.added.iter().map(|path| file_name(path)).collect();
    let is_input_touched: Vec<bool> = units
        .paths
        .iter()
        .zip(&is_changed)
        .map(|(path, is_changed)| *is_changed || new_names.contains(file_name(path)))
        .collect();
    let is_touched = |unit: &Unit| match &unit.inputs {
        Inputs::Unknown => true,
        Inputs::Known(inputs) => any_common || inputs.iter().any(|path| is_input_touched[path.0 as usize]),
    };
    units.units.iter().map(|unit| !changed.is_empty() && is_touched(unit)).collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
