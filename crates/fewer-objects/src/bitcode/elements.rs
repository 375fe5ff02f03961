//! From the globals of modules to the elements, symbols and references of a summary. Reading bodies and constants
//! is done elsewhere; here is decided what they mean to fewer.

use std::collections::HashMap;
use std::ops::Range;

use fewer_core::{Digest, Domain};

use super::Unreadable;
use super::assembly;
use super::bitstream::Abbreviations;
use super::draft::Draft;
use super::function::read_body;
use super::module::{Global, GlobalKind, GlobalLinkage, Module, Value};
use super::virtual_calls;
use crate::summary::*;
use crate::symbol_names::test_role;
use crate::virtual_tables::call_name;

const CONTENT: Domain = Domain::new("bitcode.content");
const WHOLE: Domain = Domain::new("bitcode.whole");
const ASSEMBLY: Domain = Domain::new("bitcode.assembly");

/// How deep labels by content may nest before raw bytes must do: a guard against crafted files.
const LABEL_DEPTH: u32 = 32;

/// Lists of functions that run before and after `main`, in the order of their effect on content.
const START_LISTS: [&[u8]; 2] = [b"llvm.global_ctors", b"llvm.global_dtors"];
/// Sections whose pointers are called before or after `main`.
const START_SECTIONS: [&[u8]; 5] = [b".init_array", b".fini_array", b".preinit_array", b".ctors", b".dtors"];

/// An element in the making.
struct Made {
    name: Text,
    traits: Traits,
    content: Content,
    references: Range<usize>,
}

enum Content {
    Untouched,
    /// It waits for the content of others.
    Open(Box<Draft>),
    /// It is being closed; until then its bytes alone stand for it.
    Busy(Digest),
    Done(Digest),
}

/// All elements of one file, gathered module by module.
pub struct Elements<'b> {
    bytes: &'b [u8],
    summary: ObjectSummary,
    made: Vec<Made>,
    references: Vec<Reference>,
    compilers: Vec<String>,
}

