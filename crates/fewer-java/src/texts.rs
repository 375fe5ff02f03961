//! Texts by numbers: one buffer for all texts of a class or a file, and the table that gives each text one number
//! while they are collected.

use std::hash::BuildHasher;
use std::ops::Index;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

/// An index into the texts of one summary or one file's facts.
pub type TextId = u32;

/// Texts, one behind the other.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TextList {
    buffer: String,
    /// Where each ends.
    ends: Vec<u32>,
}

impl TextList {
    /// Empty where there is none: numbers may come from a damaged store.
    #[inline]
    pub fn get(&self, id: TextId) -> &str {
        let id = id as usize;
        let Some(&end) = self.ends.get(id) else { return "" };
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        self.buffer.get(start as usize..end as usize).unwrap_or("")
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as TextId).map(|id| self.get(id))
    }

    fn push(&mut self, text: &str) {
        self.buffer.push_str(text);
        self.ends.push(self.buffer.len() as u32);
    }
}

impl Index<TextId> for TextList {
    type Output = str;

    fn index(&self, id: TextId) -> &str {
        self.get(id)
    }
}

impl<'t> FromIterator<&'t str> for TextList {
    fn from_iter<I: IntoIterator<Item = &'t str>>(texts: I) -> TextList {
        let mut list = TextList::default();
        texts.into_iter().for_each(|text| list.push(text));
        list
    }
}

/// Gives each text one number.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub list: TextList,
    /// Per text.
    hashes: Vec<u32>,
    /// One more than a text's number, at its hash or the next free place after it; 0 where there is none. A power
    /// of two, at most half full.
    table: Vec<u32>,
}

/// The table of few texts.
const SMALLEST: usize = 512;

impl Texts {
    pub fn id(&mut self, text: &str) -> TextId {
        if self.list.len() * 2 >= self.table.len() {
            self.grow();
        }
        let hash = FxBuildHasher.hash_one(text) as u32;
        let mask = self.table.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            match self.table[place] {
                0 => break,
                next => {
                    let id = next - 1;
                    if self.hashes[id as usize] == hash && self.list.get(id) == text {
                        return id;
                    }
                }
            }
            place = (place + 1) & mask;
        }
        let id = self.list.len() as TextId;
        self.list.push(text);
        self.hashes.push(hash);
        self.table[place] = id + 1;
        id
    }

    /// The numbers of some texts, sorted by text and without repetitions.
    pub fn sorted<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Vec<TextId> {
        let mut sorted: Vec<&str> = texts.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.into_iter().map(|text| self.id(text)).collect()
    }

    /// Forgets all texts, and keeps the memory for others.
    pub fn clear(&mut self) {
        self.list.buffer.clear();
        self.list.ends.clear();
        self.hashes.clear();
        self.table.truncate(SMALLEST);
        self.table.fill(0);
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 4).max(SMALLEST);
        self.table.clear();
        self.table.resize(size, 0);
        for (id, hash) in self.hashes.iter().enumerate() {
            let mut place = *hash as usize & (size - 1);
            while self.table[place] != 0 {
                place = (place + 1) & (size - 1);
            }
            self.table[place] = id as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_however_many_there_are() {
        let names: Vec<String> = (0..5000).map(|number| format!("p.Class{}", number % 3000)).collect();
        let mut texts = Texts::default();
        let ids: Vec<TextId> = names.iter().map(|name| texts.id(name)).collect();
        assert_eq!(texts.list.len(), 3000);
        for (id, name) in ids.iter().zip(&names) {
            assert_eq!(texts.list.get(*id), name);
        }
        assert_eq!(texts.list.iter().nth(2999), Some("p.Class2999"));
        assert_eq!(texts.list.get(3000), "");
    }
}
