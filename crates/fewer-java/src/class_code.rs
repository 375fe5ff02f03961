//! The code of one method: its spelling for the smart hash (jumps by instruction, constants by value), the members
//! it uses, the classes it creates, and loads of names that are no literals.

use noak::reader::cpool::{Item, MethodKind};

use crate::class_constants::{Bytes, Constants, Doubt, doubt, spell_part};
use crate::mention::{lists_members, loaded_by};
use crate::summary::{LoadedKind, LoadedName, Unknown};

/// What the code of a method uses, by the numbers of constants.
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

fn operands(opcode: u8) -> Option<Operands> {
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

/// One instruction, taken apart.
struct Instruction<'a> {
    opcode: u8,
    constant: Option<u16>,
    plain: &'a [u8],
    /// Distances in bytes.
    jumps: Vec<i64>,
    length: usize,
}

fn instruction(code: &[u8], at: usize) -> Result<Instruction<'_>, Doubt> {
    let mut bytes = Bytes::new(&code[at..]);
    let opcode = bytes.u1()?;
    let mut read = Instruction { opcode, constant: None, plain: &[], jumps: Vec::new(), length: 1 };
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
            read.jumps.push(i64::from(bytes.u2()? as i16));
            read.length += 2;
        }
        Operands::WideJump => {
            read.jumps.push(i64::from(bytes.u4()? as i32));
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
    read.jumps.push(i64::from(bytes.u4()? as i32));
    let is_table = read.opcode == 0xaa;
    let (first, second) = (bytes.u4()?, if is_table { bytes.u4()? } else { 0 });
    let count = if is_table {
        (i64::from(second as i32) - i64::from(first as i32) + 1).max(0) as u64
    } else {
        u64::from(first)
    };
    let entry = if is_table { 4 } else { 8 };
    if count * entry > code.len() as u64 {
        return doubt("a switch is larger than its method");
    }
    let head = start + 4;
    let entries = head + if is_table { 8 } else { 4 };
    let end = entries + (count * entry) as usize;
    // The keys are hashed as they are; the jumps among them as well, which only makes the hash finer.
    let Some(plain) = code.get(head..end) else { return doubt("a switch ends too early") };
    read.plain = if is_table { &plain[..8] } else { plain };
    let mut bytes = Bytes::new(&code[entries..end]);
    for _ in 0..count {
        if !is_table {
            bytes.u4()?;
        }
        read.jumps.push(i64::from(bytes.u4()? as i32));
    }
    read.length = end - at;
    Ok(())
}

/// Spells the code of a method and notes what it uses. `code` holds the instructions only.
pub(crate) fn read_code(
    constants: &Constants<'_>,
    code: &[u8],
    out: &mut Vec<u8>,
    uses: &mut CodeUses,
) -> Result<Vec<u32>, Doubt> {
    let Places { places, targets } = places(code)?;
    let mut at = 0;
    let mut recent: Vec<Pushed> = Vec::new();
    while at < code.len() {
        let read = instruction(code, at)?;
        if targets[at] {
            // Who jumps here may have pushed something else.
            recent.clear();
        }
        out.push(read.opcode);
        out.extend_from_slice(read.plain);
        if let Some(constant) = read.constant {
            constants.spell(constant, out)?;
            note_use(constants, read.opcode, constant, uses, &mut recent)?;
        } else {
            recent.push(plain_effect(read.opcode));
        }
        for jump in &read.jumps {
            let target = usize::try_from(at as i64 + jump).ok().and_then(|target| places.get(target));
            match target {
                Some(&place) if place != u32::MAX => out.extend_from_slice(&place.to_be_bytes()),
                Some(_) | None => return doubt("a jump leads nowhere"),
            }
        }
        at += read.length;
    }
    Ok(places)
}

/// Per byte of the code.
struct Places {
    /// The number of the instruction that starts there; the end counts as one.
    places: Vec<u32>,
    /// Whether a jump leads there.
    targets: Vec<bool>,
}

