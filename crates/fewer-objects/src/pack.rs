//! Elements of which many objects hold a copy: each is kept once, in a pack. Every scan that meets new ones makes
//! one pack of them; the objects that hold them list them. How they are linked is told elsewhere.

use fewer_core::{Digest, Domain};
use hashbrown::HashTable;

use crate::encoding::{Reader, Writer};
use crate::name_map::NameMap;
use crate::shared_text::{Texts, read_texts, write_texts};
use crate::summary::*;
use crate::symbol_names::is_registration_target;

/// Raise when packs hold something else: older ones, and the objects that list them, are then read anew.
const PACK_VERSION: u32 = 3;

const PACK: Domain = Domain::new("pack");

/// Room for what an object usually adds to a new pack, so that it need not grow often: elements or names, and bytes
/// of names.
const USUAL_COUNT: usize = 256;
const USUAL_TEXT: usize = 1 << 15;

/// A shared element together with all private ones it leads to, which are read-only: what many objects hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommonElement {
    /// Of its own content and that of all it is made of; see [`ElementSummary::closure`].
    pub closure: Digest,
    /// The name it is known by.
    pub name: u32,
    pub first_symbol: u32,
    pub first_reference: u32,
    pub traits: Traits,
}

/// A name that a common element defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommonSymbol {
    pub name: u32,
    pub size: u32,
    pub linkage: Linkage,
    pub role: TestRole,
}

/// A name, once per pack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedName {
    pub key: NameKey,
    pub text: Text,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pack {
    pub elements: Vec<CommonElement>,
    /// By element.
    pub symbols: Vec<CommonSymbol>,
    /// The names each element refers to, by element.
    references: Vec<u32>,
    pub names: Vec<PackedName>,
    text: Vec<u8>,
}

impl Pack {
    pub fn name(&self, name: u32) -> &[u8] {
        let text = self.names[name as usize].text;
        &self.text[text.start as usize..][..text.length as usize]
    }

    pub fn element_name(&self, element: u32) -> &[u8] {
        self.name(self.elements[element as usize].name)
    }

    /// The names that an element defines; also the local ones of what it is made of.
    pub fn symbols_of(&self, element: u32) -> &[CommonSymbol] {
        let end = self.elements.get(element as usize + 1).map(|next| next.first_symbol as usize);
        &self.symbols
            [self.elements[element as usize].first_symbol as usize..end.unwrap_or(self.symbols.len())]
    }

    /// The names that an element refers to.
    pub fn references_of(&self, element: u32) -> &[u32] {
        let end = self.elements.get(element as usize + 1).map(|next| next.first_reference as usize);
        let start = self.elements[element as usize].first_reference as usize;
        &self.references[start..end.unwrap_or(self.references.len())]
    }

    /// The stored form, with the key it is kept under.
    pub fn encode(&self) -> (Digest, Vec<u8>) {
        let size = self.elements.len() * 20 + self.symbols.len() * 5 + self.references.len() * 3;
        let mut out = Writer(Vec::with_capacity(size + self.names.len() * 4 + self.text.len() / 2 + 20));
        out.word(PACK_VERSION);
        let texts: Vec<&[u8]> = (0..self.names.len() as u32).map(|name| self.name(name)).collect();
        write_texts(&mut out, &texts);
        // Names are numbered in the order in which they are met.
        let mut last = 0;
        out.word(self.symbols.len() as u32);
        for symbol in &self.symbols {
            out.step(last, symbol.name);
            last = symbol.name;
            out.number(symbol.size);
            out.number(symbol_bits(symbol.linkage, symbol.role));
        }
        out.counted_steps(self.references.iter().copied());
        let mut last = (0, 0, 0);
        out.word(self.elements.len() as u32);
        for &CommonElement { closure, name, first_symbol, first_reference, traits } in &self.elements {
            out.digest(closure);
            out.step(last.0, name);
            out.step(last.1, first_symbol);
            out.step(last.2, first_reference);
            out.number(traits.0);
            last = (name, first_symbol, first_reference);
        }
        out.sealed(PACK)
    }

