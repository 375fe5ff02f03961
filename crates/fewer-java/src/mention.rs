//! Collecting the names that a piece of code uses, while the source reader walks over it: dotted chains,
//! strings that may name something, and calls that load by name.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU8, Ordering};

use tree_sitter::Node;

use crate::source_facts::{Argument, Import, Load, Mentions};
use crate::summary::{LoadedKind, TextId, Texts};
use crate::syntax::{Kind, Syntax};

/// Longer chains of names do not occur; they are then read as expressions.
const LONGEST_CHAIN: usize = 64;
const LONGEST_NAME: usize = 260;

/// What has been collected so far, in the order met.
#[derive(Default)]
pub(crate) struct Collected {
    pub mentions: Mentions,
    /// Variables and parameters declared here: a constant of the same name is hidden.
    pub declared: HashSet<TextId>,
}

impl Collected {
    pub fn finish(self) -> Mentions {
        let Collected { mut mentions, declared } = self;
        for load in &mut mentions.loads {
            if let Argument::Name(name) = load.argument
                && declared.contains(&name)
            {
                load.argument = Argument::Computed;
            }
        }
        for list in [
            &mut mentions.types,
            &mut mentions.expressions,
            &mut mentions.own,
            &mut mentions.any,
            &mut mentions.created,
            &mut mentions.strings,
        ] {
            list.sort_unstable();
            list.dedup();
        }
        mentions.on.sort_unstable();
        mentions.on.dedup();
        mentions.loads.sort();
        mentions.loads.dedup();
        mentions
    }
}

/// The source under the reader's eyes.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub text: &'s str,
    pub syntax: &'static Syntax,
}

impl<'s> Source<'s> {
    pub fn of(&self, node: Node<'_>) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    pub fn field<'t>(&self, node: Node<'t>, field: u16) -> Option<Node<'t>> {
        node.child_by_field_id(field)
    }

    /// `a.b.C` for a name, a dotted name or a generic type; `None` if the node is anything else.
    pub fn chain(&self, node: Node<'_>) -> Option<String> {
        let mut segments: Vec<&str> = Vec::new();
        let mut current = node;
        loop {
            if segments.len() > LONGEST_CHAIN {
                return None;
            }
            let (rest, last) = match self.syntax.kind(current) {
                Kind::Identifier | Kind::TypeIdentifier => {
                    segments.push(self.of(current));
                    break;
                }
                Kind::GenericType => (current.named_child(0)?, None),
                Kind::ArrayType => (self.field(current, self.syntax.element)?, None),
                Kind::FieldAccess => {
                    (self.field(current, self.syntax.object)?, Some(self.field(current, self.syntax.field)?))
                }
                Kind::ScopedIdentifier | Kind::ScopedType => {
                    let last = u32::try_from(current.named_child_count()).ok()?.checked_sub(1)?;
                    (current.named_child(0)?, Some(current.named_child(last)?))
                }
                _ => return None,
            };
            if let Some(last) = last {
                match self.syntax.kind(last) {
                    Kind::Identifier | Kind::TypeIdentifier => segments.push(self.of(last)),
                    _ => return None,
                }
            }
            current = rest;
        }
        segments.reverse();
        Some(segments.join("."))
    }

    /// What a call or a reference `receiver.name` uses.
    pub fn receive(&self, receiver: Option<Node<'_>>, name: &str, texts: &mut Texts, into: &mut Collected) {
        let name = texts.id(name);
        let Some(receiver) = receiver else {
            into.mentions.own.push(name);
            return;
        };
        match self.syntax.kind(receiver) {
            Kind::This | Kind::Super => into.mentions.own.push(name),
            _ => match self.chain(receiver) {
                Some(chain) => into.mentions.on.push((texts.id(&chain), name)),
                None => into.mentions.any.push(name),
            },
        }
    }

    /// A call that loads a class or a resource by a name that is no literal.
    pub fn load(&self, call: Node<'_>, name: &str, imports: &[Import], texts: &mut Texts) -> Option<Load> {
        let kind = loaded_by(name)?;
        if name == "forName" && !self.is_of_class(call, imports) {
            return None;
        }
        if lists_members(name) {
            return Some(Load { kind, call: texts.id(name), argument: Argument::Computed });
        }
        let arguments = self.field(call, self.syntax.arguments)?;
        let mut cursor = arguments.walk();
        let first =
            arguments.named_children(&mut cursor).find(|node| self.syntax.kind(*node) != Kind::Comment)?;
        let argument = self.argument(first, texts)?;
        Some(Load { kind, call: texts.id(name), argument })
    }

    /// Whether a call of `forName` can be that of `java.lang.Class`: many classes have a method of this name.
    fn is_of_class(&self, call: Node<'_>, imports: &[Import]) -> bool {
        let Some(object) = self.field(call, self.syntax.object) else {
            let names = ["java.lang.Class", "java.lang.Class.forName"];
            return imports.iter().any(|import| import.is_static && names.contains(&import.name.as_str()));
        };
        match self.chain(object) {
            Some(chain) => ["Class", "java.lang.Class"].contains(&chain.as_str()),
            None => !matches!(self.syntax.kind(object), Kind::This | Kind::Super),
        }
    }

    /// `None` for a name that is seen as a whole: a literal, or `X.class.getName()`.
    fn argument(&self, node: Node<'_>, texts: &mut Texts) -> Option<Argument> {
        if let Some(chain) = self.chain(node) {
            return Some(Argument::Name(texts.id(&chain)));
        }
        match self.syntax.kind(node) {
            Kind::String => None,
            Kind::MethodInvocation => {
                let of_class = self
                    .field(node, self.syntax.object)
                    .is_some_and(|object| self.syntax.kind(object) == Kind::ClassLiteral);
                (!of_class).then_some(Argument::Computed)
            }
            _ => Some(
                self.leftmost_literal(node)
                    .map_or(Argument::Computed, |literal| Argument::Prefix(texts.id(literal))),
            ),
        }
    }

    /// `"p."` of `"p." + x + y`.
    fn leftmost_literal(&self, node: Node<'_>) -> Option<&'s str> {
        let mut current = node;
        while current.kind() == "binary_expression" {
            current = current.child(0)?;
        }
        let literal = unquoted(self.of(current));
        (self.syntax.kind(current) == Kind::String && !literal.is_empty()).then_some(literal)
    }
}

/// What a method of this name loads.
pub(crate) fn loaded_by(name: &str) -> Option<LoadedKind> {
    match name {
        "forName" | "loadClass" | "findClass" => Some(LoadedKind::Class),
        "getResource"
        | "getResources"
        | "getResourceAsStream"
        | "getSystemResource"
        | "getSystemResources"
        | "getSystemResourceAsStream"
        | "getBundle"
        | "resources" => Some(LoadedKind::Resource),
        "getDeclaredField" | "getField" | "getDeclaredMethod" | "getMethod" => Some(LoadedKind::Member),
        _ if lists_members(name) => Some(LoadedKind::Member),
        _ => None,
    }
}

/// Whether a method of this name looks at the members of a class without naming them. Constructors count whenever
/// objects can be made.
pub(crate) fn lists_members(name: &str) -> bool {
    matches!(
        name,
        "getDeclaredFields"
            | "getFields"
            | "getDeclaredMethods"
            | "getMethods"
            | "getRecordComponents"
            | "getBeanInfo"
            | "getPropertyDescriptors"
            | "findVirtual"
            | "findStatic"
            | "findSpecial"
            | "findGetter"
            | "findSetter"
            | "findStaticGetter"
            | "findStaticSetter"
            | "findVarHandle"
            | "findStaticVarHandle"
            | "newUpdater"
            | "newProxyInstance"
            | "getDeclaredClasses"
            | "getClasses"
    )
}

pub(crate) fn unquoted(literal: &str) -> &str {
    let inner = literal.strip_prefix("\"\"\"").and_then(|rest| rest.strip_suffix("\"\"\""));
    inner.or_else(|| literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))).unwrap_or(literal)
}

/// The pieces of a string that may name a class, a package or a resource.
pub(crate) fn namable(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (piece, is_namable) = next_piece(&mut rest)?;
            if is_namable {
                return Some(piece);
            }
        }
    })
}

