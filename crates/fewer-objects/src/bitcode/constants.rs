//! The constants of a module and of the function being read: integers, texts, aggregates, expressions over
//! globals, inline assembly. They are hashed by content and type.

use fewer_core::{Digest, DigestBuilder, Domain};

use super::Unreadable;
use super::assembly;
use super::bitstream::{Abbreviations, Block, Record};
use super::draft::{Draft, Tag};
use super::module::{Module, Value};

const CONSTANT: Domain = Domain::new("bitcode.constant");

/// How deep constants may nest, and how many nodes one may have when it is spelled out: guards against crafted files.
const MOST_NESTED: u32 = 128;
const MOST_NODES: usize = 1 << 22;

const SET_TYPE: u32 = 1;
pub const INTEGER: u32 = 4;
const AGGREGATE: u32 = 7;
const BLOCK_ADDRESS: u32 = 21;
const LAST_KNOWN: u32 = 36;

#[derive(Clone, Copy)]
struct Constant {
    ty: u64,
    code: u32,
    start: u32,
    length: u32,
    digest: Known,
}

/// What was found out about a constant.
#[derive(Clone, Copy)]
enum Known {
    Nothing,
    Busy,
    /// It leads to no global.
    Plain(Digest),
    LeadsOn,
}

#[derive(Default)]
pub struct Constants {
    list: Vec<Constant>,
    operands: Vec<u64>,
}

/// A state of the list that can be returned to.
#[derive(Clone, Copy)]
pub struct Level(usize, usize);

impl Constants {
    pub fn level(&self) -> Level {
        Level(self.list.len(), self.operands.len())
    }

    pub fn return_to(&mut self, level: Level) {
        self.list.truncate(level.0);
        self.operands.truncate(level.1);
    }

    fn operands(&self, constant: Constant) -> &[u64] {
        &self.operands[constant.start as usize..][..constant.length as usize]
    }

    fn get(&self, index: u32) -> Constant {
        self.list[index as usize]
    }
}

/// What an operand of a constant is.
#[derive(Clone, Copy)]
enum Part {
    Type,
    Value,
    Number,
}

/// What the operands of a kind of constant are; what is behind them is numbers.
fn parts(code: u32, operands: &[u64]) -> Result<Vec<Part>, Unreadable> {
    use Part::*;
    let pairs = |head: &[Part], rest: usize| {
        let mut parts = head.to_vec();
        (0..rest / 2).for_each(|_| parts.extend([Type, Value]));
        parts
    };
    let length = operands.len();
    Ok(match code {
        AGGREGATE | 13 | 16 | 33 | 34 => vec![Value; length],
        10 => vec![Number, Value, Value],
        11 => vec![Number, Type, Value],
        14 if length >= 4 => vec![Type, Value, Type, Value],
        14 => vec![Type, Value, Value],
        15 if length >= 4 => vec![Value, Value, Type, Value],
        15 => vec![Value; 3],
        17 => vec![Type, Value, Value],
        19 => vec![Type, Value, Value, Value],
        BLOCK_ADDRESS => vec![Type, Value, Number],
        25 => vec![Number, Value],
        27 | 29 => vec![Type, Value],
        12 | 20 if length % 2 == 1 => pairs(&[Type], length - 1),
        12 | 20 => pairs(&[], length),
        24 | 32 => pairs(&[Type, Number], length.saturating_sub(2)),
        31 => {
            let bits = *operands.get(2).ok_or(Unreadable::RECORD)?;
            let counts = operands.get(3).copied().unwrap_or(0);
            let words = if bits > 64 { 1 + (counts & 0xffff) + (counts >> 32 & 0xffff) } else { 2 };
            let head = 3 + words as usize;
            let mut parts = vec![Number; head];
            parts[0] = Type;
            pairs(&parts, length.checked_sub(head).ok_or(Unreadable::RECORD)?)
        }
        30 => vec![Type],
        2..=36 => Vec::new(),
        code => return Err(Unreadable::Unknown(format!("constant record {code}"))),
    })
}

impl<'d> Module<'d> {
    /// Reads a block of constants, of the module or of a function; each is the next value.
    pub fn read_constants(
        &mut self,
        mut block: Block<'d>,
        known: &mut Abbreviations,
        record: &mut Record<'d>,
    ) -> Result<(), Unreadable> {
        let mut ty = u64::MAX;
        while block.next_record(known, record)? {
            if record.code == SET_TYPE {
                ty = record.operand(0).ok_or(Unreadable::RECORD)?;
                self.types.digest(ty)?;
                continue;
            }
            if record.code > LAST_KNOWN || record.code == 0 {
                return Err(Unreadable::Unknown(format!("constant record {}", record.code)));
            }
            let start = self.constants.operands.len() as u32;
            self.constants.operands.extend_from_slice(&record.operands);
            let length = record.operands.len() as u32;
            let index = self.constants.list.len() as u32;
            self.constants.list.push(Constant {
                ty,
                code: record.code,
                start,
                length,
                digest: Known::Nothing,
            });
            self.values.push(Value::Constant(index));
        }
        Ok(())
    }

    /// Appends a constant: by its digest, or spelled out if it leads to globals.
    pub fn write_constant(&mut self, index: u32, draft: &mut Draft) -> Result<(), Unreadable> {
        match self.known(index, 0)? {
            Some(digest) => {
                draft.tag(Tag::Constant);
                draft.digest(digest);
                Ok(())
            }
            None => self.write_expression(index, draft, &mut 0, 0),
        }
    }

