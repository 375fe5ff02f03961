//! The body of a function: every instruction with its operands resolved, so that numbers of values, types,
//! attributes and metadata are gone. What is for debuggers is dropped, and so are line numbers of assertions.

use super::Unreadable;
use super::bitstream::{Abbreviations, Block, Item, Record};
use super::constants::signed;
use super::draft::{Draft, Tag};
use super::metadata::ATTACHMENT;
use super::module::{Module, Value};
use super::runtime;
use super::types::Argument;
use super::virtual_calls::{Origin, Origins};
use crate::line_numbers::line_argument;

mod block {
    pub const CONSTANTS: u32 = 11;
    pub const METADATA: u32 = 15;
    pub const ATTACHMENTS: u32 = 16;
}

/// Calls carry their flags above the calling convention.
const CALL_HAS_TYPE: u64 = 1 << 15;
const CALL_HAS_MATH_FLAGS: u64 = 1 << 17;
const INVOKE_HAS_TYPE: u64 = 1 << 13;
/// An operand of a bundle that is metadata.
const BUNDLED_METADATA: u64 = 0x8000_0000;

/// Reads the body of a function into a draft that holds its properties already.
pub fn read_body<'d>(
    module: &mut Module<'d>,
    function: u32,
    block: Block<'d>,
    known: &mut Abbreviations,
    draft: &mut Draft,
) -> Result<Origins, Unreadable> {
    let levels = (module.values.len(), module.constants.level(), module.metadata.level());
    let parameters = module.types.function(module.globals[function as usize].ty)?.parameters().len();
    module.values.extend((0..parameters as u32).map(Value::Argument));
    let mut body = Body {
        module,
        draft,
        operands: Vec::new(),
        at: 0,
        defined: 0,
        written: Vec::new(),
        telling: 0,
        origins: Origins::default(),
    };
    let result = body.read(block, known);
    let origins = body.origins;
    module.values.truncate(levels.0);
    module.constants.return_to(levels.1);
    module.metadata.return_to(levels.2);
    result.map(|()| origins)
}

struct Body<'m, 'd> {
    module: &'m mut Module<'d>,
    draft: &'m mut Draft,
    /// Of the record being read, and how many are used.
    operands: Vec<u64>,
    at: usize,
    /// How many instructions defined a value.
    defined: u32,
    /// Per instruction its number among those written; `None` for those for debuggers.
    written: Vec<Option<u32>>,
    telling: u32,
    origins: Origins,
}

