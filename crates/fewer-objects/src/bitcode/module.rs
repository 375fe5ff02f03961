//! The tables of one module: its globals, and the types, attributes, constants and metadata that its functions
//! use by number. Function bodies are kept unread.

use fewer_core::{Digest, DigestBuilder, Domain};

use super::Unreadable;
use super::attributes::{AttributeTables, Attributes};
use super::bitstream::{Abbreviations, Block, Item, Record};
use super::constants::Constants;
use super::draft::{Draft, Tag};
use super::metadata::Metadata;
use super::types::Types;
use crate::summary::NameKey;
use crate::symbol_names::is_counter;

const MODULE: Domain = Domain::new("bitcode.module");

mod block {
    pub const ATTRIBUTES: u32 = 9;
    pub const ATTRIBUTE_GROUPS: u32 = 10;
    pub const CONSTANTS: u32 = 11;
    pub const FUNCTION: u32 = 12;
    pub const METADATA: u32 = 15;
    pub const TYPES: u32 = 17;
    pub const BUNDLE_TAGS: u32 = 21;
    pub const METADATA_KINDS: u32 = 22;
    pub const SCOPES: u32 = 26;
}

/// What a value number stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    Global(u32),
    Constant(u32),
    Argument(u32),
    Instruction(u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GlobalKind {
    Variable,
    Function,
    Alias,
    /// A function that is chosen when the program starts.
    Chosen,
}

/// What the linker does with a global.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GlobalLinkage {
    External,
    /// Several objects may define it; the linker keeps one.
    Weak,
    Common,
    Internal,
    /// Without a symbol: its name means nothing.
    Private,
    /// For the optimiser only: the code comes from elsewhere.
    AvailableExternally,
    Appending,
}

impl GlobalLinkage {
    fn of(number: u64) -> Result<GlobalLinkage, Unreadable> {
        Ok(match number {
            0 | 5 | 6 | 15 => GlobalLinkage::External,
            1 | 4 | 7 | 10 | 11 | 16..=19 => GlobalLinkage::Weak,
            2 => GlobalLinkage::Appending,
            3 => GlobalLinkage::Internal,
            8 => GlobalLinkage::Common,
            9 | 13 | 14 => GlobalLinkage::Private,
            12 => GlobalLinkage::AvailableExternally,
            other => return Err(Unreadable::Unknown(format!("linkage {other}"))),
        })
    }

    pub fn is_local(self) -> bool {
        matches!(self, GlobalLinkage::Internal | GlobalLinkage::Private)
    }
}

pub struct Global<'d> {
    pub kind: GlobalKind,
    pub name: &'d [u8],
    /// Zero for those that are known by content.
    pub label: Digest,
    pub linkage: GlobalLinkage,
    pub is_declaration: bool,
    /// Of a variable: never written.
    pub is_constant: bool,
    pub is_thread_local: bool,
    pub section: Option<u32>,
    pub comdat: Option<u32>,
    /// The type of a function, the value's type of a variable.
    pub ty: u64,
    /// The value of a variable, the target of an alias.
    pub initialiser: Option<u64>,
    /// The fields of its record, without the place of the name.
    fields: Vec<u64>,
}

impl Global<'_> {
    /// Whether its name stands for it, in this object or in all.
    pub fn is_named(&self) -> bool {
        self.label != Digest::default()
    }
}

#[derive(Default)]
pub struct Module<'d> {
    pub types: Types,
    pub attributes: Attributes,
    pub globals: Vec<Global<'d>>,
    /// By number; those of the function being read follow the module's own.
    pub values: Vec<Value>,
    pub constants: Constants,
    pub metadata: Metadata<'d>,
    pub sections: Vec<Vec<u8>>,
    pub bundle_tags: Vec<Vec<u8>>,
    pub scopes: Vec<Vec<u8>>,
    pub bodies: Vec<Block<'d>>,
    pub assembly: Vec<u8>,
    pub triple: Vec<u8>,
    /// What holds for every element: target, layout, flags.
    pub context: Digest,
    data_layout: Vec<u8>,
    collectors: Vec<Vec<u8>>,
    comdats: Vec<Digest>,
}