    /// The inverse of [`Pack::encode`]; `None` for another version or damaged bytes.
    pub fn decode(bytes: &[u8]) -> Option<Pack> {
        let mut input = Reader::unsealed(PACK, bytes)?;
        if input.word()? != PACK_VERSION {
            return None;
        }
        let Texts { text, bounds } = read_texts(&mut input)?;
        let packed = |ends: &[u32]| {
            let key = NameKey::of(&text[ends[0] as usize..ends[1] as usize]);
            PackedName { key, text: Text { start: ends[0], length: ends[1] - ends[0] } }
        };
        let names = bounds.windows(2).map(packed).collect();
        let mut name = 0;
        let symbols = input.list(3, |input| {
            name = input.step(name)?;
            let size = input.number()?;
            let (linkage, role) = read_symbol_bits(input.number()?)?;
            Some(CommonSymbol { name, size, linkage, role })
        })?;
        let references = input.counted_steps()?;
        let mut last = (0, 0, 0);
        let elements = input.list(20, |input| {
            let closure = input.digest()?;
            last = (input.step(last.0)?, input.step(last.1)?, input.step(last.2)?);
            let (name, first_symbol, first_reference) = last;
            let traits = Traits(input.number()?);
            Some(CommonElement { closure, name, first_symbol, first_reference, traits })
        })?;
        let pack = Pack { elements, symbols, references, names, text };
        (input.0.is_empty() && pack.is_consistent()).then_some(pack)
    }

    fn is_consistent(&self) -> bool {
        let is_name = |name: u32| (name as usize) < self.names.len();
        let (symbols, references) = (self.symbols.len() as u32, self.references.len() as u32);
        self.elements.is_sorted_by_key(|element| element.first_symbol)
            && self.elements.is_sorted_by_key(|element| element.first_reference)
            && self.elements.iter().all(|element| {
                element.first_symbol <= symbols
                    && element.first_reference <= references
                    && is_name(element.name)
            })
            && self.symbols.iter().all(|symbol| is_name(symbol.name))
            && self.references.iter().all(|&name| is_name(name))
    }
}

/// An object as it was read, taken apart: what is its own, and which of its elements belong into packs.
pub struct Divided {
    whole: ObjectSummary,
    own: ObjectSummary,
    /// Elements of the whole that others may hold too, in the order of the own part's list.
    common: Vec<u32>,
    /// What identifies each of them.
    closures: Vec<Digest>,
    /// The symbols of the whole by element.
    symbols: Vec<u32>,
    first_symbol: Vec<u32>,
}

impl Divided {
    pub fn of(whole: ObjectSummary) -> Divided {
        let fate = fates(&whole);
        let common: Vec<u32> = indices(&fate, Fate::Common);
        let own = own_part(&whole, &fate, &common);
        let mut first_symbol = vec![0u32; whole.elements.len() + 1];
        let defined = || whole.symbols.iter().enumerate().filter(|(_, symbol)| symbol.element != NO_ELEMENT);
        defined().for_each(|(_, symbol)| first_symbol[symbol.element as usize + 1] += 1);
        for element in 0..whole.elements.len() {
            first_symbol[element + 1] += first_symbol[element];
        }
        let mut next = first_symbol.clone();
        let mut symbols = vec![0u32; *first_symbol.last().unwrap_or(&0) as usize];
        for (index, symbol) in defined() {
            let place = &mut next[symbol.element as usize];
            symbols[*place as usize] = index as u32;
            *place += 1;
        }
        let closure = |&element: &u32| whole.elements[element as usize].closure.unwrap_or_default();
        let closures = common.iter().map(closure).collect();
        Divided { whole, own, common, closures, symbols, first_symbol }
    }

    /// What identifies each common element, in the order of the own part's list.
    pub fn closures(&self) -> &[Digest] {
        &self.closures
    }

    /// What is the object's own, without its list of common elements.
    pub fn into_own(self) -> ObjectSummary {
        self.own
    }

    /// The symbols of the whole that an element defines.
    fn symbols_of(&self, element: u32) -> &[u32] {
        &self.symbols
            [self.first_symbol[element as usize] as usize..self.first_symbol[element as usize + 1] as usize]
    }
}

/// What becomes of an element of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It belongs into a pack.
    Common,
    /// It stays with the object.
    Own,
    /// Only common elements lead to it: it goes into the packs with them.
    Part,
}

fn indices(fates: &[Fate], wanted: Fate) -> Vec<u32> {
    (0..fates.len() as u32).filter(|&element| fates[element as usize] == wanted).collect()
}

