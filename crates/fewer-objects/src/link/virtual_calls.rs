//! References through virtual tables: from tables to what lies in their entries, or from calls to it. Which entries
//! are called, and how such references are named, is told by `virtual_tables`.

use super::{Linked, Resolver, Wanted};
use crate::image_set::ImageSet;
use crate::name_map::NameSet;
use crate::summary::{NameKey, Traits};
use crate::virtual_tables::{CalledEntries, VirtualCalls, VirtualName};

/// What is called through virtual tables.
#[derive(Default)]
pub(super) struct VirtualTables {
    mode: VirtualCalls,
    /// `None` if no code of the build tells.
    called: Option<CalledEntries>,
    /// Every entry with what lies there and its table.
    entries: Vec<(u32, NameKey, u32)>,
    /// Per table whether only code of the build can call through it.
    closed: std::collections::HashMap<u32, bool>,
}

impl VirtualTables {
    fn is_called(&self, entry: u32, images: &ImageSet) -> bool {
        self.called.as_ref().is_none_or(|called| called.is_called(entry, images))
    }

    fn is_unknown(&self, images: &ImageSet) -> bool {
        self.called.as_ref().is_none_or(|called| called.is_unknown(images))
    }
}

impl Linked<'_> {
    /// What is called through virtual tables, as far as the build's code tells.
    pub(super) fn virtual_tables(&self, mode: VirtualCalls) -> VirtualTables {
        let mut tables = VirtualTables { mode, ..VirtualTables::default() };
        let Some(images) = self.members.first() else { return tables };
        let traced = |node: &u32| self.traits(*node).is_some_and(|traits| traits.has(Traits::TRACED));
        if !(0..self.origins.len() as u32).any(|node| traced(&node)) {
            return tables;
        }
        let mut called = CalledEntries::none(images);
        for node in 0..self.origins.len() as u32 {
            let (traits, images) = (self.traits(node).unwrap_or_default(), &self.images[node as usize]);
            called.add_code(traits, images);
            if !traits.has(Traits::TRACED) && traits.has(Traits::CODE) {
                continue;
            }
            for name in self.referred_names(node) {
                match VirtualName::of(name) {
                    Some(VirtualName::Call(entry)) => called.add_call(entry, images),
                    Some(VirtualName::Entry { entry, function }) => {
                        tables.entries.push((entry, NameKey::of(function), node));
                    }
                    None => {}
                }
            }
        }
        tables.called = Some(called);
        tables.entries.sort_unstable();
        tables.entries.dedup();
        tables
    }

    pub(super) fn resolve_virtual(
        &mut self,
        node: u32,
        wanted: Wanted<'_>,
        virtual_name: VirtualName<'_>,
        resolver: &mut Resolver,
    ) {
        match virtual_name {
            VirtualName::Call(entry) => {
                if resolver.virtual_tables.mode == VirtualCalls::Hierarchy {
                    self.resolve_call(node, wanted, entry, resolver);
                }
            }
            VirtualName::Entry { entry, function } => {
                let images = &self.images[node as usize];
                let is_followed = match resolver.virtual_tables.mode {
                    VirtualCalls::Any => true,
                    VirtualCalls::Slot => resolver.virtual_tables.is_called(entry, images),
                    VirtualCalls::Hierarchy => resolver.virtual_tables.is_unknown(images),
                };
                if is_followed || !self.is_closed(node, resolver) {
                    let start = self.targets.len();
                    let key = NameKey::of(function);
                    let number = self.names.find(key);
                    self.resolve_name(node, Wanted { key, number, text: function }, resolver);
                    let found = self.targets.split_off(start);
                    let gathered = self.gather(wanted.key, found, wanted.text, resolver);
                    self.targets.push(gathered);
                }
            }
        }
    }

    /// Leads a call to what lies in its entry in every table of the same programs.
    fn resolve_call(&mut self, node: u32, wanted: Wanted<'_>, entry: Option<u32>, resolver: &mut Resolver) {
        let mut found: Vec<u32> = Vec::new();
        let images = &self.images[node as usize];
        for &(own, function, table) in &resolver.virtual_tables.entries {
            if entry.is_none_or(|entry| entry == own) && self.images[table as usize].intersects(images) {
                let is_near = |other: &u32| self.images[*other as usize].intersects(images);
                found.extend(self.definitions.of(self.names.find(function)).filter(is_near));
            }
        }
        found.sort_unstable();
        found.dedup();
        if !found.is_empty() {
            let gathered = self.gather(wanted.key, found, wanted.text, resolver);
            self.targets.push(gathered);
        }
    }

    /// Whether the class of a virtual table descends from classes of the build alone, so that no other code can call
    /// through it. A class without bases is the build's if the build alone defines its type information: of a class
    /// that is all inline, every user has a copy. Without type information that is not known.
    fn is_closed(&self, table: u32, resolver: &mut Resolver) -> bool {
        if let Some(&is_closed) = resolver.virtual_tables.closed.get(&table) {
            return is_closed;
        }
        let images = &self.images[table as usize];
        let mut seen: NameSet = NameSet::default();
        let mut pending = type_informations(&self.referred_names(table));
        let mut is_closed = !pending.is_empty();
        while let Some(key) = pending.pop().filter(|_| is_closed) {
            if !seen.insert(key) {
                continue;
            }
            let mut definitions = self
                .definitions
                .of(self.names.find(key))
                .filter(|node| self.images[*node as usize].intersects(images))
                .peekable();
            is_closed = definitions.peek().is_some();
            for node in definitions {
                let bases = type_informations(&self.referred_names(node));
                let is_shared = self.traits(node).is_none_or(|traits| traits.has(Traits::SHARED));
                is_closed &= !(bases.is_empty() && is_shared);
                pending.extend(bases);
            }
        }
        resolver.virtual_tables.closed.insert(table, is_closed);
        is_closed
    }
}

/// The keys of the type information among some names.
fn type_informations(names: &[&[u8]]) -> Vec<NameKey> {
    names.iter().filter(|name| name.starts_with(b"_ZTI")).map(|name| NameKey::of(name)).collect()
}