    /// The value of a small integer constant.
    pub fn integer(&self, index: u32) -> Option<i64> {
        let constant = self.constants.get(index);
        let is_zero = constant.code == 2;
        match self.constants.operands(constant) {
            [] if is_zero => Some(0),
            [number] if constant.code == INTEGER => Some(signed(*number)),
            _ => None,
        }
    }

    /// The values that an aggregate is made of.
    pub fn aggregate(&self, index: u32) -> Option<&[u64]> {
        let constant = self.constants.get(index);
        (constant.code == AGGREGATE).then(|| self.constants.operands(constant))
    }

    /// The global that a constant is the address of, seen through casts, steps of zero and authentication.
    pub fn global_behind(&self, value: u64) -> Option<u32> {
        let mut value = value;
        for _ in 0..MOST_NESTED {
            match self.value(value).ok()? {
                Value::Global(global) => return Some(global),
                Value::Constant(index) => {
                    let constant = self.constants.get(index);
                    let operands = self.constants.operands(constant);
                    let kinds = parts(constant.code, operands).ok()?;
                    let mut inner =
                        kinds.iter().zip(operands).filter(|(part, _)| matches!(part, Part::Value));
                    value = match constant.code {
                        11 | 12 | 20 | 24 | 31 | 32 | 33 | 34 | 27 | 29 => *inner.next()?.1,
                        _ => return None,
                    };
                }
                Value::Argument(_) | Value::Instruction(_) => return None,
            }
        }
        None
    }

    /// Every global in a constant, in order.
    pub fn globals_in(&mut self, value: u64) -> Result<Vec<u32>, Unreadable> {
        let mut draft = Draft::default();
        self.write_value(value, &mut draft)?;
        Ok(draft.references)
    }

    /// The digest of a constant that leads to no global.
    fn known(&mut self, index: u32, depth: u32) -> Result<Option<Digest>, Unreadable> {
        let constant = self.constants.get(index);
        match constant.digest {
            Known::Plain(digest) => return Ok(Some(digest)),
            Known::LeadsOn => return Ok(None),
            Known::Busy => return Err(Unreadable::Unknown("a constant that contains itself".to_string())),
            Known::Nothing if depth > MOST_NESTED => {
                return Err(Unreadable::Unknown("constants nested too deeply".to_string()));
            }
            Known::Nothing => self.constants.list[index as usize].digest = Known::Busy,
        }
        let digest = self.plain_digest(constant, depth)?;
        let known = digest.map_or(Known::LeadsOn, Known::Plain);
        self.constants.list[index as usize].digest = known;
        Ok(digest)
    }

    fn plain_digest(&mut self, constant: Constant, depth: u32) -> Result<Option<Digest>, Unreadable> {
        let mut digest = DigestBuilder::new(CONSTANT);
        digest.number(constant.code as u64).digest(self.types.digest(constant.ty)?);
        if matches!(constant.code, 18 | 23 | 28 | 30) {
            let operands = self.constants.operands(constant);
            if assembly::of_operands(constant.code, operands).is_some_and(|text| !text.is_empty()) {
                return Ok(None);
            }
        }
        let kinds = parts(constant.code, self.constants.operands(constant))?;
        let mut leads_on = false;
        for place in 0..constant.length as usize {
            let operand = self.constants.operands(constant)[place];
            match kinds.get(place).copied().unwrap_or(Part::Number) {
                Part::Number => drop(digest.number(operand)),
                Part::Type => drop(digest.digest(self.types.digest(operand)?)),
                Part::Value => match self.value(operand)? {
                    Value::Constant(index) => match self.known(index, depth + 1)? {
                        Some(part) => drop(digest.digest(part)),
                        None => leads_on = true,
                    },
                    Value::Global(_) => leads_on = true,
                    Value::Argument(_) | Value::Instruction(_) => return Err(Unreadable::RECORD),
                },
            }
        }
        Ok((!leads_on).then(|| digest.finish()))
    }

    fn write_expression(
        &mut self,
        index: u32,
        draft: &mut Draft,
        nodes: &mut usize,
        depth: u32,
    ) -> Result<(), Unreadable> {
        *nodes += 1;
        if *nodes > MOST_NODES || depth > MOST_NESTED {
            return Err(Unreadable::Unknown("constants nested too deeply".to_string()));
        }
        let constant = self.constants.get(index);
        draft.tag(Tag::Expression);
        draft.number(constant.code as u64);
        draft.digest(self.types.digest(constant.ty)?);
        draft.number(constant.length as u64);
        let kinds = parts(constant.code, self.constants.operands(constant))?;
        for place in 0..constant.length as usize {
            let operand = self.constants.operands(constant)[place];
            match kinds.get(place).copied().unwrap_or(Part::Number) {
                Part::Number => draft.number(operand),
                Part::Type => draft.digest(self.types.digest(operand)?),
                Part::Value => match self.value(operand)? {
                    Value::Constant(inner) if self.known(inner, 0)?.is_none() => {
                        self.write_expression(inner, draft, nodes, depth + 1)?;
                    }
                    Value::Constant(_) | Value::Global(_) => self.write_value(operand, draft)?,
                    Value::Argument(_) | Value::Instruction(_) => return Err(Unreadable::RECORD),
                },
            }
        }
        if let Some(text) = assembly::of_operands(constant.code, self.constants.operands(constant)) {
            draft.names.extend(assembly::names(&text));
        }
        Ok(())
    }
}

/// Signed numbers keep their sign in the lowest bit.
pub fn signed(number: u64) -> i64 {
    let magnitude = (number >> 1) as i64;
    match number {
        1 => i64::MIN,
        _ if number & 1 == 1 => -magnitude,
        _ => magnitude,
    }
}