fn fates(whole: &ObjectSummary) -> Vec<Fate> {
    let mut is_common: Vec<bool> = whole.elements.iter().map(|element| element.closure.is_some()).collect();
    let mut is_bounded = vec![false; whole.elements.len()];
    for bounded in &whole.bounded {
        is_common[bounded.element as usize] = false;
        is_bounded[bounded.element as usize] = true;
    }
    let parts = reached(whole, (0..whole.elements.len()).filter(|&element| is_common[element]), &is_common);
    // What nothing leads to stays too.
    let stays = |element: &usize| {
        let traits = whole.elements[*element].traits;
        let is_part = parts[*element]
            && traits.has(Traits::PRIVATE)
            && !traits.has(Traits::INITIALISER)
            && !is_bounded[*element];
        !is_common[*element] && !is_part
    };
    let own = reached(whole, (0..whole.elements.len()).filter(stays), &is_common);
    (0..whole.elements.len())
        .map(|element| match (is_common[element], own[element]) {
            (true, _) => Fate::Common,
            (false, true) => Fate::Own,
            (false, false) => Fate::Part,
        })
        .collect()
}

/// The elements that are reached from some without passing a common one.
fn reached(whole: &ObjectSummary, from: impl Iterator<Item = usize>, is_common: &[bool]) -> Vec<bool> {
    let mut seen = vec![false; whole.elements.len()];
    let mut pending: Vec<u32> = from.map(|element| element as u32).collect();
    pending.iter().for_each(|&element| seen[element as usize] = true);
    while let Some(element) = pending.pop() {
        for reference in whole.references_of(element) {
            if let Reference::Element(target) = *reference
                && !seen[target as usize]
                && !is_common[target as usize]
            {
                seen[target as usize] = true;
                pending.push(target);
            }
        }
    }
    seen
}

/// The summary without what goes into packs. Its list of common elements is filled in later.
fn own_part(whole: &ObjectSummary, fates: &[Fate], common: &[u32]) -> ObjectSummary {
    let kept = indices(fates, Fate::Own);
    let places = Places {
        elements: places(whole.elements.len(), &kept),
        commons: places(whole.elements.len(), common),
        symbols: Vec::new(),
    };
    let mut own = ObjectSummary {
        compiler: whole.compiler.clone(),
        notes: whole.notes.clone(),
        ..ObjectSummary::default()
    };
    let (places, moved) = keep_symbols(whole, &kept, places, &mut own);
    own.elements.reserve_exact(kept.len());
    own.references.reserve_exact(kept.iter().map(|&old| whole.references_of(old).len()).sum());
    for &old in &kept {
        let element = &whole.elements[old as usize];
        let known = moved.binary_search_by_key(&element.name.start, |(start, _)| *start);
        let name = match known {
            Ok(at) if moved[at].1.length == element.name.length => moved[at].1,
            Ok(_) | Err(_) => own.keep(whole.name(element.name)),
        };
        let first_reference = own.references.len() as u32;
        own.elements.push(ElementSummary { name, first_reference, closure: None, ..*element });
        own.references.extend(whole.references_of(old).iter().map(|&reference| places.moved(reference)));
    }
    let bounded =
        |bounded: &Bounded| Bounded { element: places.elements[bounded.element as usize], ..*bounded };
    own.bounded = whole.bounded.iter().map(bounded).collect();
    own.text.shrink_to_fit();
    own
}

/// Where the parts of an object are in its own part.
struct Places {
    elements: Vec<u32>,
    commons: Vec<u32>,
    symbols: Vec<u32>,
}

impl Places {
    fn moved(&self, reference: Reference) -> Reference {
        match reference {
            Reference::Symbol(symbol) => Reference::Symbol(self.symbols[symbol as usize]),
            Reference::Element(target) if self.commons[target as usize] != NO_ELEMENT => {
                Reference::Common(self.commons[target as usize])
            }
            Reference::Element(target) => Reference::Element(self.elements[target as usize]),
            Reference::Common(index) => Reference::Common(index),
        }
    }
}

/// Per index its place in a list; `NO_ELEMENT` for those not in it.
fn places(count: usize, list: &[u32]) -> Vec<u32> {
    let mut places = vec![NO_ELEMENT; count];
    list.iter().zip(0..).for_each(|(&index, place)| places[index as usize] = place);
    places
}