impl<'d> Module<'d> {
    /// Reads all but the bodies of functions. The names of globals are in `names`.
    pub fn read(
        mut block: Block<'d>,
        names: &'d [u8],
        known: &mut Abbreviations,
    ) -> Result<Module<'d>, Unreadable> {
        let mut module = Module::default();
        let mut record = Record::default();
        let mut tables = AttributeTables::default();
        loop {
            match block.next(known, &mut record)? {
                Item::End => break,
                Item::Record => module.read_record(&record, names)?,
                Item::Block(inner) => module.read_block(inner, &mut tables, known, &mut record)?,
            }
        }
        module.attributes = tables.resolve(&module.types)?;
        module.context = module.context_digest()?;
        Ok(module)
    }

    pub fn value(&self, id: u64) -> Result<Value, Unreadable> {
        usize::try_from(id).ok().and_then(|id| self.values.get(id).copied()).ok_or(Unreadable::VALUE)
    }

    /// Appends what a value is.
    pub fn write_value(&mut self, id: u64, draft: &mut Draft) -> Result<(), Unreadable> {
        match self.value(id)? {
            Value::Global(global) => self.write_global(global, draft),
            Value::Constant(index) => return self.write_constant(index, draft),
            Value::Argument(index) => {
                draft.tag(Tag::Argument);
                draft.number(index as u64);
            }
            Value::Instruction(index) => {
                draft.tag(Tag::Instruction);
                draft.number(index as u64);
            }
        }
        Ok(())
    }

    /// Appends the label of a global: its name, or a hole for its content.
    pub fn write_global(&self, index: u32, draft: &mut Draft) {
        let global = &self.globals[index as usize];
        draft.references.push(index);
        if global.is_named() {
            draft.tag(Tag::Named);
            draft.digest(global.label);
            // How it is accessed follows from where it lives.
            draft.number(global.is_thread_local as u64);
        } else {
            draft.tag(Tag::Private);
            draft.hole(index);
        }
    }

    /// Appends all that the record of a global says, its own number aside.
    pub fn write_properties(&mut self, index: u32, draft: &mut Draft) -> Result<(), Unreadable> {
        let fields = std::mem::take(&mut self.globals[index as usize].fields);
        let kind = self.globals[index as usize].kind;
        self.write_fields(kind, &fields, draft)?;
        let global = &mut self.globals[index as usize];
        global.fields = fields;
        if !global.linkage.is_local() {
            draft.text(global.name);
        }
        self.write_attachments_of(index, draft)
    }

    fn write_fields(
        &mut self,
        kind: GlobalKind,
        fields: &[u64],
        draft: &mut Draft,
    ) -> Result<(), Unreadable> {
        use Field::*;
        let known: &[Field] = match kind {
            GlobalKind::Variable => &[
                Type, Number, Skip, Number, Number, Section, Number, Number, Skip, Number, Number, Comdat,
                Attributes, Number, Skip, Skip,
            ],
            GlobalKind::Function => &[
                Type, Number, Number, Number, Attributes, Number, Section, Number, Collector, Skip, Optional,
                Number, Comdat, Optional, Optional, Number, Number, Skip, Skip,
            ],
            GlobalKind::Alias => {
                &[Type, Number, Skip, Number, Number, Number, Number, Skip, Number, Skip, Skip]
            }
            GlobalKind::Chosen => &[Type, Number, Skip, Number, Number, Number, Skip, Skip],
        };
        draft.number(kind as u64);
        let field_of = |place: usize| known.get(place).copied().unwrap_or(Number);
        // Fields at the end that say nothing may be left out.
        let says = |(place, field): (usize, &u64)| *field != 0 && !matches!(field_of(place), Skip);
        let used = fields.iter().enumerate().rposition(says).map_or(0, |last| last + 1);
        draft.number(used as u64);
        for (place, &field) in fields.iter().enumerate().take(used) {
            match field_of(place) {
                Skip => {}
                Number => draft.number(field),
                Type => draft.digest(self.types.digest(field)?),
                Attributes => draft.digest(self.attributes.digest(field)?),
                Section | Collector | Comdat if field == 0 => draft.number(0),
                Section => draft.text(name_at(&self.sections, field)?),
                Collector => draft.text(name_at(&self.collectors, field)?),
                Comdat => draft.digest(*at(&self.comdats, field)?),
                Optional if field == 0 => draft.number(0),
                Optional => self.write_value(field - 1, draft)?,
            }
        }
        Ok(())
    }

    fn write_attachments_of(&mut self, index: u32, draft: &mut Draft) -> Result<(), Unreadable> {
        let own = |&(value, kind, node): &(u64, u64, u64)| {
            (self.value(value) == Ok(Value::Global(index))).then_some((kind, node))
        };
        let attached: Vec<(u64, u64)> = self.metadata.of_globals.iter().filter_map(own).collect();
        attached.into_iter().try_for_each(|(kind, node)| self.write_attachment(kind, node, draft))
    }

    /// Appends metadata that is attached to something, unless it is for debuggers.
    pub fn write_attachment(&mut self, kind: u64, node: u64, draft: &mut Draft) -> Result<(), Unreadable> {
        if let Some(name) = self.metadata.telling_kind(kind) {
            draft.tag(Tag::Attachment);
            draft.text(&name);
            draft.digest(self.metadata_digest(node)?);
        }
        Ok(())
    }

    fn read_block(
        &mut self,
        mut inner: Block<'d>,
        tables: &mut AttributeTables,
        known: &mut Abbreviations,
        record: &mut Record<'d>,
    ) -> Result<(), Unreadable> {
        match inner.id {
            block::ATTRIBUTES | block::ATTRIBUTE_GROUPS => tables.read(inner, known, record),
            block::TYPES => self.types.read(inner, known, record),
            block::CONSTANTS => self.read_constants(inner, known, record),
            block::METADATA => self.metadata.read(inner, known, record),
            block::METADATA_KINDS => self.metadata.read_kinds(inner, known, record),
            block::FUNCTION => {
                self.bodies.push(inner);
                Ok(())
            }
            block::BUNDLE_TAGS | block::SCOPES => {
                let is_scopes = inner.id == block::SCOPES;
                while inner.next_record(known, record)? {
                    if is_scopes { &mut self.scopes } else { &mut self.bundle_tags }.push(record.text(0));
                }
                Ok(())
            }
            // Summaries for the linker, orders of uses, offsets: nothing that defines a value.
            _ => Ok(()),
        }
    }

    fn read_record(&mut self, record: &Record<'d>, names: &'d [u8]) -> Result<(), Unreadable> {
        match record.code {
            1 if record.operand(0).is_none_or(|version| version < 2) => {
                return Err(Unreadable::Unknown("the form of LLVM before version 5".to_string()));
            }
            2 => self.triple = record.text(0),
            3 => self.data_layout = record.text(0),
            4 => self.assembly = record.text(0),
            5 => self.sections.push(record.text(0)),
            11 => self.collectors.push(record.text(0)),
            12 => {
                let [start, length, selection, ..] = record.operands[..] else {
                    return Err(Unreadable::RECORD);
                };
                let mut digest = DigestBuilder::new(MODULE);
                digest.bytes(name(names, start, length)?).number(selection);
                self.comdats.push(digest.finish());
            }
            7 => self.read_global(GlobalKind::Variable, record, names)?,
            8 => self.read_global(GlobalKind::Function, record, names)?,
            14 => self.read_global(GlobalKind::Alias, record, names)?,
            18 => self.read_global(GlobalKind::Chosen, record, names)?,
            // Version, libraries, offsets, file name, hash.
            1 | 6 | 13 | 16 | 17 => {}
            code => return Err(Unreadable::Unknown(format!("module record {code}"))),
        }
        Ok(())
    }

    fn read_global(
        &mut self,
        kind: GlobalKind,
        record: &Record<'d>,
        names: &'d [u8],
    ) -> Result<(), Unreadable> {
        let [start, length, fields @ ..] = record.operands.as_slice() else { return Err(Unreadable::RECORD) };
        let name = name(names, *start, *length)?;
        let field = |index: usize| fields.get(index).copied().unwrap_or(0);
        let (linkage, section, comdat, thread_local, initialiser) = match kind {
            GlobalKind::Variable => (field(3), field(5), field(11), field(7), field(2).checked_sub(1)),
            GlobalKind::Function => (field(3), field(6), field(12), 0, None),
            GlobalKind::Alias => (field(3), 0, 0, field(6), Some(field(2))),
            GlobalKind::Chosen => (field(3), 0, 0, 0, Some(field(2))),
        };
        let linkage = GlobalLinkage::of(linkage)?;
        let is_known_by_content =
            linkage == GlobalLinkage::Private || name.is_empty() || (linkage.is_local() && is_counter(name));
        let index = |number: u64| u32::try_from(number).ok().and_then(|number| number.checked_sub(1));
        self.values.push(Value::Global(self.globals.len() as u32));
        self.globals.push(Global {
            kind,
            name,
            label: if is_known_by_content { Digest::default() } else { NameKey::digest(name) },
            linkage,
            is_declaration: match kind {
                GlobalKind::Variable => initialiser.is_none(),
                GlobalKind::Function => field(2) != 0,
                GlobalKind::Alias | GlobalKind::Chosen => false,
            },
            is_constant: kind == GlobalKind::Variable && field(1) & 1 != 0,
            is_thread_local: thread_local != 0,
            section: index(section),
            comdat: index(comdat),
            ty: field(0),
            initialiser,
            fields: fields.to_vec(),
        });
        Ok(())
    }

    fn context_digest(&mut self) -> Result<Digest, Unreadable> {
        let mut digest = DigestBuilder::new(MODULE);
        digest.bytes(&self.triple).bytes(&self.data_layout);
        let mut flags = Vec::new();
        for flag in self.metadata.flags() {
            flags.push(self.metadata_digest(flag)?);
        }
        digest.set(&mut flags);
        Ok(digest.finish())
    }
}

/// What a field of a global's record is.
#[derive(Clone, Copy)]
enum Field {
    Number,
    Type,
    Attributes,
    Section,
    Collector,
    Comdat,
    /// A value's number and 1, or 0.
    Optional,
    /// A place in the file, what is written elsewhere, or whether the address matters: that follows from uses.
    Skip,
}

fn name(names: &[u8], start: u64, length: u64) -> Result<&[u8], Unreadable> {
    let start = usize::try_from(start).map_err(|_| Unreadable::RECORD)?;
    let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
    end.and_then(|end| names.get(start..end)).ok_or(Unreadable::RECORD)
}

/// An entry of a list that is counted from 1.
fn at<T>(list: &[T], number: u64) -> Result<&T, Unreadable> {
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    place.and_then(|place| list.get(place)).ok_or(Unreadable::RECORD)
}

fn name_at(list: &[Vec<u8>], number: u64) -> Result<&[u8], Unreadable> {
    at(list, number).map(Vec::as_slice)
}
