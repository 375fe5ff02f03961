//! The ELF reader: one object file to its summary. Elements are sections, never split; content is bytes plus
//! references by label and place, so that it survives a rebuild, another directory and unrelated edits.
//! How objects come together is the linker's business.

use std::ops::Range;

use fewer_core::{Digest, DigestBuilder, Domain};

use crate::bitcode::read_embedded;
use crate::by_element::ByElement;
use crate::eh_frame;
use crate::line_numbers;
use crate::panic_places;
use crate::relocatable::*;
use crate::summary::*;
use crate::symbol_names::{is_counter, test_role};

const CONTENT: Domain = Domain::new("elf.content");
const CLOSURE: Domain = Domain::new("elf.closure");
const OPAQUE_FILE: Domain = Domain::new("elf.opaque");

/// How deep labels by content may nest before raw bytes must do: a guard against crafted files.
const LABEL_DEPTH: u32 = 32;

/// Bytes of a section's name.
const USUAL_NAME: usize = 16;

/// What a section is to the reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Ignored,
    Element(u32),
    /// Strings and constants that the linker merges: only the entries referred to count.
    Merged,
    EhFrame,
    Initialisers,
}

/// An element in the making.
struct Draft {
    section: Option<usize>,
    traits: Traits,
    /// The symbol it is best known by.
    name: Option<u32>,
    has_weak: bool,
    has_strong: bool,
    content: Progress,
    /// Its part of the reader's references, once its content is known.
    references: Range<usize>,
}

/// Buffers for the content of one element; kept for the next.
#[derive(Default)]
struct Buffers {
    bytes: Vec<u8>,
    references: Vec<Reference>,
}

/// The closures found so far, with buffers for the next.
struct Closures {
    known: Vec<Option<Option<Digest>>>,
    parts: Vec<Vec<Digest>>,
    digest: DigestBuilder,
}

/// How far an element's content digest is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Untouched,
    Busy,
    Done(Digest),
}

/// Reads one object. A file that cannot be understood becomes one opaque element, with a note.
pub fn read_object(bytes: &[u8]) -> ObjectSummary {
    match ElfFile::parse(bytes) {
        Ok(file) if is_slim_lto(&file) => opaque(
            bytes,
            "it holds only link-time-optimisation code of gcc (-flto without -ffat-lto-objects)".to_string(),
        ),
        Ok(file) => read_embedded(&file).unwrap_or_else(|| ObjectReader::new(&file).run()),
        Err(error) => opaque(bytes, error.to_string()),
    }
}

/// A file that fewer cannot see into: every test that may contain it depends on all of it.
pub fn opaque(bytes: &[u8], cause: String) -> ObjectSummary {
    let mut summary = ObjectSummary::default();
    let name = summary.keep(b"(whole file)");
    summary.elements.push(ElementSummary {
        content: Digest::of(OPAQUE_FILE, bytes),
        closure: None,
        name,
        first_reference: 0,
        traits: Traits::OPAQUE.with(Traits::INITIALISER),
    });
    summary.notes.push(cause);
    summary
}

fn is_slim_lto(file: &ElfFile<'_>) -> bool {
    file.symbols.iter().any(|symbol| symbol.name == b"__gnu_lto_slim")
}

struct ObjectReader<'f, 'd> {
    file: &'f ElfFile<'d>,
    roles: Vec<Role>,
    drafts: Vec<Draft>,
    summary: ObjectSummary,
    /// Symbols that other objects can see: name and offset.
    exports: ByElement<(Digest, u64)>,
    /// Unwinding rules and exception tables, and what else belongs to an element without being in its section: parts of
    /// the text of all.
    frames: ByElement<(usize, usize)>,
    frame_text: Vec<u8>,
    frame_references: ByElement<Reference>,
    references: Vec<Reference>,
    buffers: Vec<Buffers>,
    /// Per ELF symbol: its name's digest (zero where it has none) and its place in the summary.
    name_digests: Vec<Digest>,
    summary_symbols: Vec<u32>,
    /// Per ELF symbol which of its arguments is a line number, if one is.
    line_arguments: Vec<Option<u8>>,
    has_panic_places: bool,
    raw: Vec<Option<Digest>>,
}