fn places(code: &[u8]) -> Result<Places, Doubt> {
    let mut places = vec![u32::MAX; code.len() + 1];
    let mut targets = vec![false; code.len() + 1];
    let (mut at, mut number) = (0, 0);
    while at < code.len() {
        places[at] = number;
        let read = instruction(code, at)?;
        for jump in read.jumps {
            let target = usize::try_from(at as i64 + jump).ok().and_then(|target| targets.get_mut(target));
            match target {
                Some(target) => *target = true,
                None => return doubt("a jump leads nowhere"),
            }
        }
        at += read.length;
        number += 1;
    }
    if at != code.len() {
        return doubt("the last instruction is cut off");
    }
    places[at] = number;
    Ok(Places { places, targets })
}

/// What an instruction leaves on the stack, as far as names of loaded things are concerned.
enum Pushed {
    Literal,
    Prefix(String),
    /// It changes the height of the stack by so much and leaves the name alone.
    Plain(i32),
    Anything,
}

/// What an instruction without a constant does to the stack.
fn plain_effect(opcode: u8) -> Pushed {
    match opcode {
        0x01..=0x11 | 0x15..=0x2d | 0x59 => Pushed::Plain(1),
        0x53 => Pushed::Plain(-3),
        _ => Pushed::Anything,
    }
}

fn note_use(
    constants: &Constants<'_>,
    opcode: u8,
    constant: u16,
    uses: &mut CodeUses,
    recent: &mut Vec<Pushed>,
) -> Result<(), Doubt> {
    let mut pushed = Pushed::Anything;
    match opcode {
        0xb2..=0xb5 => {
            uses.members.push(constant);
            pushed = match opcode {
                0xb2 => Pushed::Plain(1),
                0xb4 => Pushed::Plain(0),
                _ => Pushed::Anything,
            };
        }
        0xb6..=0xb9 => {
            uses.members.push(constant);
            pushed = note_call(constants, constant, uses, recent)?;
        }
        0xba => pushed = note_dynamic(constants, constant, uses)?,
        0xbb => uses.creates.push(constant),
        0xbd => {
            uses.classes.push(constant);
            pushed = Pushed::Plain(0);
        }
        0xc0 | 0xc1 | 0xc5 => uses.classes.push(constant),
        0x13 => match constants.item(constant)? {
            Item::String(string) => {
                pushed = Pushed::Literal;
                uses.strings.push(string.string.as_u16());
            }
            Item::Class(_) => {
                pushed = Pushed::Plain(1);
                uses.creates.push(constant);
            }
            Item::MethodHandle(_) => note_handle(constants, constant, uses)?,
            Item::Dynamic(_) => {
                note_dynamic(constants, constant, uses)?;
            }
            _ => {}
        },
        _ => {}
    }
    recent.push(pushed);
    Ok(())
}

fn note_handle(constants: &Constants<'_>, index: u16, uses: &mut CodeUses) -> Result<(), Doubt> {
    if let Item::MethodHandle(handle) = constants.item(index)? {
        let member = handle.reference.as_u16();
        uses.members.push(member);
        if handle.kind == MethodKind::NewInvokeSpecial {
            uses.creates.push(constants.owner(member)?);
        }
    }
    Ok(())
}

/// A lambda, a method reference, a concatenation: the bootstrap's arguments are used.
fn note_dynamic(constants: &Constants<'_>, index: u16, uses: &mut CodeUses) -> Result<Pushed, Doubt> {
    let (method, arguments) = constants.bootstrap(index)?;
    note_handle(constants, method, uses)?;
    uses.descriptors.push(constants.dynamic_descriptor(index)?);
    let mut pushed = Pushed::Anything;
    for (place, &argument) in arguments.iter().enumerate() {
        match constants.item(argument)? {
            Item::MethodHandle(_) => note_handle(constants, argument, uses)?,
            Item::Class(_) => uses.creates.push(argument),
            Item::String(recipe) => {
                let recipe = recipe.string.as_u16();
                uses.strings.push(recipe);
                let recipe = constants.text(recipe)?;
                let literal = recipe.split(['\u{1}', '\u{2}']).next().unwrap_or("");
                if place == 0 && !literal.is_empty() {
                    pushed = Pushed::Prefix(literal.to_string());
                }
            }
            _ => {}
        }
    }
    Ok(pushed)
}

