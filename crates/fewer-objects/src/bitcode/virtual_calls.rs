//! Which entries of virtual tables a function calls through: the place of the pointer that is called, traced back
//! to the load of a table; and what lies in the entries of a table. How both come together is the linker's business.

use super::Unreadable;
use super::draft::{Draft, Tag};
use super::module::{Module, Value};
use crate::virtual_tables::{call_name, entry_name};

/// How far back a called pointer is traced.
const MOST_STEPS: usize = 64;

/// The size of an entry of a table.
const ENTRY: i64 = 8;

/// Where a value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    Load(u32),
    /// A place at a distance from another; `None` if that is not constant.
    Address {
        base: u32,
        offset: Option<i64>,
    },
    Cast(u32),
    OneOf(Vec<u32>),
    /// The place of a local variable.
    Variable,
    /// May be an entry of a table, and it is not known which.
    Unknown,
    Other,
}

/// Which entry of a table is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Entry {
    /// Counted from the first function.
    Slot(u32),
    Any,
}

/// What is known of the values of one function, and the entries it calls.
#[derive(Default)]
pub struct Origins {
    origins: Vec<Origin>,
    calls: Vec<u32>,
    entries: Vec<Entry>,
}

impl Origins {
    /// The names by which the function refers to the entries it calls.
    pub fn names(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.entries.iter().map(|entry| match *entry {
            Entry::Slot(slot) => call_name(Some(slot)),
            Entry::Any => call_name(None),
        })
    }

    pub fn define(&mut self, origin: Origin) {
        self.origins.push(origin);
    }

    /// Takes note of a call of something that is no function of the program by name.
    pub fn call(&mut self, callee: u32) {
        self.calls.push(callee);
    }

    /// Finds the entries that are called, once all values are known.
    pub fn trace(&mut self, module: &Module<'_>) {
        let mut entries = Vec::new();
        for &callee in &self.calls {
            self.trace_pointer(callee, module, &mut entries, &mut MOST_STEPS.clone());
        }
        entries.sort_unstable();
        entries.dedup();
        self.entries = entries;
    }

    fn origin(&self, id: u32, module: &Module<'_>) -> Option<&Origin> {
        match module.value(id as u64).ok()? {
            Value::Instruction(index) => self.origins.get(index as usize),
            Value::Global(_) | Value::Constant(_) | Value::Argument(_) => None,
        }
    }

    /// A pointer that is called. One that was given, computed or read from a variable is no entry of a table: no
    /// rule of the language takes the address of what a virtual call would choose.
    fn trace_pointer(&self, id: u32, module: &Module<'_>, entries: &mut Vec<Entry>, steps: &mut usize) {
        if *steps == 0 {
            return entries.push(Entry::Any);
        }
        *steps -= 1;
        match self.origin(id, module) {
            Some(Origin::Load(place)) => entries.extend(self.trace_place(*place, module)),
            Some(Origin::Cast(inner)) => self.trace_pointer(*inner, module, entries, steps),
            Some(Origin::OneOf(sources)) => {
                sources.iter().for_each(|&source| self.trace_pointer(source, module, entries, steps));
            }
            Some(Origin::Unknown | Origin::Address { .. }) => entries.push(Entry::Any),
            Some(Origin::Variable | Origin::Other) | None => {}
        }
    }

    /// The place that a called pointer was loaded from: `None` if it is a variable.
    fn trace_place(&self, place: u32, module: &Module<'_>) -> Option<Entry> {
        let mut place = place;
        let mut distance = 0i64;
        for _ in 0..MOST_STEPS {
            match self.origin(place, module) {
                Some(Origin::Address { base, offset: Some(offset) }) => {
                    distance = distance.saturating_add(*offset);
                    place = *base;
                }
                Some(Origin::Cast(inner)) => place = *inner,
                Some(Origin::Variable) => return None,
                Some(Origin::Address { offset: None, .. } | Origin::OneOf(_) | Origin::Unknown) => {
                    return Some(Entry::Any);
                }
                Some(Origin::Load(_) | Origin::Other) => return Some(entry_at(distance)),
                None => {
                    return match module.value(place as u64) {
                        Ok(Value::Global(_) | Value::Constant(_)) => None,
                        Ok(Value::Argument(_) | Value::Instruction(_)) | Err(_) => Some(entry_at(distance)),
                    };
                }
            }
        }
        Some(Entry::Any)
    }
}

fn entry_at(distance: i64) -> Entry {
    match u32::try_from(distance / ENTRY) {
        Ok(slot) if distance % ENTRY == 0 && distance >= 0 => Entry::Slot(slot),
        Ok(_) | Err(_) => Entry::Any,
    }
}

/// Appends a virtual table: its functions are referred to by entry and are no part of its content, so that an entry
/// counts only where it is called. A table of another form is data like any other.
pub fn write_table(module: &mut Module<'_>, value: u64, draft: &mut Draft) -> Result<(), Unreadable> {
    let tables = parts(module, value);
    if tables.is_empty() || tables.iter().any(|&table| first_entry(module, table).is_none()) {
        return module.write_value(value, draft);
    }
    draft.number(tables.len() as u64);
    for (number, &table) in tables.iter().enumerate() {
        let first = first_entry(module, table).unwrap_or(usize::MAX);
        let entries = parts(module, table);
        draft.number(entries.len() as u64);
        for (place, &entry) in entries.iter().enumerate() {
            let function = module.global_behind(entry).map(|global| &module.globals[global as usize]);
            match function.filter(|function| place >= first && !function.linkage.is_local()) {
                Some(function) => {
                    draft.tag(Tag::Entry);
                    draft.names.push(entry_name(number, (place - first) as u32, function.name));
                }
                None => module.write_value(entry, draft)?,
            }
        }
    }
    Ok(())
}

/// The place behind a table's type information, where its functions begin.
fn first_entry(module: &Module<'_>, table: u64) -> Option<usize> {
    let is_type_information = |&entry: &u64| {
        let global = module.global_behind(entry);
        global.is_some_and(|global| module.globals[global as usize].name.starts_with(b"_ZTI"))
    };
    Some(parts(module, table).iter().position(is_type_information)? + 1)
}

fn parts(module: &Module<'_>, value: u64) -> Vec<u64> {
    match module.value(value) {
        Ok(Value::Constant(index)) => module.aggregate(index).map_or(Vec::new(), <[u64]>::to_vec),
        Ok(Value::Global(_) | Value::Argument(_) | Value::Instruction(_)) | Err(_) => Vec::new(),
    }
}