/// Keeps the symbols that the kept elements define or refer to. Gives their places, and where the text of each
/// was and is, ascending.
fn keep_symbols(
    whole: &ObjectSummary,
    kept: &[u32],
    mut places: Places,
    own: &mut ObjectSummary,
) -> (Places, Vec<(u32, Text)>) {
    let mut is_named = vec![false; whole.symbols.len()];
    for reference in kept.iter().flat_map(|&element| whole.references_of(element)) {
        if let Reference::Symbol(symbol) = *reference {
            is_named[symbol as usize] = true;
        }
    }
    let element_of =
        |symbol: &SymbolSummary| places.elements.get(symbol.element as usize).copied().unwrap_or(NO_ELEMENT);
    let mut count = 0;
    for (symbol, is_named) in whole.symbols.iter().zip(&mut is_named) {
        *is_named |= element_of(symbol) != NO_ELEMENT;
        count += *is_named as usize;
    }
    own.symbols.reserve_exact(count);
    let lengths = whole.symbols.iter().zip(&is_named).filter(|(_, is_named)| **is_named);
    own.text.reserve(lengths.map(|(symbol, _)| symbol.name.length as usize).sum());
    let mut moved = Vec::with_capacity(count);
    places.symbols = vec![NO_ELEMENT; whole.symbols.len()];
    for (index, symbol) in whole.symbols.iter().enumerate() {
        if !is_named[index] {
            continue;
        }
        let element = element_of(symbol);
        let linkage = if element == NO_ELEMENT { Linkage::Undefined } else { symbol.linkage };
        let name = own.keep(whole.name(symbol.name));
        moved.push((symbol.name.start, name));
        places.symbols[index] = own.symbols.len() as u32;
        own.symbols.push(SymbolSummary { name, element, linkage, ..*symbol });
    }
    moved.sort_unstable_by_key(|(start, _)| *start);
    (places, moved)
}

/// Puts objects together with the packs there are, and makes one new pack of what is in none.
pub struct Packer<'p> {
    packs: Vec<&'p Pack>,
    new: Pack,
    /// All elements of the packs and of the new one, by closure; the closures themselves are in the packs. Most elements of
    /// most objects are looked for here, so it must be small.
    known: HashTable<Common>,
    names: NameMap<u32>,
    /// Per symbol of the object that is taken its name in the new pack, once somebody asked.
    known_names: Vec<u32>,
}

fn closure_of(packs: &[&Pack], new: &Pack, common: Common) -> Digest {
    packs.get(common.pack as usize).copied().unwrap_or(new).elements[common.element as usize].closure
}

/// Stands for a name that nobody asked for yet.
const UNASKED: u32 = u32::MAX;

