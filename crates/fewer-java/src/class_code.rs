//! The code of one method: its spelling for the smart hash (jumps by instruction, constants by value), the members
//! it uses and the classes it creates. Loads of names that are no literals are found elsewhere.

use crate::class_constants::{Constants, spell_part};
use crate::class_file::{Bytes, Constant, Doubt, doubt};
use crate::summary::Unknown;

/// What the code of a method uses, by the numbers of constants; a number may occur more than once.
#[derive(Default)]
pub(crate) struct CodeUses {
    /// Fields and methods.
    pub members: Vec<u16>,
    /// Classes of which objects are made or that are handed on.
    pub creates: Vec<u16>,
    /// Classes named in any other way: casts, patterns, arrays, exceptions caught.
    pub classes: Vec<u16>,
    /// Texts of descriptors: types of lambdas.
    pub descriptors: Vec<u16>,
    /// Texts of strings.
    pub strings: Vec<u16>,
    pub unknowns: Vec<Unknown>,
}

impl CodeUses {
    pub fn clear(&mut self) {
        self.members.clear();
        self.creates.clear();
        self.classes.clear();
        self.descriptors.clear();
        self.strings.clear();
        self.unknowns.clear();
    }
}

/// What the operands of an instruction are.
enum Operands {
    None,
    /// Bytes to hash as they are.
    Plain(usize),
    /// A constant, by one or by two bytes, and plain bytes after it.
    ShortConstant,
    Constant(usize),
    /// A jump by two or by four bytes.
    Jump,
    WideJump,
    TableSwitch,
    LookupSwitch,
    Wide,
}

const fn operands(opcode: u8) -> Option<Operands> {
    Some(match opcode {
        0x00..=0x0f | 0x1a..=0x35 | 0x3b..=0x83 | 0x85..=0x98 | 0xac..=0xb1 | 0xbe | 0xbf | 0xc2 | 0xc3 => {
            Operands::None
        }
        0x10 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => Operands::Plain(1),
        0x11 | 0x84 => Operands::Plain(2),
        0x12 => Operands::ShortConstant,
        0x13 | 0x14 | 0xb2..=0xb8 | 0xbb | 0xbd | 0xc0 | 0xc1 => Operands::Constant(0),
        0xb9 | 0xba => Operands::Constant(2),
        0xc5 => Operands::Constant(1),
        0x99..=0xa8 | 0xc6 | 0xc7 => Operands::Jump,
        0xc8 | 0xc9 => Operands::WideJump,
        0xaa => Operands::TableSwitch,
        0xab => Operands::LookupSwitch,
        0xc4 => Operands::Wide,
        _ => return None,
    })
}

/// How long the instructions are whose bytes are hashed as they are; 0 for all others.
const PLAIN_LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut opcode = 0;
    while opcode < 256 {
        lengths[opcode] = match operands(opcode as u8) {
            Some(Operands::None) => 1,
            Some(Operands::Plain(count)) => 1 + count as u8,
            _ => 0,
        };
        opcode += 1;
    }
    lengths
};

/// One instruction, taken apart.
pub(crate) struct Instruction<'a> {
    pub opcode: u8,
    pub constant: Option<u16>,
    plain: &'a [u8],
    jump: Option<i64>,
    /// The jumps of a switch other than its default: so many bytes each, of which the last four count.
    cases: &'a [u8],
    case_length: usize,
    pub length: usize,
}

impl<'a> Instruction<'a> {
    /// Distances in bytes.
    pub fn jumps(&self) -> impl Iterator<Item = i64> + use<'a> {
        let distance =
            |case: &[u8]| case.last_chunk().map_or(0, |bytes| i64::from(i32::from_be_bytes(*bytes)));
        self.jump.into_iter().chain(self.cases.chunks_exact(self.case_length).map(distance))
    }
}