/// The next piece without anything that names do not have, and whether it may be a name.
fn next_piece<'t>(rest: &mut &'t str) -> Option<(&'t str, bool)> {
    let bytes = rest.as_bytes();
    let start = bytes.iter().position(|&byte| CLASSES[usize::from(byte)] != Class::Other)?;
    let mut at = start;
    let mut has_letter = false;
    while let Some(&byte) = bytes.get(at) {
        match CLASSES[usize::from(byte)] {
            Class::Letter => has_letter = true,
            Class::Part => {}
            Class::Other => break,
            Class::Foreign => {
                let c = rest[at..].chars().next()?;
                let (is_part, is_letter) = foreign(c);
                if !is_part {
                    break;
                }
                has_letter |= is_letter;
                at += c.len_utf8() - 1;
            }
        }
        at += 1;
    }
    let piece = &rest[start..at];
    // A character that stopped it may be foreign.
    let stopped = rest[at..].chars().next().map_or(0, char::len_utf8);
    *rest = &rest[at + stopped..];
    Some((piece, has_letter && (2..=LONGEST_NAME).contains(&piece.len())))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    /// Belongs to names, but a name has a letter.
    Part,
    Other,
    /// The first byte of a character that is not of ASCII.
    Foreign,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Foreign; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' | b'.' | b'_' | b'$' | b'/' | b'#' | b'-' => Class::Part,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// Whether a character that is not of ASCII belongs to names, and whether it is a letter. Asked once per character:
/// the tables of some programs hold all there are.
fn foreign(c: char) -> (bool, bool) {
    const ASKED: u8 = 4;
    static KNOWN: [AtomicU8; 0x1_0000] = [const { AtomicU8::new(0) }; 0x1_0000];
    let known = KNOWN.get(c as usize);
    let mut bits = known.map_or(0, |known| known.load(Ordering::Relaxed));
    if bits == 0 {
        bits = ASKED | u8::from(c.is_alphanumeric()) | u8::from(c.is_alphabetic()) << 1;
        if let Some(known) = known {
            known.store(bits, Ordering::Relaxed);
        }
    }
    (bits & 1 != 0, bits & 2 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_fall_into_pieces_that_may_name_something() {
        let of = |text| namable(text).collect::<Vec<&str>>();
        assert_eq!(of("load p.C$N, then \"a/b.txt\"!"), ["load", "p.C$N", "then", "a/b.txt"]);
        assert_eq!(of("1.2 x 34 #-"), [""; 0]);
        assert_eq!(of("p.Größe。p.名前\u{1F600}ab 12"), ["p.Größe", "p.名前", "ab"]);
        assert_eq!(of("。"), [""; 0]);
        let (longest, longer) = ("a".repeat(260), "a".repeat(261));
        assert_eq!(of(&format!("{longest} {longer}")), [longest.as_str()]);
    }
}
