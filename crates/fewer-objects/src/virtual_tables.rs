//! Calls through virtual tables: which entries of a table matter in which program. Bitcode tells which entries code
//! calls and what lies in each entry; both are kept as references by names of a kind that no symbol has.

use crate::image_set::ImageSet;
use crate::summary::Traits;

const CALL: &[u8] = b"virtual call ";
const ENTRY: &[u8] = b"virtual entry ";

/// Tables with more entries than this are followed as a whole.
const MOST_ENTRIES: u32 = 1 << 12;

/// How calls through virtual tables are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VirtualCalls {
    /// From each table that is in reach to those of its entries that some code of the program calls.
    #[default]
    Slot,
    /// From each call to that entry of every table of the program, whether in reach or not.
    Hierarchy,
    /// From each table that is in reach to all its entries.
    Any,
}

impl VirtualCalls {
    /// The inverse of `as u32`.
    pub fn of_number(number: u32) -> Option<VirtualCalls> {
        [VirtualCalls::Slot, VirtualCalls::Hierarchy, VirtualCalls::Any]
            .into_iter()
            .find(|calls| *calls as u32 == number)
    }
}

/// The name by which code refers to an entry that it calls; `None` for an entry that is not known.
pub fn call_name(entry: Option<u32>) -> Vec<u8> {
    match entry {
        Some(entry) => [CALL, entry.to_string().as_bytes()].concat(),
        None => [CALL, b"*"].concat(),
    }
}

/// The name by which a table refers to what lies in an entry. A class with several bases has several tables.
pub fn entry_name(table: usize, entry: u32, function: &[u8]) -> Vec<u8> {
    [ENTRY, format!("{entry}.{table} ").as_bytes(), function].concat()
}

/// What a name is to virtual tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VirtualName<'n> {
    Call(Option<u32>),
    Entry { entry: u32, function: &'n [u8] },
}

impl VirtualName<'_> {
    /// Reads such a name; `None` for names of symbols.
    pub fn of(name: &[u8]) -> Option<VirtualName<'_>> {
        if !name.starts_with(b"virtual ") {
            return None;
        }
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
        if let Some(entry) = name.strip_prefix(CALL) {
            return Some(VirtualName::Call(number(entry)));
        }
        let rest = name.strip_prefix(ENTRY)?;
        let (place, function) = rest.split_at(rest.iter().position(|&byte| byte == b' ')?);
        let entry = number(place.split(|&byte| byte == b'.').next()?)?;
        Some(VirtualName::Entry { entry, function: &function[1..] })
    }
}

/// Which entries are called in which programs.
pub struct CalledEntries {
    /// Programs with code whose calls are not known: all entries count there.
    unknown: ImageSet,
    /// By entry the programs that call it.
    entries: Vec<ImageSet>,
}

impl CalledEntries {
    pub fn none(images: &ImageSet) -> CalledEntries {
        CalledEntries { unknown: images.without_members(), entries: Vec::new() }
    }

    /// Takes note of code whose calls are known, or not.
    pub fn add_code(&mut self, traits: Traits, images: &ImageSet) {
        if traits.has(Traits::OPAQUE) || (traits.has(Traits::CODE) && !traits.has(Traits::TRACED)) {
            self.unknown.extend(images);
        }
    }

    pub fn add_call(&mut self, entry: Option<u32>, images: &ImageSet) {
        match entry {
            Some(entry) if entry < MOST_ENTRIES => {
                while self.entries.len() <= entry as usize {
                    self.entries.push(images.without_members());
                }
                self.entries[entry as usize].extend(images);
            }
            Some(_) | None => self.unknown.extend(images),
        }
    }

    /// Whether an entry may be called in one of some programs.
    pub fn is_called(&self, entry: u32, images: &ImageSet) -> bool {
        self.is_unknown(images)
            || self.entries.get(entry as usize).is_some_and(|programs| programs.intersects(images))
    }

    pub fn is_unknown(&self, images: &ImageSet) -> bool {
        self.unknown.intersects(images)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_calls_and_entries_are_read_back() {
        assert_eq!(VirtualName::of(&call_name(Some(12))), Some(VirtualName::Call(Some(12))));
        assert_eq!(VirtualName::of(&call_name(None)), Some(VirtualName::Call(None)));
        let name = entry_name(1, 3, b"_ZN1B1fEv");
        assert_eq!(VirtualName::of(&name), Some(VirtualName::Entry { entry: 3, function: b"_ZN1B1fEv" }));
        assert_eq!(VirtualName::of(b"_ZTV1B"), None);
        assert_eq!(VirtualName::of(b"virtual entry"), None);
    }

    #[test]
    fn an_entry_counts_where_it_is_called_and_where_nothing_is_known() {
        let image = |index: usize| {
            let mut set = ImageSet::empty(3);
            set.insert(index);
            set
        };
        let mut called = CalledEntries::none(&ImageSet::empty(3));
        called.add_call(Some(2), &image(0));
        called.add_code(Traits::CODE, &image(1));
        called.add_code(Traits::CODE.with(Traits::TRACED), &image(2));
        assert!(called.is_called(2, &image(0)) && !called.is_called(1, &image(0)));
        assert!(called.is_called(0, &image(1)));
        assert!(!called.is_called(2, &image(2)));
        called.add_call(None, &image(2));
        assert!(called.is_called(2, &image(2)));
    }
}