impl<'f, 'd> ObjectReader<'f, 'd> {
    fn new(file: &'f ElfFile<'d>) -> Self {
        let (sections, symbols) = (file.sections.len(), file.symbols.len());
        // The names of all symbols as they are in the file. Elements without a symbol are named after their section.
        let mut text = Vec::with_capacity(file.symbol_names.len() + file.section_names.len());
        text.extend_from_slice(file.symbol_names);
        let summary =
            ObjectSummary { text, symbols: Vec::with_capacity(symbols), ..ObjectSummary::default() };
        ObjectReader {
            file,
            roles: Vec::with_capacity(sections),
            drafts: Vec::with_capacity(sections),
            summary,
            exports: ByElement::with_capacity(symbols),
            frames: ByElement::with_capacity(sections),
            frame_text: Vec::new(),
            frame_references: ByElement::with_capacity(sections),
            references: Vec::with_capacity(symbols + sections),
            buffers: Vec::new(),
            name_digests: Vec::with_capacity(symbols),
            summary_symbols: Vec::with_capacity(symbols),
            line_arguments: Vec::with_capacity(symbols),
            has_panic_places: panic_places::are_possible(file),
            raw: Vec::new(),
        }
    }

    fn run(mut self) -> ObjectSummary {
        self.classify_sections();
        self.read_symbols();
        self.mark_initialisers();
        let count = self.drafts.len();
        self.raw = vec![None; count];
        self.exports.gather(count);
        (0..count as u32).for_each(|element| self.exports.of_mut(element).sort_unstable());
        self.attach_frames();
        self.frames.gather(count);
        self.frame_references.gather(count);
        for element in 0..self.drafts.len() as u32 {
            self.content(element, 0);
        }
        self.finish()
    }

    fn classify_sections(&mut self) {
        let mut exported = vec![false; self.file.sections.len()];
        let mut defined = vec![false; self.file.sections.len()];
        for symbol in &self.file.symbols {
            if let Place::Section(section) = symbol.place
                && symbol.kind != STT_SECTION
            {
                defined[section] = true;
                exported[section] |= symbol.binding != Binding::Local;
            }
        }
        for (index, section) in self.file.sections.iter().enumerate() {
            let role = match section_role(section, !self.file.relocations(index).is_empty(), exported[index])
            {
                Role::Element(_) if section.size == 0 && !defined[index] => Role::Ignored,
                Role::Element(_) => {
                    let element = self.drafts.len() as u32;
                    self.drafts.push(Draft::of(Some(index), section_traits(section)));
                    Role::Element(element)
                }
                other => other,
            };
            self.roles.push(role);
        }
    }

    fn read_symbols(&mut self) {
        for (index, symbol) in self.file.symbols.iter().enumerate() {
            self.line_arguments.push(line_numbers::line_argument(symbol.name).map(|argument| argument as u8));
            let named = !symbol.name.is_empty() && symbol.kind != STT_SECTION && symbol.kind != STT_FILE;
            let local = symbol.binding == Binding::Local;
            if !named || (local && (is_counter(symbol.name) || symbol.place == Place::Undefined)) {
                self.name_digests.push(Digest::default());
                self.summary_symbols.push(NO_ELEMENT);
                continue;
            }
            let digest = NameKey::digest(symbol.name);
            self.name_digests.push(digest);
            let element = self.element_of_symbol(symbol);
            let in_group = element != NO_ELEMENT && self.drafts[element as usize].traits.has(Traits::SHARED);
            let linkage = match symbol.binding {
                _ if element == NO_ELEMENT => Linkage::Undefined,
                Binding::Local => Linkage::Local,
                Binding::Weak => Linkage::Weak,
                Binding::Global if in_group => Linkage::Weak,
                Binding::Global => Linkage::Strong,
            };
            if element != NO_ELEMENT {
                self.define(element, index as u32, digest, linkage);
            }
            let name = Text { start: symbol.name_start, length: symbol.name.len() as u32 };
            self.summary_symbols.push(self.summary.symbols.len() as u32);
            self.summary.symbols.push(SymbolSummary {
                key: NameKey::from_digest(digest),
                name,
                element,
                size: u32::try_from(symbol.size).unwrap_or(u32::MAX),
                linkage,
                role: test_role(symbol.name, local),
            });
        }
        for draft in &mut self.drafts {
            if !draft.has_weak && !draft.has_strong {
                draft.traits = draft.traits.with(Traits::PRIVATE);
            }
            // Of a weak section the linker may keep another object's copy; a strong symbol in it forbids that.
            if draft.has_weak && !draft.has_strong {
                draft.traits = draft.traits.with(Traits::SHARED);
            }
        }
    }