impl<'b> Elements<'b> {
    pub fn new(bytes: &'b [u8]) -> Elements<'b> {
        Elements {
            bytes,
            summary: ObjectSummary::default(),
            made: Vec::new(),
            references: Vec::new(),
            compilers: Vec::new(),
        }
    }

    /// Adds the elements of a module.
    pub fn take(&mut self, mut module: Module<'_>, known: &mut Abbreviations) -> Result<(), Unreadable> {
        self.compilers.extend(compilers(&module));
        let starts = starts(&mut module)?;
        let mut places = Places::default();
        for global in &module.globals {
            let element = if is_element(global) { self.made.len() as u32 } else { NO_ELEMENT };
            places.elements.push(element);
            places.symbols.push(NO_ELEMENT);
            if element != NO_ELEMENT {
                let made = Made {
                    name: Text::default(),
                    traits: traits(&module, global),
                    content: Content::Untouched,
                    references: 0..0,
                };
                self.made.push(made);
            }
        }
        let first =
            self.made.len() - places.elements.iter().filter(|&&element| element != NO_ELEMENT).count();
        for index in 0..module.globals.len() as u32 {
            self.name(&module, index, &mut places);
        }
        for (global, _) in &starts {
            if let Some(made) = self.made.get_mut(places.elements[*global as usize] as usize) {
                made.traits = made.traits.with(Traits::INITIALISER);
            }
        }
        self.contents(&mut module, known, &starts, &mut places)?;
        self.assembly(&module, &mut places);
        for element in first..self.made.len() {
            self.close(element as u32, &places, 0);
        }
        Ok(())
    }

    /// All of it but the closures, which also cover what is told later.
    pub fn finish(mut self) -> ObjectSummary {
        self.compilers.sort();
        self.compilers.dedup();
        self.summary.compiler = self.compilers.join(" + ");
        for made in self.made {
            let Content::Done(content) = made.content else { unreachable!("every element was closed") };
            let first_reference = self.summary.references.len() as u32;
            self.summary.elements.push(ElementSummary {
                content,
                closure: None,
                name: made.name,
                first_reference,
                traits: made.traits,
            });
            self.summary.references.extend_from_slice(&self.references[made.references]);
        }
        self.summary
    }

    /// The name of a defined global, and its symbol if it has one.
    fn name(&mut self, module: &Module<'_>, index: u32, places: &mut Places) {
        let global = &module.globals[index as usize];
        let element = places.elements[index as usize];
        if element == NO_ELEMENT {
            return;
        }
        let section = global.section.and_then(|section| module.sections.get(section as usize));
        if let Some(section) = section {
            self.note_bounds(section, element);
        }
        let name = if global.is_named() && global.linkage != GlobalLinkage::AvailableExternally {
            let symbol = self.symbol(global.name, linkage(module, global), element);
            places.symbols[index as usize] = symbol;
            self.summary.symbols[symbol as usize].name
        } else {
            self.summary.keep(section.map_or(global.name, Vec::as_slice))
        };
        self.made[element as usize].name = name;
    }

    fn symbol(&mut self, name: &[u8], linkage: Linkage, element: u32) -> u32 {
        let text = self.summary.keep(name);
        self.summary.symbols.push(SymbolSummary {
            key: NameKey::of(name),
            name: text,
            element,
            size: if element == NO_ELEMENT { 0 } else { UNKNOWN_SIZE },
            linkage,
            role: test_role(name, linkage == Linkage::Local),
        });
        self.summary.symbols.len() as u32 - 1
    }

    /// Variables first: what functions know by content is mostly constants.
    fn contents(
        &mut self,
        module: &mut Module<'_>,
        known: &mut Abbreviations,
        starts: &[(u32, u64)],
        places: &mut Places,
    ) -> Result<(), Unreadable> {
        let mut draft = Draft::default();
        for index in 0..module.globals.len() as u32 {
            let element = places.elements[index as usize];
            let Global { kind, initialiser, .. } = module.globals[index as usize];
            if element == NO_ELEMENT || kind == GlobalKind::Function {
                continue;
            }
            draft.clear();
            draft.digest(module.context);
            module.write_properties(index, &mut draft)?;
            match initialiser {
                Some(value) if is_virtual_table(&module.globals[index as usize]) => {
                    virtual_calls::write_table(module, value, &mut draft)?;
                }
                Some(value) => module.write_value(value, &mut draft)?,
                None => {}
            }
            self.keep(element, &mut draft, module, places);
        }
        let mut bodies = std::mem::take(&mut module.bodies).into_iter();
        for index in 0..module.globals.len() as u32 {
            let global = &module.globals[index as usize];
            if global.kind != GlobalKind::Function || global.is_declaration {
                continue;
            }
            let body = bodies.next().ok_or(Unreadable::RECORD)?;
            if places.elements[index as usize] == NO_ELEMENT {
                continue;
            }
            draft.clear();
            draft.digest(module.context);
            for (_, order) in starts.iter().filter(|(global, _)| *global == index) {
                draft.number(*order);
            }
            module.write_properties(index, &mut draft)?;
            match read_body(module, index, body, known, &mut draft) {
                Ok(calls) => draft.names.extend(calls.names()),
                Err(error) => self.count_as_whole(module, index, &error, &mut draft),
            }
            self.keep(places.elements[index as usize], &mut draft, module, places);
        }
        Ok(())
    }

    /// A function that cannot be read leads to everything in its module and changes with it.
    fn count_as_whole(&mut self, module: &Module<'_>, index: u32, error: &Unreadable, draft: &mut Draft) {
        let name = String::from_utf8_lossy(module.globals[index as usize].name).into_owned();
        self.summary.notes.push(format!("{name}: {error}, so it counts as the whole file"));
        draft.clear();
        draft.digest(Digest::of(WHOLE, self.bytes));
        draft.number(index as u64);
        draft.references.extend(0..module.globals.len() as u32);
        draft.names.push(call_name(None));
    }

    /// Takes over what was drafted for an element.
    fn keep(&mut self, element: u32, draft: &mut Draft, module: &Module<'_>, places: &mut Places) {
        let mut references = Vec::new();
        draft.references.sort_unstable();
        draft.references.dedup();
        for &target in &draft.references {
            self.refer(target, module, places, &mut references);
        }
        for name in std::mem::take(&mut draft.names) {
            self.refer_by_name(&name, module, places, &mut references);
        }
        references.sort_unstable();
        references.dedup();
        let start = self.references.len();
        self.references.append(&mut references);
        self.made[element as usize].references = start..self.references.len();
        let content = if self.fill(draft, places) {
            Content::Done(Digest::of(CONTENT, &draft.bytes))
        } else {
            Content::Open(Box::new(draft.clone()))
        };
        self.made[element as usize].content = content;
    }

    /// Fills the holes of a draft whose content is known; says whether that is all.
    fn fill(&self, draft: &mut Draft, places: &Places) -> bool {
        let mut holes = std::mem::take(&mut draft.holes);
        holes.retain(|&(place, global)| {
            match self.made.get(places.elements[global as usize] as usize).map(|made| &made.content) {
                Some(Content::Done(digest)) => draft.fill(place, *digest),
                Some(Content::Untouched | Content::Open(_) | Content::Busy(_)) => return true,
                None => {}
            }
            false
        });
        draft.holes = holes;
        draft.holes.is_empty()
    }

    /// The content of an element: those that wait for others are hashed once these are.
    fn close(&mut self, element: u32, places: &Places, depth: u32) -> Digest {
        let made = &mut self.made[element as usize];
        let mut draft = match std::mem::replace(&mut made.content, Content::Untouched) {
            Content::Open(draft) => draft,
            Content::Untouched => Box::default(),
            Content::Busy(digest) => {
                made.content = Content::Busy(digest);
                return digest;
            }
            Content::Done(digest) => {
                made.content = Content::Done(digest);
                return digest;
            }
        };
        let raw = Digest::of(CONTENT, &draft.bytes);
        if depth > LABEL_DEPTH {
            made.content = Content::Open(draft);
            return raw;
        }
        made.content = Content::Busy(raw);
        for (place, global) in std::mem::take(&mut draft.holes) {
            let target = places.elements[global as usize];
            if target != NO_ELEMENT {
                draft.fill(place, self.close(target, places, depth + 1));
            }
        }
        let digest = Digest::of(CONTENT, &draft.bytes);
        self.made[element as usize].content = Content::Done(digest);
        digest
    }

    /// A reference to a global: to its element if no other object can mean another by it, else to its name.
    fn refer(&mut self, target: u32, module: &Module<'_>, places: &mut Places, out: &mut Vec<Reference>) {
        let global = &module.globals[target as usize];
        let element = places.elements[target as usize];
        if global.name.starts_with(b"llvm.") {
            return;
        }
        if element != NO_ELEMENT && (traits_are_private(global) || !global.is_named()) {
            out.push(Reference::Element(element));
        }
        if !global.linkage.is_local() && global.is_named() {
            let mut symbol = places.symbols[target as usize];
            if symbol == NO_ELEMENT {
                symbol = self.symbol(global.name, Linkage::Undefined, NO_ELEMENT);
                places.symbols[target as usize] = symbol;
            }
            out.push(Reference::Symbol(symbol));
        }
    }

    /// A reference to whatever has a name, in this module or elsewhere.
    fn refer_by_name(
        &mut self,
        name: &[u8],
        module: &Module<'_>,
        places: &mut Places,
        out: &mut Vec<Reference>,
    ) {
        if places.by_name.is_empty() {
            places.by_name =
                module.globals.iter().zip(0..).map(|(global, index)| (global.name.to_vec(), index)).collect();
        }
        if let Some(&target) = places.by_name.get(name) {
            return self.refer(target, module, places, out);
        }
        if let Some(&symbol) = places.outside.get(name) {
            return out.push(Reference::Symbol(symbol));
        }
        let symbol = self.symbol(name, Linkage::Undefined, NO_ELEMENT);
        places.outside.insert(name.to_vec(), symbol);
        out.push(Reference::Symbol(symbol));
    }

    /// The assembly of a module is one element, with the labels that it defines.
    fn assembly(&mut self, module: &Module<'_>, places: &mut Places) {
        let text = &module.assembly;
        if text.is_empty() {
            return;
        }
        let mut labels = assembly::labels(text);
        // Code of the module may refer to a label that no other module sees.
        for label in &mut labels {
            label.is_global |= module.globals.iter().any(|global| global.name == label.name);
        }
        let mut traits = Traits::CODE;
        if !labels.iter().any(|label| label.is_global) {
            traits = traits.with(Traits::PRIVATE);
        }
        if START_SECTIONS.iter().any(|section| crate::symbol_names::contains(text, section)) {
            traits = traits.with(Traits::INITIALISER);
        }
        let element = self.made.len() as u32;
        let name = self.summary.keep(b"(assembly)");
        for label in &labels {
            let linkage = match (label.is_weak, label.is_global) {
                (true, _) => Linkage::Weak,
                (false, true) => Linkage::Strong,
                (false, false) => Linkage::Local,
            };
            self.symbol(&label.name, linkage, element);
        }
        let mut references = Vec::new();
        for name in
            assembly::names(text).iter().filter(|name| labels.iter().all(|label| label.name != **name))
        {
            self.refer_by_name(name, module, places, &mut references);
        }
        references.sort_unstable();
        references.dedup();
        let start = self.references.len();
        self.references.append(&mut references);
        let content = Content::Done(Digest::of(ASSEMBLY, text));
        self.made.push(Made { name, traits, content, references: start..self.references.len() });
    }

    fn note_bounds(&mut self, section: &[u8], element: u32) {
        let is_identifier = section.first().is_some_and(|byte| !byte.is_ascii_digit())
            && section.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if is_identifier {
            let key = |prefix: &[u8]| NameKey::of(&[prefix, section].concat());
            self.summary.bounded.push(Bounded { start: key(b"__start_"), stop: key(b"__stop_"), element });
        }
    }
}

/// Where the globals of a module are in the summary.
#[derive(Default)]
struct Places {
    /// By global; `NO_ELEMENT` for what is defined elsewhere.
    elements: Vec<u32>,
    symbols: Vec<u32>,
    /// Globals by name, once something is looked up by name.
    by_name: HashMap<Vec<u8>, u32>,
    /// Symbols of names that are no globals.
    outside: HashMap<Vec<u8>, u32>,
}

fn is_virtual_table(global: &Global<'_>) -> bool {
    global.is_constant && (global.name.starts_with(b"_ZTV") || global.name.starts_with(b"_ZTC"))
}

/// Whether a global is code or data of the module; lists for the compiler and linker are not.
fn is_element(global: &Global<'_>) -> bool {
    !global.is_declaration && global.linkage != GlobalLinkage::Appending && !global.name.starts_with(b"llvm.")
}

/// No other object can refer to it, or what others refer to is not this copy.
fn traits_are_private(global: &Global<'_>) -> bool {
    global.linkage.is_local() || global.linkage == GlobalLinkage::AvailableExternally
}

fn traits(module: &Module<'_>, global: &Global<'_>) -> Traits {
    let mut traits = match global.kind {
        GlobalKind::Function | GlobalKind::Chosen => Traits::CODE.with(Traits::TRACED),
        GlobalKind::Variable if global.is_constant => Traits::default(),
        GlobalKind::Variable => Traits::WRITABLE,
        GlobalKind::Alias => {
            let target = global.initialiser.and_then(|value| module.global_behind(value));
            let is_code = |target: u32| module.globals[target as usize].kind == GlobalKind::Function;
            if target.is_some_and(is_code) { Traits::CODE.with(Traits::TRACED) } else { Traits::default() }
        }
    };
    if traits_are_private(global) {
        traits = traits.with(Traits::PRIVATE);
    }
    if linkage(module, global) == Linkage::Weak || global.comdat.is_some() {
        traits = traits.with(Traits::SHARED);
    }
    traits
}

/// What the linker sees of a definition. An object's copy of what is in a group may be dropped for another's.
fn linkage(module: &Module<'_>, global: &Global<'_>) -> Linkage {
    let is_in_group = || {
        let target = global.initialiser.filter(|_| global.kind == GlobalKind::Alias);
        let target = target.and_then(|value| module.global_behind(value));
        global.comdat.is_some()
            || target.is_some_and(|target| module.globals[target as usize].comdat.is_some())
    };
    match global.linkage {
        GlobalLinkage::External if is_in_group() => Linkage::Weak,
        GlobalLinkage::External | GlobalLinkage::Appending => Linkage::Strong,
        GlobalLinkage::Weak | GlobalLinkage::Common => Linkage::Weak,
        GlobalLinkage::Internal | GlobalLinkage::Private => Linkage::Local,
        GlobalLinkage::AvailableExternally => Linkage::Undefined,
    }
}

/// The functions that run before or after `main`, each with what tells its turn.
fn starts(module: &mut Module<'_>) -> Result<Vec<(u32, u64)>, Unreadable> {
    let mut starts = Vec::new();
    for index in 0..module.globals.len() {
        let Global { name, initialiser: Some(value), section, .. } = module.globals[index] else { continue };
        let list = START_LISTS.iter().position(|list| *list == name);
        let section = section.and_then(|section| module.sections.get(section as usize));
        let is_called_by_section =
            section.is_some_and(|section| START_SECTIONS.iter().any(|start| section.starts_with(start)));
        if let Some(list) = list {
            for entry in entries(module, value) {
                if let [priority, function, ..] = entry[..]
                    && let Some(function) = module.global_behind(function)
                {
                    let priority = match module.value(priority)? {
                        Value::Constant(constant) => module.integer(constant).unwrap_or(-1),
                        Value::Global(_) | Value::Argument(_) | Value::Instruction(_) => -1,
                    };
                    starts.push((function, (list as u64) << 32 | priority as u32 as u64));
                }
            }
        } else if is_called_by_section {
            let called = module.globals_in(value)?;
            starts.extend(called.into_iter().map(|function| (function, u64::MAX)));
        }
    }
    starts.sort_unstable();
    starts.dedup();
    Ok(starts)
}

/// The entries of a list of structs.
fn entries(module: &Module<'_>, list: u64) -> Vec<Vec<u64>> {
    let parts = |value: u64| match module.value(value) {
        Ok(Value::Constant(index)) => module.aggregate(index).map(<[u64]>::to_vec),
        Ok(Value::Global(_) | Value::Argument(_) | Value::Instruction(_)) | Err(_) => None,
    };
    parts(list).unwrap_or_default().into_iter().filter_map(parts).collect()
}

/// The compilers' own words with the machine, as object files have them.
fn compilers(module: &Module<'_>) -> Vec<String> {
    let triple = String::from_utf8_lossy(&module.triple).into_owned();
    let machine = match triple.split('-').next() {
        Some("x86_64") => "x86-64",
        Some("aarch64") => "AArch64",
        Some(other) => other,
        None => "",
    };
    module.metadata.texts_under(b"llvm.ident").iter().map(|words| format!("{words} for {machine}")).collect()
}