impl<'p> Packer<'p> {
    /// For that many objects, beside the packs there are.
    pub fn new(packs: Vec<&'p Pack>, objects: usize) -> Packer<'p> {
        let usual = objects * USUAL_COUNT;
        let mut names = NameMap::default();
        names.reserve(usual);
        let new = Pack {
            elements: Vec::with_capacity(usual),
            symbols: Vec::with_capacity(usual),
            references: Vec::with_capacity(usual * 2),
            names: Vec::with_capacity(usual),
            text: Vec::with_capacity(objects * USUAL_TEXT),
        };
        let count: usize = packs.iter().map(|pack| pack.elements.len()).sum();
        let known = HashTable::with_capacity(count + usual);
        let mut packer = Packer { packs, new, known, names, known_names: Vec::new() };
        for (pack, content) in (0..).zip(packer.packs.clone()) {
            for (element, CommonElement { closure, .. }) in (0..).zip(&content.elements) {
                if packer.find(*closure).is_none() {
                    packer.note(Common { pack, element }, *closure);
                }
            }
        }
        packer
    }

    /// What the new pack will be called in the objects' lists: its place among the packs.
    fn place(&self) -> u32 {
        self.packs.len() as u32
    }

    #[inline]
    fn find(&self, closure: Digest) -> Option<Common> {
        let is_wanted = |common: &Common| closure_of(&self.packs, &self.new, *common) == closure;
        self.known.find(closure.0 as u64, is_wanted).copied()
    }

    fn note(&mut self, common: Common, closure: Digest) {
        let Packer { packs, new, known, .. } = self;
        let hash = |common: &Common| closure_of(packs, new, *common).0 as u64;
        known.insert_unique(closure.0 as u64, common, hash);
    }

    /// The own part of an object, with its list of common elements complete. The packs in the list are numbered
    /// as they were given; the new one comes last.
    pub fn take(&mut self, object: Divided) -> ObjectSummary {
        let mut commons = Vec::with_capacity(object.common.len());
        self.known_names.clear();
        self.known_names.resize(object.whole.symbols.len(), UNASKED);
        // Objects mostly hold what others hold in the same order: the next one of the new pack is tried first.
        let mut next = 0;
        for (&element, &closure) in object.common.iter().zip(&object.closures) {
            let common = match self.new.elements.get(next as usize) {
                Some(likely) if likely.closure == closure => Common { pack: self.place(), element: next },
                Some(_) | None => self.find_or_add(&object, element, closure),
            };
            next = common.element.saturating_add(1);
            commons.push(common);
        }
        let mut own = object.own;
        own.commons = commons;
        own
    }

    fn find_or_add(&mut self, object: &Divided, element: u32, closure: Digest) -> Common {
        if let Some(common) = self.find(closure) {
            return common;
        }
        let common = Common { pack: self.place(), element: self.new.elements.len() as u32 };
        self.add(object, element, closure);
        self.note(common, closure);
        common
    }

    /// The pack of everything new; `None` if there was nothing new.
    pub fn finish(self) -> Option<Pack> {
        (!self.new.elements.is_empty()).then_some(self.new)
    }

    fn add(&mut self, object: &Divided, root: u32, closure: Digest) {
        let whole = &object.whole;
        let (first_symbol, first_reference) = (self.new.symbols.len(), self.new.references.len());
        let mut parts = vec![root];
        let mut root_name = None;
        let mut next = 0;
        while let Some(&part) = parts.get(next) {
            next += 1;
            for &symbol in object.symbols_of(part) {
                let SymbolSummary { name: text, size, linkage, role, .. } = whole.symbols[symbol as usize];
                if part != root && linkage != Linkage::Local {
                    continue;
                }
                let name = self.name_of_symbol(whole, symbol);
                if text == whole.elements[root as usize].name {
                    root_name = Some(name);
                }
                self.new.symbols.push(CommonSymbol { name, size, linkage, role });
            }
            for reference in whole.references_of(part) {
                match *reference {
                    Reference::Element(target) => {
                        let text = whole.element_name(target);
                        if parts.contains(&target) || is_registration_target(text) {
                            continue;
                        }
                        parts.push(target);
                        // Base classes are found by name.
                        if text.starts_with(b"_ZTI") {
                            let name = self.name(NameKey::of(text), text);
                            self.new.references.push(name);
                        }
                    }
                    Reference::Symbol(symbol) => {
                        if !is_registration_target(whole.symbol_name(symbol)) {
                            let name = self.name_of_symbol(whole, symbol);
                            self.new.references.push(name);
                        }
                    }
                    Reference::Common(_) => {}
                }
            }
        }
        if parts.len() > 1 {
            let mut references = self.new.references.split_off(first_reference);
            references.sort_unstable();
            references.dedup();
            self.new.references.append(&mut references);
        }
        let text = whole.element_name(root);
        let name = root_name.unwrap_or_else(|| self.name(NameKey::of(text), text));
        self.new.elements.push(CommonElement {
            closure,
            name,
            first_symbol: first_symbol as u32,
            first_reference: first_reference as u32,
            traits: whole.elements[root as usize].traits,
        });
    }

    fn name_of_symbol(&mut self, whole: &ObjectSummary, symbol: u32) -> u32 {
        if self.known_names[symbol as usize] == UNASKED {
            let SymbolSummary { key, name, .. } = whole.symbols[symbol as usize];
            self.known_names[symbol as usize] = self.name(key, whole.name(name));
        }
        self.known_names[symbol as usize]
    }

    fn name(&mut self, key: NameKey, text: &[u8]) -> u32 {
        *self.names.entry(key).or_insert_with(|| {
            let start = self.new.text.len() as u32;
            self.new.text.extend_from_slice(text);
            self.new.names.push(PackedName { key, text: Text { start, length: text.len() as u32 } });
            self.new.names.len() as u32 - 1
        })
    }
}