    /// The element a symbol is defined in; common and absolute symbols get one of their own.
    fn element_of_symbol(&mut self, symbol: &Symbol<'d>) -> u32 {
        let own = |reader: &mut Self, traits: Traits, tag: u64, value: u64| {
            let element = reader.drafts.len() as u32;
            reader.drafts.push(Draft::of(None, traits));
            let start = reader.frame_text.len();
            reader.frame_text.extend_from_slice([tag, value].map(u64::to_le_bytes).as_flattened());
            reader.frames.add(element, (start, reader.frame_text.len()));
            element
        };
        match symbol.place {
            Place::Undefined => NO_ELEMENT,
            Place::Section(section) => match self.roles[section] {
                Role::Element(element) => element,
                Role::Ignored | Role::Merged | Role::EhFrame | Role::Initialisers => NO_ELEMENT,
            },
            Place::Common => own(self, Traits::WRITABLE.with(Traits::SHARED), 1, symbol.size),
            Place::Absolute => own(self, Traits::default(), 2, symbol.value),
        }
    }

    fn define(&mut self, element: u32, symbol: u32, digest: Digest, linkage: Linkage) {
        let value = self.file.symbols[symbol as usize].value;
        let draft = &mut self.drafts[element as usize];
        if linkage != Linkage::Local {
            self.exports.add(element, (digest, value));
        }
        draft.has_weak |= linkage == Linkage::Weak;
        draft.has_strong |= linkage == Linkage::Strong;
        let rank = |index: u32| {
            let symbol = &self.file.symbols[index as usize];
            (symbol.value, symbol.binding == Binding::Local, symbol.name)
        };
        if draft.name.is_none_or(|best| rank(symbol) < rank(best)) {
            draft.name = Some(symbol);
        }
    }

    fn mark_initialisers(&mut self) {
        for (index, role) in self.roles.iter().enumerate() {
            if *role != Role::Initialisers {
                continue;
            }
            for relocation in self.file.relocations(index) {
                if let Some(element) = element_at(self.file, &self.roles, relocation.symbol()) {
                    let draft = &mut self.drafts[element as usize];
                    draft.traits = draft.traits.with(Traits::INITIALISER);
                }
            }
        }
    }

    /// Unwinding rules, personality and exception table belong to the function they describe.
    fn attach_frames(&mut self) {
        let file = self.file;
        let mut text = std::mem::take(&mut self.frame_text);
        let mut references = Vec::new();
        for section in 0..self.roles.len() {
            if self.roles[section] != Role::EhFrame {
                continue;
            }
            for frame in eh_frame::frames(file.sections[section].data, file.relocations(section)) {
                let Some(element) = element_at(file, &self.roles, frame.function.symbol()) else { continue };
                let start = text.len();
                for rules in [frame.rules, frame.common_rules] {
                    text.extend_from_slice(&(rules.len() as u64).to_le_bytes());
                    text.extend_from_slice(rules);
                }
                for (place, relocation) in frame.references() {
                    text.extend_from_slice(&place.to_le_bytes());
                    self.label(relocation, &mut text, &mut references, 0);
                }
                shorten(&mut text, start);
                self.frames.add(element, (start, text.len()));
                references.drain(..).for_each(|reference| self.frame_references.add(element, reference));
            }
        }
        self.frame_text = text;
    }

