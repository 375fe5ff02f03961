//! Calls in a method that load something by a name that is no literal: what was pushed before the call tells what is
//! known of the name. Few methods have such calls, and only they are looked at again.

use crate::class_code::{Instruction, instruction};
use crate::class_constants::Constants;
use crate::class_file::{Constant, Doubt, doubt};
use crate::mention::{lists_members, loaded_by};
use crate::summary::{LoadedKind, LoadedName, Unknown};

/// The loads of a method, in the order of its code.
pub(crate) fn unknown_loads(constants: &Constants<'_>, code: &[u8]) -> Result<Vec<Unknown>, Doubt> {
    let targets = targets(code)?;
    let mut unknowns = Vec::new();
    let mut recent: Vec<Pushed> = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let read = instruction(code, at)?;
        if targets[at] {
            // Who jumps here may have pushed something else.
            recent.clear();
        }
        let pushed = effect(constants, &read, &recent, &mut unknowns)?;
        recent.push(pushed);
        at += read.length;
    }
    Ok(unknowns)
}

/// Whether a jump leads there, per byte of the code.
fn targets(code: &[u8]) -> Result<Vec<bool>, Doubt> {
    let mut targets = vec![false; code.len() + 1];
    let mut at = 0;
    while at < code.len() {
        let read = instruction(code, at)?;
        for jump in read.jumps() {
            match usize::try_from(at as i64 + jump).ok().and_then(|target| targets.get_mut(target)) {
                Some(target) => *target = true,
                None => return doubt("a jump leads nowhere"),
            }
        }
        at += read.length;
    }
    Ok(targets)
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

fn effect(
    constants: &Constants<'_>,
    read: &Instruction<'_>,
    recent: &[Pushed],
    unknowns: &mut Vec<Unknown>,
) -> Result<Pushed, Doubt> {
    let Some(constant) = read.constant else { return Ok(plain_effect(read.opcode)) };
    Ok(match read.opcode {
        0xb2 => Pushed::Plain(1),
        0xb4 | 0xbd => Pushed::Plain(0),
        0xb6..=0xb9 => call_effect(constants, constant, recent, unknowns)?,
        0xba => dynamic_effect(constants, constant)?,
        0x13 => match constants.item(constant)? {
            Constant::String(_) => Pushed::Literal,
            Constant::Class(_) => Pushed::Plain(1),
            _ => Pushed::Anything,
        },
        _ => Pushed::Anything,
    })
}

/// A concatenation begins with the literal part of its recipe.
fn dynamic_effect(constants: &Constants<'_>, index: u16) -> Result<Pushed, Doubt> {
    let (_, arguments) = constants.bootstrap(index)?;
    let Some(first) = arguments.iter().next() else { return Ok(Pushed::Anything) };
    let Constant::String(recipe) = constants.item(first)? else { return Ok(Pushed::Anything) };
    let recipe = constants.text(recipe)?;
    let literal = recipe.split(['\u{1}', '\u{2}']).next().unwrap_or("");
    Ok(if literal.is_empty() { Pushed::Anything } else { Pushed::Prefix(literal.to_string()) })
}

/// Notes a call that loads by a name that is no literal; tells what the call does to the stack.
fn call_effect(
    constants: &Constants<'_>,
    constant: u16,
    recent: &[Pushed],
    unknowns: &mut Vec<Unknown>,
) -> Result<Pushed, Doubt> {
    match constants.utf8(constants.member_name(constant)?)? {
        // How loaders are found, between the name and the call.
        b"getClassLoader" | b"getContextClassLoader" | b"getClass" => return Ok(Pushed::Plain(0)),
        b"currentThread" | b"getSystemClassLoader" | b"getPlatformClassLoader" => {
            return Ok(Pushed::Plain(1));
        }
        _ if constants.is_load(constant)? => unknowns.extend(load(constants, constant, recent)?),
        _ => {}
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