/// Notes a call that loads by a name that is no literal; tells what the call does to the stack.
fn note_call(
    constants: &Constants<'_>,
    constant: u16,
    uses: &mut CodeUses,
    recent: &[Pushed],
) -> Result<Pushed, Doubt> {
    match constants.utf8(constants.member_name(constant)?)? {
        // How loaders are found, between the name and the call.
        b"getClassLoader" | b"getContextClassLoader" | b"getClass" => return Ok(Pushed::Plain(0)),
        b"currentThread" | b"getSystemClassLoader" | b"getPlatformClassLoader" => {
            return Ok(Pushed::Plain(1));
        }
        name if !std::str::from_utf8(name).is_ok_and(|name| loaded_by(name).is_some()) => {}
        _ => uses.unknowns.extend(load(constants, constant, recent)?),
    }
    Ok(Pushed::Anything)
}

fn load(constants: &Constants<'_>, constant: u16, recent: &[Pushed]) -> Result<Option<Unknown>, Doubt> {
    let name = constants.text(constants.member_name(constant)?)?;
    let Some(kind) = loaded_by(&name) else { return Ok(None) };
    let is_of_class = name == "forName" || kind == LoadedKind::Member && name.starts_with("get");
    let owner = constants.class_name(constants.owner(constant)?)?;
    if is_of_class
        && !matches!(owner.as_str(), "java.lang.Class" | "java.beans.Introspector" | "java.beans.BeanInfo")
    {
        return Ok(None);
    }
    let loaded = if lists_members(&name) {
        LoadedName::Computed
    } else {
        match first_argument(recent, parameter_count(&constants.member_descriptor(constant)?)) {
            Some(Pushed::Literal) => return Ok(None),
            Some(Pushed::Prefix(prefix)) => LoadedName::Prefix(prefix.clone()),
            Some(Pushed::Plain(_) | Pushed::Anything) | None => LoadedName::Computed,
        }
    };
    Ok(Some(Unknown { kind, call: name, name: loaded }))
}

/// What pushed the first of so many arguments, if nothing but the other arguments came after it.
fn first_argument(recent: &[Pushed], count: i32) -> Option<&Pushed> {
    let mut height = 0;
    for pushed in recent.iter().rev() {
        match pushed {
            Pushed::Literal | Pushed::Prefix(_) if height == count - 1 => return Some(pushed),
            Pushed::Literal | Pushed::Prefix(_) => height += 1,
            Pushed::Plain(effect) => height += effect,
            Pushed::Anything => return None,
        }
        if height >= count && !matches!(pushed, Pushed::Plain(effect) if *effect < 0) {
            return None;
        }
    }
    None
}

fn parameter_count(descriptor: &str) -> i32 {
    let parameters = descriptor.trim_start_matches('(').split(')').next().unwrap_or("");
    let mut count = 0;
    let mut rest = parameters.chars();
    while let Some(c) = rest.next() {
        match c {
            '[' => continue,
            'L' => while rest.next().is_some_and(|c| c != ';') {},
            _ => {}
        }
        count += 1;
    }
    count
}

/// Spells an exception table; `bytes` starts at its length.
pub(crate) fn read_handlers(
    constants: &Constants<'_>,
    bytes: &mut Bytes<'_>,
    places: &[u32],
    out: &mut Vec<u8>,
    uses: &mut CodeUses,
) -> Result<(), Doubt> {
    for _ in 0..bytes.u2()? {
        for _ in 0..3 {
            let place = places.get(bytes.u2()? as usize).copied().unwrap_or(u32::MAX);
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