    /// The content digest of an element: computed once, on demand, because private data without a name of its
    /// own is labelled by its content.
    fn content(&mut self, element: u32, depth: u32) -> Digest {
        match self.drafts[element as usize].content {
            Progress::Done(digest) => return digest,
            Progress::Busy => return self.raw_content(element),
            Progress::Untouched if depth > LABEL_DEPTH => return self.raw_content(element),
            Progress::Untouched => {}
        }
        self.drafts[element as usize].content = Progress::Busy;
        let mut buffers = self.buffers.pop().unwrap_or_default();
        let Buffers { bytes, references } = &mut buffers;
        for (name, value) in self.exports.of(element) {
            bytes.extend_from_slice(&name.to_bytes());
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        let frames = self.frames.of(element);
        bytes.extend_from_slice(&(frames.len() as u64).to_le_bytes());
        for &(start, end) in frames {
            bytes.extend_from_slice(&(end - start).to_le_bytes());
            bytes.extend_from_slice(&self.frame_text[start..end]);
        }
        references.extend_from_slice(self.frame_references.of(element));
        if let Some(section) = self.drafts[element as usize].section {
            self.section_content(section, bytes, references, depth);
        }
        references.sort_unstable();
        references.dedup();
        let digest = Digest::of(CONTENT, bytes);
        let start = self.references.len();
        self.references.append(references);
        bytes.clear();
        self.buffers.push(buffers);
        let draft = &mut self.drafts[element as usize];
        draft.references = start..self.references.len();
        draft.content = Progress::Done(digest);
        digest
    }

    fn section_content(
        &mut self,
        index: usize,
        out: &mut Vec<u8>,
        references: &mut Vec<Reference>,
        depth: u32,
    ) {
        let file = self.file;
        let section = &file.sections[index];
        let relocations = file.relocations(index);
        out.extend_from_slice(&section.size.to_le_bytes());
        let start = out.len();
        match section.is_nobits() {
            true => {}
            false if section.has(SHF_EXECINSTR) => out.extend_from_slice(section.data),
            false => extend_but_digest(out, section.data),
        }
        if section.has(SHF_EXECINSTR) && !relocations.is_empty() {
            let argument = |symbol: u32| self.line_arguments.get(symbol as usize)?.map(usize::from);
            for place in line_numbers::places(file.machine, section.data, relocations, argument) {
                out[start + place.start..start + place.end].fill(0xee);
            }
        }
        let panics = if self.has_panic_places { panic_places::files(file, index) } else { Vec::new() };
        for (place, relocation) in relocations.iter().enumerate() {
            out.extend_from_slice(&relocation.offset().to_le_bytes());
            out.extend_from_slice(&relocation.kind().to_le_bytes());
            match panics.get(place).copied().flatten() {
                Some(source) => {
                    out.extend_from_slice(b"P");
                    extend_bounded(out, source);
                }
                None => self.label(relocation, out, references, depth),
            }
        }
    }

    /// Bytes only, for the rare element that leads back to itself while it is being labelled.
    fn raw_content(&mut self, element: u32) -> Digest {
        if let Some(digest) = self.raw[element as usize] {
            return digest;
        }
        let digest = match self.drafts[element as usize].section {
            Some(section) => Digest::of(CONTENT, self.file.sections[section].data),
            None => Digest::default(),
        };
        self.raw[element as usize] = Some(digest);
        digest
    }

    /// What a relocation refers to, in words that mean the same in every build: a global symbol by name, a
    /// named local by name, anything else by content.
    fn label(
        &mut self,
        relocation: &Relocation,
        out: &mut Vec<u8>,
        references: &mut Vec<Reference>,
        depth: u32,
    ) {
        let Some(symbol) = self.file.symbols.get(relocation.symbol() as usize).copied() else {
            out.extend_from_slice(b"?");
            return;
        };
        if relocation.symbol() == 0 {
            out.extend_from_slice(b"0");
            out.extend_from_slice(&relocation.addend().to_le_bytes());
            return;
        }
        if symbol.binding != Binding::Local {
            out.extend_from_slice(b"G");
            out.extend_from_slice(&self.name_digests[relocation.symbol() as usize].to_bytes());
            out.extend_from_slice(&relocation.addend().to_le_bytes());
            let index = self.summary_symbols[relocation.symbol() as usize];
            if index != NO_ELEMENT {
                references.push(Reference::Symbol(index));
            }
            return;
        }
        let offset = (symbol.value as i64).wrapping_add(relocation.addend());
        match symbol.place {
            Place::Section(section) => match self.roles[section] {
                Role::Merged => self.merged_label(section, &symbol, relocation, out),
                Role::Element(element) => {
                    self.element_label(element, relocation, offset, out, depth);
                    references.push(Reference::Element(element));
                }
                Role::Ignored | Role::EhFrame | Role::Initialisers => {
                    out.extend_from_slice(b"I");
                    extend_bounded(out, self.file.sections[section].name.bytes());
                    out.extend_from_slice(&offset.to_le_bytes());
                }
            },
            Place::Absolute | Place::Common | Place::Undefined => {
                out.extend_from_slice(b"B");
                out.extend_from_slice(&offset.to_le_bytes());
            }
        }
    }

    fn element_label(
        &mut self,
        element: u32,
        relocation: &Relocation,
        offset: i64,
        out: &mut Vec<u8>,
        depth: u32,
    ) {
        let own_name = self.name_digests[relocation.symbol() as usize];
        let (name, offset) = if own_name != Digest::default() {
            (own_name, relocation.addend())
        } else if let Some(known) = self.drafts[element as usize].name {
            let start = self.file.symbols[known as usize].value as i64;
            (self.name_digests[known as usize], offset.wrapping_sub(start))
        } else {
            out.extend_from_slice(b"A");
            let content = self.content(element, depth + 1);
            out.extend_from_slice(&content.to_bytes());
            out.extend_from_slice(&offset.to_le_bytes());
            return;
        };
        out.extend_from_slice(b"L");
        out.extend_from_slice(&name.to_bytes());
        out.extend_from_slice(&offset.to_le_bytes());
    }

    /// The entry of a mergeable section that is referred to. On x86-64 a place relative to the instruction lies 4
    /// to 8 bytes past the addend, as an immediate may follow. A symbol of the entry itself settles which; from a
    /// section's symbol every entry it may mean is taken.
    fn merged_label(&self, section: usize, symbol: &Symbol<'_>, relocation: &Relocation, out: &mut Vec<u8>) {
        let section = &self.file.sections[section];
        let offset = (symbol.value as i64).wrapping_add(relocation.addend());
        let relative = self.file.machine == Machine::X86_64 && is_pc_relative(relocation.kind());
        let (first, last) = match relative {
            true if symbol.kind != STT_SECTION && (-8..=-4).contains(&relocation.addend()) => {
                (symbol.value as i64, symbol.value as i64)
            }
            true => (offset.saturating_add(4), offset.saturating_add(8)),
            false => (offset, offset),
        };
        let size = section.data.len() as i64;
        out.extend_from_slice(b"M");
        if first < 0 || first >= size {
            // Out of the section: label by everything it holds.
            out.extend_from_slice(&offset.to_le_bytes());
            extend_bounded(out, section.data);
            return;
        }
        let mut at = first;
        while at <= last && at < size {
            let (start, end) = merged_entry(section, at as usize);
            out.extend_from_slice(&(at as usize - start).to_le_bytes());
            extend_bounded(out, &section.data[start..end]);
            out.push(0xff);
            at = end as i64;
        }
    }

    fn finish(mut self) -> ObjectSummary {
        self.summary.compiler = compiler(self.file);
        let closures = self.closures();
        let usual_names = self.file.section_names.len() + self.file.sections.len() * USUAL_NAME;
        let most_text = self.summary.text.len() + usual_names * MOST_OVERLAP;
        self.summary.elements.reserve_exact(self.drafts.len());
        self.summary.references.reserve_exact(self.references.len());
        let drafts = std::mem::take(&mut self.drafts);
        for (index, draft) in drafts.into_iter().enumerate() {
            let element = index as u32;
            let name = match (draft.name, draft.section) {
                (Some(symbol), _) => {
                    let kept = self.summary_symbols[symbol as usize];
                    self.summary.symbols[kept as usize].name
                }
                (None, Some(section)) if self.summary.text.len() < most_text => {
                    self.summary.keep(self.file.sections[section].name.bytes())
                }
                (None, Some(_) | None) => Text::default(),
            };
            if let Some(section) = draft.section {
                self.note_bounds(section, element);
            }
            let Progress::Done(content) = draft.content else { unreachable!("every element was visited") };
            self.summary.elements.push(ElementSummary {
                content,
                closure: closures[index],
                name,
                first_reference: self.summary.references.len() as u32,
                traits: draft.traits,
            });
            self.summary.references.extend_from_slice(&self.references[draft.references]);
        }
        self.summary
    }

    fn note_bounds(&mut self, section: usize, element: u32) {
        let name = self.file.sections[section].name;
        // Compilers' own sections are no identifiers.
        if name.starts_with(b".") {
            return;
        }
        let name = name.bytes();
        let is_identifier = !name.is_empty()
            && !name[0].is_ascii_digit()
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if is_identifier {
            let key = |prefix: &[u8]| NameKey::of(&[prefix, name].concat());
            self.summary.bounded.push(Bounded { start: key(b"__start_"), stop: key(b"__stop_"), element });
        }
    }

    /// Per shared element the digest of all it leads to within the object; see [`ElementSummary::closure`].
    fn closures(&self) -> Vec<Option<Digest>> {
        let mut closures = Closures {
            known: vec![None; self.drafts.len()],
            parts: Vec::new(),
            digest: DigestBuilder::new(CLOSURE),
        };
        let closure = |(index, draft): (usize, &Draft)| {
            let is_common = draft.traits.has(Traits::SHARED) && !draft.traits.has(Traits::PRIVATE);
            is_common.then(|| self.closure(index as u32, &mut closures, 0)).flatten()
        };
        self.drafts.iter().enumerate().map(closure).collect()
    }

    fn closure(&self, element: u32, closures: &mut Closures, depth: u32) -> Option<Digest> {
        if let Some(closure) = closures.known[element as usize] {
            return closure;
        }
        // Found again while it is being computed: a cycle, which has no closure.
        closures.known[element as usize] = Some(None);
        let draft = &self.drafts[element as usize];
        let Progress::Done(content) = draft.content else { return None };
        if depth > LABEL_DEPTH || draft.traits.has(Traits::INITIALISER) {
            return None;
        }
        let mut parts = closures.parts.pop().unwrap_or_default();
        for reference in &self.references[draft.references.clone()] {
            if let Reference::Element(target) = *reference
                && target != element
            {
                if self.drafts[target as usize].traits.has(Traits::WRITABLE) {
                    return None;
                }
                parts.push(self.closure(target, closures, depth + 1)?);
            }
        }
        // Most lead to nothing private, and are told by their own content.
        let closure = match parts.is_empty() {
            true => content,
            false => closures.digest.digest(content).set(&mut parts).finish(),
        };
        parts.clear();
        closures.parts.push(parts);
        closures.known[element as usize] = Some(Some(closure));
        Some(closure)
    }
}

impl Draft {
    fn of(section: Option<usize>, traits: Traits) -> Draft {
        Draft {
            section,
            traits,
            name: None,
            has_weak: false,
            has_strong: false,
            content: Progress::Untouched,
            references: 0..0,
        }
    }
}

fn section_role(section: &Section<'_>, has_relocations: bool, is_exported: bool) -> Role {
    let name = section.name;
    if !section.is_alloc() {
        return Role::Ignored;
    }
    match section.kind {
        SHT_NOTE | SHT_GROUP => Role::Ignored,
        SHT_INIT_ARRAY | SHT_FINI_ARRAY | SHT_PREINIT_ARRAY => Role::Initialisers,
        _ if name.is(b".eh_frame") => Role::EhFrame,
        _ if name.is(b".sframe") || name.is(b".tm_clone_table") => Role::Ignored,
        _ if name.starts_with(b".ctors") || name.starts_with(b".dtors") => Role::Initialisers,
        _ if name.starts_with(b".init_array") || name.starts_with(b".fini_array") => Role::Initialisers,
        _ if section.has(SHF_MERGE) && !has_relocations && !is_exported && !section.has(SHF_WRITE) => {
            Role::Merged
        }
        _ => Role::Element(NO_ELEMENT),
    }
}

fn section_traits(section: &Section<'_>) -> Traits {
    let mut traits = Traits::default();
    if section.has(SHF_EXECINSTR) {
        traits = traits.with(Traits::CODE);
    }
    let name = section.name;
    let is_constant_after_start = name.starts_with(b".data.rel.ro") || name.starts_with(b".data.DW.ref.");
    let is_reference = name.starts_with(b".data.rel.local.DW.ref.") || name.starts_with(b".data.rel.DW.ref.");
    if section.has(SHF_WRITE) && !is_constant_after_start && !is_reference {
        traits = traits.with(Traits::WRITABLE);
    }
    if section.has(SHF_GROUP) {
        traits = traits.with(Traits::SHARED);
    }
    traits
}

/// The element that holds a symbol, if it is in one.
fn element_at(file: &ElfFile<'_>, roles: &[Role], symbol: u32) -> Option<u32> {
    match file.symbols.get(symbol as usize)?.place {
        Place::Section(section) => match roles[section] {
            Role::Element(element) => Some(element),
            Role::Ignored | Role::Merged | Role::EhFrame | Role::Initialisers => None,
        },
        Place::Undefined | Place::Absolute | Place::Common => None,
    }
}

/// R_X86_64_PC32, PLT32, GOTPCREL, GOTPCRELX, REX_GOTPCRELX, PC64 and the code-model variants.
fn is_pc_relative(kind: u32) -> bool {
    matches!(kind, 2 | 4 | 9 | 24 | 41 | 42 | 43)
}

/// The bounds of the entry that holds `at`: a string to its terminator, a constant of the entry size.
fn merged_entry(section: &Section<'_>, at: usize) -> (usize, usize) {
    let size = (section.entry_size as usize).clamp(1, section.data.len().max(1));
    let data = section.data;
    if !section.has(SHF_STRINGS) {
        let start = at / size * size;
        return (start, (start + size).min(data.len()));
    }
    // A tail of a string may be shared, so it counts from where it is referred to.
    if size == 1 {
        return (at, memchr::memchr(0, &data[at..]).map_or(data.len(), |end| at + end + 1));
    }
    let mut end = at;
    while end + size <= data.len() && data[end..end + size].iter().any(|&byte| byte != 0) {
        end += size;
    }
    (at, (end + size).min(data.len()))
}

/// What is longer is told by its digest: an object may refer to the same long text any number of times.
const LONG: usize = 256;

/// Adds bytes, or the digest of many.
fn extend_bounded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&bytes.len().to_le_bytes());
    if bytes.len() <= LONG {
        out.extend_from_slice(bytes);
    } else {
        out.extend_from_slice(&Digest::of(CONTENT, bytes).to_bytes());
    }
}