#[inline]
pub(crate) fn instruction(code: &[u8], at: usize) -> Result<Instruction<'_>, Doubt> {
    let mut bytes = Bytes::new(&code[at..]);
    let opcode = bytes.u1()?;
    let mut read =
        Instruction { opcode, constant: None, plain: &[], jump: None, cases: &[], case_length: 4, length: 1 };
    let Some(operands) = operands(opcode) else { return doubt("an instruction is not known") };
    match operands {
        Operands::None => {}
        Operands::Plain(count) => {
            read.plain = bytes.take(count)?;
            read.length += count;
        }
        Operands::ShortConstant => {
            // The short and the long form differ by where the pool keeps the constant.
            read.opcode = 0x13;
            read.constant = Some(u16::from(bytes.u1()?));
            read.length += 1;
        }
        Operands::Constant(more) => {
            read.constant = Some(bytes.u2()?);
            read.plain = bytes.take(more)?;
            read.length += 2 + more;
        }
        Operands::Jump => {
            read.jump = Some(i64::from(bytes.u2()? as i16));
            read.length += 2;
        }
        Operands::WideJump => {
            read.jump = Some(i64::from(bytes.u4()? as i32));
            read.length += 4;
        }
        Operands::TableSwitch | Operands::LookupSwitch => switch(code, at, &mut read)?,
        Operands::Wide => {
            let count = if code.get(at + 1) == Some(&0x84) { 5 } else { 3 };
            read.plain = bytes.take(count)?;
            read.length += count;
        }
    }
    Ok(read)
}

fn switch<'a>(code: &'a [u8], at: usize, read: &mut Instruction<'a>) -> Result<(), Doubt> {
    let start = (at / 4 + 1) * 4;
    let mut bytes = Bytes::new(code.get(start..).unwrap_or_default());
    read.jump = Some(i64::from(bytes.u4()? as i32));
    let is_table = read.opcode == 0xaa;
    let (first, second) = (bytes.u4()?, if is_table { bytes.u4()? } else { 0 });
    let count = if is_table {
        (i64::from(second as i32) - i64::from(first as i32) + 1).max(0) as u64
    } else {
        u64::from(first)
    };
    read.case_length = if is_table { 4 } else { 8 };
    let length = count * read.case_length as u64;
    if length > code.len() as u64 {
        return doubt("a switch is larger than its method");
    }
    let head = start + 4;
    let entries = head + if is_table { 8 } else { 4 };
    let end = entries + length as usize;
    // The keys are hashed as they are; the jumps among them as well, which only makes the hash finer.
    let Some(plain) = code.get(head..end) else { return doubt("a switch ends too early") };
    read.plain = if is_table { &plain[..8] } else { plain };
    read.cases = &code[entries..end];
    read.length = end - at;
    Ok(())
}

/// Where a jump cannot lead.
const NOWHERE: u32 = u32::MAX;

/// Spells the code of methods, one after the other.
#[derive(Default)]
pub(crate) struct CodeReader {
    /// Per byte of the code, the number of the instruction that starts there; the end counts as one.
    places: Vec<u32>,
    /// Where the spelling of a jump waits for the place of its target.
    jumps: Vec<(usize, usize)>,
}