impl<'d> Body<'_, 'd> {
    fn read(&mut self, mut block: Block<'d>, known: &mut Abbreviations) -> Result<(), Unreadable> {
        let mut record = Record::default();
        loop {
            match block.next(known, &mut record)? {
                Item::End => break,
                Item::Record => {
                    std::mem::swap(&mut self.operands, &mut record.operands);
                    self.at = 0;
                    self.instruction(record.code)?;
                    std::mem::swap(&mut self.operands, &mut record.operands);
                }
                Item::Block(inner) => match inner.id {
                    block::CONSTANTS => self.module.read_constants(inner, known, &mut record)?,
                    block::METADATA => self.module.metadata.read(inner, known, &mut record)?,
                    block::ATTACHMENTS => self.attachments(inner, known, &mut record)?,
                    // Names of values, orders of uses.
                    _ => {}
                },
            }
        }
        self.origins.trace(self.module);
        Ok(())
    }

    /// Metadata of the function itself, or of one of its instructions.
    fn attachments(
        &mut self,
        mut block: Block<'d>,
        known: &mut Abbreviations,
        record: &mut Record<'d>,
    ) -> Result<(), Unreadable> {
        while block.next_record(known, record)? {
            if record.code != ATTACHMENT {
                return Err(Unreadable::Unknown(format!("attachment record {}", record.code)));
            }
            let has_instruction = record.operands.len() % 2 == 1;
            let (place, pairs) = record.operands.split_at(has_instruction as usize);
            let place = match place {
                [number] => {
                    let index = usize::try_from(*number).map_err(|_| Unreadable::RECORD)?;
                    match *self.written.get(index).ok_or(Unreadable::RECORD)? {
                        Some(place) => place as u64 + 1,
                        None => continue,
                    }
                }
                _ => 0,
            };
            for pair in pairs.chunks_exact(2) {
                let mark = self.draft.mark();
                self.draft.number(place);
                let start = self.draft.bytes.len();
                self.module.write_attachment(pair[0], pair[1], self.draft)?;
                if self.draft.bytes.len() == start {
                    self.draft.return_to(mark);
                }
            }
        }
        Ok(())
    }

    fn instruction(&mut self, code: u32) -> Result<(), Unreadable> {
        if matches!(code, 33 | 35 | 60..=66) {
            // Places in source, variables, hints about block addresses.
            return Ok(());
        }
        let mark = self.draft.mark();
        self.draft.tag(Tag::Record);
        self.draft.number(code as u64);
        if code == 1 {
            return self.rest_as_numbers();
        }
        let outcome = self.operands_of(code)?;
        self.rest_as_numbers()?;
        if code == 55 {
            // A bundle belongs to the call that follows.
            return Ok(());
        }
        if outcome.is_for_debuggers {
            self.draft.return_to(mark);
            self.written.push(None);
            return Ok(());
        }
        self.written.push(Some(self.telling));
        self.telling += 1;
        if outcome.has_value {
            self.module.values.push(Value::Instruction(self.defined));
            self.origins.define(outcome.origin);
            self.defined += 1;
        }
        Ok(())
    }

    /// Appends the operands of an instruction that are not plain numbers at its end.
    fn operands_of(&mut self, code: u32) -> Result<Outcome, Unreadable> {
        let mut origin = Origin::Other;
        let mut has_value = true;
        match code {
            // Unary and binary operations, extraction of fields, conversion of poison.
            56 | 58 | 26 => drop(self.value_with_type()?),
            2 => self.two_values()?,
            3 => {
                origin = Origin::Cast(self.value_with_type()?);
                self.ty()?;
            }
            // Comparisons.
            9 | 28 => self.two_values()?,
            27 => {
                self.value_with_type()?;
                self.value_with_type()?;
            }
            5 => {
                self.two_values()?;
                self.value()?;
            }
            29 => {
                let first = self.value_with_type()?;
                let second = self.value()?;
                self.value_with_type()?;
                origin = Origin::OneOf(vec![first, second]);
            }
            6 => {
                self.value_with_type()?;
                self.value_with_type()?;
            }
            7 | 8 => {
                self.two_values()?;
                self.value_with_type()?;
            }
            43 => origin = self.address()?,
            // Memory.
            19 => {
                self.ty()?;
                self.ty()?;
                self.absolute_value()?;
                origin = Origin::Variable;
            }
            20 | 41 => {
                origin = Origin::Load(self.value_with_type()?);
                self.ty()?;
                if code == 41 {
                    self.atomic(3)?;
                }
            }
            44 | 45 => {
                self.value_with_type()?;
                self.value_with_type()?;
                if code == 45 {
                    self.atomic(3)?;
                }
                has_value = false;
            }
            46 => {
                self.value_with_type()?;
                self.value_with_type()?;
                self.value()?;
                self.atomic(2)?;
            }
            59 => {
                self.value_with_type()?;
                self.value_with_type()?;
                self.atomic(3)?;
            }
            36 => {
                self.atomic(1)?;
                has_value = false;
            }
            23 => {
                self.ty()?;
                self.value()?;
                self.ty()?;
            }
            16 => origin = self.phi()?,
            34 => return self.call(),
            13 => return self.invoke(),
            57 => return self.call_or_branch(),
            47 => self.landing_pad()?,
            50 | 51 => {
                self.value()?;
                let count = self.number()?;
                self.draft.number(count);
                for _ in 0..count {
                    self.value_with_type()?;
                }
            }
            52 => drop(self.value()?),
            // All that follow define nothing.
            _ => {
                has_value = false;
                self.operands_of_ending(code)?;
            }
        }
        Ok(Outcome { has_value, is_for_debuggers: false, origin })
    }

    /// Instructions that end a block, and what belongs to the next instruction.
    fn operands_of_ending(&mut self, code: u32) -> Result<(), Unreadable> {
        match code {
            10 if self.operands.is_empty() => {}
            10 | 39 => {
                self.value_with_type()?;
                if code == 39 {
                    self.draft.names.push(runtime::RESUME.to_vec());
                }
            }
            11 if self.operands.len() >= 3 => {
                self.draft.number(self.operands[0]);
                self.draft.number(self.operands[1]);
                self.at = 2;
                self.value()?;
            }
            11 | 15 => {}
            12 => {
                self.ty()?;
                self.value()?;
                let target = self.number()?;
                self.draft.number(target);
                while self.at + 1 < self.operands.len() {
                    self.absolute_value()?;
                    let target = self.number()?;
                    self.draft.number(target);
                }
            }
            31 => {
                self.ty()?;
                self.value()?;
            }
            48 | 49 => drop(self.value()?),
            55 => self.bundle()?,
            code => return Err(Unreadable::Unknown(format!("instruction record {code}"))),
        }
        Ok(())
    }

    fn bundle(&mut self) -> Result<(), Unreadable> {
        let tag = self.number()?;
        let name = usize::try_from(tag).ok().and_then(|tag| self.module.bundle_tags.get(tag));
        self.draft.text(name.ok_or(Unreadable::RECORD)?);
        while self.at < self.operands.len() {
            if self.operands[self.at] == BUNDLED_METADATA {
                self.at += 1;
                let id = self.number()?;
                self.metadata(id)?;
            } else {
                self.value_with_type()?;
            }
        }
        Ok(())
    }

    fn two_values(&mut self) -> Result<(), Unreadable> {
        self.value_with_type()?;
        self.value()?;
        Ok(())
    }

    /// Some plain numbers, of which the last is the order of memory accesses, and its scope, known by name.
    fn atomic(&mut self, before: usize) -> Result<(), Unreadable> {
        for _ in 0..before {
            let number = self.number()?;
            self.draft.number(number);
        }
        let scope = self.number()?;
        let name = usize::try_from(scope).ok().and_then(|scope| self.module.scopes.get(scope));
        match name {
            Some(name) => self.draft.text(name),
            None if self.module.scopes.is_empty() => self.draft.number(scope),
            None => return Err(Unreadable::RECORD),
        }
        Ok(())
    }

    /// The address of an element, with its distance if that is constant.
    fn address(&mut self) -> Result<Origin, Unreadable> {
        let flags = self.number()?;
        self.draft.number(flags);
        let ty = self.ty()?;
        let base = self.value_with_type()?;
        let mut indices = Vec::new();
        while self.at < self.operands.len() {
            indices.push(self.value_with_type()?);
        }
        self.draft.number(indices.len() as u64);
        let offset = self.constant_offset(ty, &indices);
        Ok(Origin::Address { base, offset })
    }

    fn constant_offset(&self, ty: u64, indices: &[u32]) -> Option<i64> {
        let number = |id: u32| match self.module.value(id as u64).ok()? {
            Value::Constant(index) => self.module.integer(index),
            Value::Global(_) | Value::Argument(_) | Value::Instruction(_) => None,
        };
        let (first, rest) = indices.split_first()?;
        let first = number(*first)?;
        let mut offset =
            if first == 0 { 0 } else { first.checked_mul(self.module.types.layout(ty)?.0 as i64)? };
        let mut ty = ty;
        for &index in rest {
            let (step, inner) = self.module.types.step(ty, number(index)?)?;
            offset = offset.checked_add(step)?;
            ty = inner;
        }
        Some(offset)
    }

    fn phi(&mut self) -> Result<Origin, Unreadable> {
        self.ty()?;
        let mut sources = Vec::new();
        while self.at + 1 < self.operands.len() {
            let relative = signed(self.number()?);
            let id = (self.module.values.len() as i64).wrapping_sub(relative) as u32;
            self.write(id)?;
            sources.push(id);
            let source = self.number()?;
            self.draft.number(source);
        }
        self.draft.number(sources.len() as u64);
        Ok(Origin::OneOf(sources))
    }

    fn landing_pad(&mut self) -> Result<(), Unreadable> {
        self.ty()?;
        let is_cleanup = self.number()?;
        let count = self.number()?;
        self.draft.number(is_cleanup);
        self.draft.number(count);
        for _ in 0..count {
            let kind = self.number()?;
            self.draft.number(kind);
            self.value_with_type()?;
        }
        Ok(())
    }

    fn call(&mut self) -> Result<Outcome, Unreadable> {
        self.attributes()?;
        let convention = self.number()?;
        self.draft.number(convention);
        if convention & CALL_HAS_MATH_FLAGS != 0 {
            let flags = self.number()?;
            self.draft.number(flags);
        }
        if convention & CALL_HAS_TYPE == 0 {
            return Err(Unreadable::Unknown("a call without its type".to_string()));
        }
        self.callee_and_arguments()
    }

    fn invoke(&mut self) -> Result<Outcome, Unreadable> {
        self.attributes()?;
        let convention = self.number()?;
        self.draft.number(convention);
        if convention & INVOKE_HAS_TYPE == 0 {
            return Err(Unreadable::Unknown("a call without its type".to_string()));
        }
        for _ in 0..2 {
            let target = self.number()?;
            self.draft.number(target);
        }
        self.callee_and_arguments()
    }

    fn call_or_branch(&mut self) -> Result<Outcome, Unreadable> {
        self.attributes()?;
        let convention = self.number()?;
        if convention & CALL_HAS_TYPE == 0 {
            return Err(Unreadable::Unknown("a call without its type".to_string()));
        }
        let default = self.number()?;
        let count = self.number()?;
        [convention, default, count].into_iter().for_each(|number| self.draft.number(number));
        for _ in 0..count {
            let target = self.number()?;
            self.draft.number(target);
        }
        self.callee_and_arguments()
    }

    fn callee_and_arguments(&mut self) -> Result<Outcome, Unreadable> {
        let ty = self.ty()?;
        let callee = self.value_with_type()?;
        let name: &[u8] = match self.module.value(callee as u64) {
            Ok(Value::Global(global)) => self.module.globals[global as usize].name,
            Ok(Value::Constant(_)) => {
                let global = self.module.global_behind(callee as u64);
                global.map_or(b"", |global| self.module.globals[global as usize].name)
            }
            Ok(Value::Argument(_) | Value::Instruction(_)) | Err(_) => {
                self.origins.call(callee);
                b""
            }
        };
        let line = line_argument(name);
        let function = self.module.types.function(ty)?;
        let (has_value, is_variadic) = (function.has_result, function.is_variadic);
        let arguments: Vec<Argument> = function.arguments().collect::<Result<_, _>>()?;
        for (place, argument) in arguments.into_iter().enumerate() {
            match argument {
                Argument::Label => {
                    let label = self.number()?;
                    self.draft.number(label);
                }
                Argument::Metadata => {
                    let id = self.relative()?;
                    if !name.starts_with(b"llvm.dbg.") {
                        self.metadata(id as u64)?;
                    }
                }
                Argument::Value if line == Some(place) => self.line()?,
                Argument::Value => drop(self.value()?),
            }
        }
        while is_variadic && self.at < self.operands.len() {
            self.value_with_type()?;
        }
        if let Some(name) = runtime::function_behind(name) {
            self.draft.names.push(name);
        }
        let is_for_debuggers = name.starts_with(b"llvm.dbg.");
        let origin =
            if name.starts_with(b"llvm.type.checked.load") { Origin::Unknown } else { Origin::Other };
        Ok(Outcome { has_value, is_for_debuggers, origin })
    }

    /// An argument that is a line number, if it is a constant.
    fn line(&mut self) -> Result<(), Unreadable> {
        let id = self.relative()?;
        match self.module.value(id as u64)? {
            Value::Constant(_) => self.draft.tag(Tag::Line),
            Value::Global(_) | Value::Argument(_) | Value::Instruction(_) => self.write(id)?,
        }
        Ok(())
    }

    fn metadata(&mut self, id: u64) -> Result<(), Unreadable> {
        self.draft.tag(Tag::Metadata);
        let digest = self.module.metadata_digest(id)?;
        self.draft.digest(digest);
        Ok(())
    }

    fn attributes(&mut self) -> Result<(), Unreadable> {
        let number = self.number()?;
        self.draft.digest(self.module.attributes.digest(number)?);
        Ok(())
    }

    fn number(&mut self) -> Result<u64, Unreadable> {
        let number = self.operands.get(self.at).copied().ok_or(Unreadable::RECORD)?;
        self.at += 1;
        Ok(number)
    }

    fn rest_as_numbers(&mut self) -> Result<(), Unreadable> {
        self.draft.number((self.operands.len() - self.at) as u64);
        while self.at < self.operands.len() {
            let number = self.number()?;
            self.draft.number(number);
        }
        Ok(())
    }

    fn ty(&mut self) -> Result<u64, Unreadable> {
        let id = self.number()?;
        self.draft.digest(self.module.types.digest(id)?);
        Ok(id)
    }

    /// The number of a value, which is counted back from the instruction's own.
    fn relative(&mut self) -> Result<u32, Unreadable> {
        let back = self.number()? as u32;
        Ok((self.module.values.len() as u32).wrapping_sub(back))
    }

    fn value(&mut self) -> Result<u32, Unreadable> {
        let id = self.relative()?;
        self.write(id)?;
        Ok(id)
    }

    fn absolute_value(&mut self) -> Result<u32, Unreadable> {
        let id = self.number()? as u32;
        self.write(id)?;
        Ok(id)
    }

    /// A value; one that is defined later comes with its type.
    fn value_with_type(&mut self) -> Result<u32, Unreadable> {
        let id = self.relative()?;
        self.write(id)?;
        if id as usize >= self.module.values.len() {
            self.number()?;
        }
        Ok(id)
    }

    fn write(&mut self, id: u32) -> Result<(), Unreadable> {
        match (id as usize).checked_sub(self.module.values.len()) {
            None => self.module.write_value(id as u64, self.draft),
            Some(ahead) => {
                self.draft.tag(Tag::Instruction);
                self.draft.number(self.defined as u64 + ahead as u64);
                Ok(())
            }
        }
    }
}

/// What an instruction turned out to be.
struct Outcome {
    has_value: bool,
    is_for_debuggers: bool,
    origin: Origin,
}