/// Adds the bytes of a section, or the digest of very many.
fn extend_but_digest(out: &mut Vec<u8>, bytes: &[u8]) {
    const VERY_MANY: usize = 16 << 20;
    match bytes.len() <= VERY_MANY {
        true => out.extend_from_slice(bytes),
        false => out.extend_from_slice(&Digest::of(CONTENT, bytes).to_bytes()),
    }
}

/// Puts the digest of a long end in its place; of any end once there is very much: sections of a crafted file may lie within
/// each other any number of times.
fn shorten(out: &mut Vec<u8>, start: usize) {
    const VERY_MUCH: usize = 64 << 20;
    if out.len() - start > LONG || start > VERY_MUCH {
        let digest = Digest::of(CONTENT, &out[start..]);
        out.truncate(start);
        out.extend_from_slice(&digest.to_bytes());
    }
}

/// The compilers' own words, once each, and the machine.
fn compiler(file: &ElfFile<'_>) -> String {
    let comment = file.section_named(b".comment").map_or(&b""[..], |section| section.data);
    let mut words: Vec<String> = comment
        .split(|&byte| byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    words.sort();
    words.dedup();
    let machine = match file.machine {
        Machine::X86_64 => "x86-64",
        Machine::Aarch64 => "AArch64",
    };
    format!("{} for {machine}", words.join(" + "))
}