impl CodeReader {
    /// Spells the code of a method and notes what it uses. `code` holds the instructions only. Tells whether
    /// something is loaded by name.
    pub fn read(
        &mut self,
        constants: &Constants<'_>,
        code: &[u8],
        out: &mut Vec<u8>,
        uses: &mut CodeUses,
    ) -> Result<bool, Doubt> {
        self.places.clear();
        self.places.resize(code.len() + 1, NOWHERE);
        self.jumps.clear();
        let mut loads = false;
        // What lies between `plain` and `at` is spelt as it is.
        let (mut plain, mut at, mut number) = (0, 0, 0);
        while let Some(&opcode) = code.get(at) {
            self.places[at] = number;
            number += 1;
            let length = PLAIN_LENGTHS[usize::from(opcode)];
            if length > 0 {
                at += usize::from(length);
                continue;
            }
            out.extend_from_slice(&code[plain..at]);
            let read = instruction(code, at)?;
            out.push(read.opcode);
            out.extend_from_slice(read.plain);
            if let Some(constant) = read.constant {
                constants.spell(constant, out)?;
                loads |= note_use(constants, read.opcode, constant, uses)?;
            }
            for jump in read.jumps() {
                let Ok(target) = usize::try_from(at as i64 + jump) else {
                    return doubt("a jump leads nowhere");
                };
                self.jumps.push((out.len(), target));
                out.extend_from_slice(&[0; 4]);
            }
            at += read.length;
            plain = at;
        }
        if at != code.len() {
            return doubt("the last instruction is cut off");
        }
        out.extend_from_slice(&code[plain..]);
        self.places[at] = number;
        for &(spelling, target) in &self.jumps {
            match self.places.get(target) {
                Some(&place) if place != NOWHERE => {
                    out[spelling..spelling + 4].copy_from_slice(&place.to_be_bytes());
                }
                Some(_) | None => return doubt("a jump leads nowhere"),
            }
        }
        Ok(loads)
    }

    /// Spells the exception table of the code read last; `bytes` starts at its length.
    pub fn read_handlers(
        &self,
        constants: &Constants<'_>,
        bytes: &mut Bytes<'_>,
        out: &mut Vec<u8>,
        uses: &mut CodeUses,
    ) -> Result<(), Doubt> {
        for _ in 0..bytes.u2()? {
            for _ in 0..3 {
                let place = self.places.get(usize::from(bytes.u2()?)).copied().unwrap_or(NOWHERE);
                out.extend_from_slice(&place.to_be_bytes());
            }
            match bytes.u2()? {
                0 => spell_part(b'a', b"", out),
                class => {
                    constants.spell(class, out)?;
                    uses.classes.push(class);
                }
            }
        }
        Ok(())
    }
}

/// Notes what an instruction with a constant uses; tells whether it loads something by name.
fn note_use(
    constants: &Constants<'_>,
    opcode: u8,
    constant: u16,
    uses: &mut CodeUses,
) -> Result<bool, Doubt> {
    match opcode {
        0xb2..=0xb5 => uses.members.push(constant),
        0xb6..=0xb9 => {
            uses.members.push(constant);
            return constants.is_load(constant);
        }
        0xba => note_dynamic(constants, constant, uses)?,
        0xbb => uses.creates.push(constant),
        0xbd | 0xc0 | 0xc1 | 0xc5 => uses.classes.push(constant),
        0x13 => match constants.item(constant)? {
            Constant::String(text) => uses.strings.push(text),
            Constant::Class(_) => uses.creates.push(constant),
            Constant::MethodHandle { .. } => note_handle(constants, constant, uses)?,
            Constant::Dynamic { .. } => note_dynamic(constants, constant, uses)?,
            _ => {}
        },
        _ => {}
    }
    Ok(false)
}

/// `REF_newInvokeSpecial`.
const CREATES: u8 = 8;

fn note_handle(constants: &Constants<'_>, index: u16, uses: &mut CodeUses) -> Result<(), Doubt> {
    if let Constant::MethodHandle { kind, reference } = constants.item(index)? {
        uses.members.push(reference);
        if kind == CREATES {
            uses.creates.push(constants.owner(reference)?);
        }
    }
    Ok(())
}

/// A lambda, a method reference, a concatenation: the bootstrap's arguments are used.
fn note_dynamic(constants: &Constants<'_>, index: u16, uses: &mut CodeUses) -> Result<(), Doubt> {
    let (method, arguments) = constants.bootstrap(index)?;
    note_handle(constants, method, uses)?;
    uses.descriptors.push(constants.dynamic_descriptor(index)?);
    for argument in arguments.iter() {
        match constants.item(argument)? {
            Constant::MethodHandle { .. } => note_handle(constants, argument, uses)?,
            Constant::Class(_) => uses.creates.push(argument),
            Constant::String(text) => uses.strings.push(text),
            _ => {}
        }
    }
    Ok(())
}
