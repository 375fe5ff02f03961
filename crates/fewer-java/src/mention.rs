//! Collecting the names that a piece of code uses, while the source reader walks over it: dotted chains,
//! strings that may name something, and calls that load by name.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::source_facts::{Argument, Load, Mentions};
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
    pub fn load(&self, call: Node<'_>, name: &str, texts: &mut Texts) -> Option<Load> {
        let kind = loaded_by(name)?;
        if name == "forName" {
            let receiver = self.field(call, self.syntax.object).and_then(|object| self.chain(object));
            if !matches!(receiver.as_deref(), Some("Class" | "java.lang.Class") | None) {
                return None;
            }
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
    let is_part = |c: char| match c.is_ascii() {
        true => c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | '/' | '#' | '-'),
        false => c.is_alphanumeric(),
    };
    let is_letter = |c: char| c.is_ascii_alphabetic() || (!c.is_ascii() && c.is_alphabetic());
    text.split(move |c: char| !is_part(c))
        .filter(move |piece| piece.len() >= 2 && piece.len() <= LONGEST_NAME && piece.contains(is_letter))
}
