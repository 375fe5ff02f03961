//! Which names the source reader meets on its walk, and what they are used for: types, expressions, members,
//! strings. Where declarations begin and end is the reader's business.

use tree_sitter::Node;

use crate::mention::{Collected, namable, unquoted};
use crate::source_reader::Walk;
use crate::summary::TextId;
use crate::syntax::Kind;

impl Walk<'_> {
    fn collected(&mut self) -> Option<&mut Collected> {
        match (&mut self.member, self.types.last_mut()) {
            (Some(member), _) => Some(&mut member.collected),
            (None, Some(open)) => Some(&mut open.collected),
            (None, None) => None,
        }
    }

    pub fn parent(&self) -> Kind {
        self.frames.last().map_or(Kind::Other, |frame| frame.kind)
    }

    pub fn mention(&mut self, node: Node<'_>, kind: Kind, field: u16) {
        if node.start_byte() < self.named_until {
            return;
        }
        match kind {
            Kind::Identifier => self.identifier(node, field),
            Kind::TypeIdentifier if self.parent() == Kind::TypeParameter => {
                let id = self.texts.id(self.source.of(node));
                self.facts.given.push(id);
            }
            Kind::TypeIdentifier | Kind::ScopedType if self.parent() == Kind::ScopedType => {}
            Kind::TypeIdentifier | Kind::ScopedType => self.type_name(node),
            Kind::ScopedIdentifier => {
                self.type_name(node);
                self.named_until = node.end_byte();
            }
            Kind::Annotation => self.annotation(node),
            Kind::Supers => self.supers(node),
            Kind::FieldAccess => self.field_access(node),
            Kind::MethodInvocation => self.method_invocation(node),
            Kind::MethodReference => self.method_reference(node),
            Kind::Creation => {
                if let Some(created) = self.source.field(node, self.source.syntax.kind) {
                    self.created(created);
                }
            }
            Kind::ClassLiteral => {
                if let Some(named) = node.named_child(0) {
                    self.created(named);
                }
            }
            Kind::String => self.string(node),
            Kind::Provides => self.provides(node),
            _ => {}
        }
    }

    fn identifier(&mut self, node: Node<'_>, field: u16) {
        let (parent, syntax) = (self.parent(), self.source.syntax);
        let id = self.texts.id(self.source.of(node));
        let end = self.frames.last().map_or(0, |frame| frame.end);
        let Some(collected) = self.collected() else { return };
        match parent {
            Kind::MethodInvocation if field == syntax.name => return,
            Kind::MethodReference if node.end_byte() == end => return,
            Kind::Annotation | Kind::Label => return,
            Kind::Key if field == syntax.key => return,
            Kind::FieldAccess if field == syntax.field => return,
            _ if field == syntax.name => {
                collected.declared.insert(id);
                self.facts.given.push(id);
                return;
            }
            _ => collected.mentions.expressions.push(id),
        }
        if let Some(member) = &mut self.member {
            member.has_effect = true;
        }
    }

    fn type_name(&mut self, node: Node<'_>) {
        if let Some(chain) = self.source.chain(node) {
            let id = self.texts.id(&chain);
            if let Some(collected) = self.collected() {
                collected.mentions.types.push(id);
            }
        }
    }

    fn created(&mut self, node: Node<'_>) {
        if let Some(chain) = self.source.chain(node) {
            let id = self.texts.id(&chain);
            if let Some(collected) = self.collected() {
                collected.mentions.created.push(id);
                collected.mentions.types.push(id);
            }
        }
    }

    fn annotation(&mut self, node: Node<'_>) {
        let Some(name) = self.source.field(node, self.source.syntax.name) else { return };
        let Some(chain) = self.source.chain(name) else { return };
        let id = self.texts.id(&chain);
        self.named_until = name.end_byte();
        let depth = self.frames.len();
        if let Some(collected) = self.collected() {
            collected.mentions.types.push(id);
        }
        match (&mut self.member, self.types.last()) {
            (Some(member), _) if member.depth + 2 == depth => member.facts.annotations.push(id),
            (None, Some(open)) if open.depth.wrapping_add(2) == depth => {
                self.facts.types[open.index].annotations.push(id);
            }
            (Some(_) | None, _) => {}
        }
    }

    fn supers(&mut self, node: Node<'_>) {
        let depth = self.frames.len();
        let Some(open) = self.types.last() else { return };
        if self.member.is_some() || open.depth.wrapping_add(1) != depth {
            return;
        }
        let index = open.index;
        let mut cursor = node.walk();
        let mut named: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        if let [list] = named[..]
            && list.kind() == "type_list"
        {
            let mut cursor = list.walk();
            named = list.named_children(&mut cursor).collect();
        }
        for mut named in named {
            if named.kind() == "annotated_type" {
                let last = (named.named_child_count() as u32).saturating_sub(1);
                named = named.named_child(last).unwrap_or(named);
            }
            if let Some(chain) = self.source.chain(named) {
                let id = self.texts.id(&chain);
                self.facts.types[index].supers.push(id);
            }
        }
    }

    fn field_access(&mut self, node: Node<'_>) {
        if let Some(chain) = self.source.chain(node) {
            let id = self.texts.id(&chain);
            self.named_until = node.end_byte();
            if let Some(collected) = self.collected() {
                collected.mentions.expressions.push(id);
            }
            return;
        }
        let syntax = self.source.syntax;
        let (object, field) = (self.source.field(node, syntax.object), self.source.field(node, syntax.field));
        if let Some(field) = field {
            self.receive(object, field);
        }
    }

    fn method_invocation(&mut self, node: Node<'_>) {
        let syntax = self.source.syntax;
        let Some(name) = self.source.field(node, syntax.name) else { return };
        self.receive(self.source.field(node, syntax.object), name);
        if let Some(load) = self.source.load(node, self.source.of(name), &self.facts.imports, &mut self.texts)
            && let Some(collected) = self.collected()
        {
            collected.mentions.loads.push(load);
        }
    }

    fn method_reference(&mut self, node: Node<'_>) {
        let last = node.child_count().saturating_sub(1);
        let (Some(receiver), Some(name)) = (node.child(0), node.child(last)) else { return };
        if self.source.of(name) == "new" {
            self.created(receiver);
        } else {
            self.receive(Some(receiver), name);
        }
    }

    fn receive(&mut self, receiver: Option<Node<'_>>, name: Node<'_>) {
        let source = self.source;
        let collected = match (&mut self.member, self.types.last_mut()) {
            (Some(member), _) => &mut member.collected,
            (None, Some(open)) => &mut open.collected,
            (None, None) => return,
        };
        source.receive(receiver, source.of(name), &mut self.texts, collected);
    }

    fn string(&mut self, node: Node<'_>) {
        if let Some(member) = &mut self.member {
            member.has_string = true;
        }
        for piece in namable(unquoted(self.source.of(node))) {
            let id = self.texts.id(piece);
            if let Some(collected) = self.collected() {
                collected.mentions.strings.push(id);
            }
        }
    }

    fn provides(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let named: Vec<TextId> = node
            .named_children(&mut cursor)
            .filter_map(|child| self.source.chain(child))
            .map(|chain| self.texts.id(&chain))
            .collect();
        if let (Some((&service, providers)), Some(open)) = (named.split_first(), self.types.last()) {
            let provides = providers.iter().map(|&provider| (service, provider));
            self.facts.types[open.index].provides.extend(provides);
        }
    }
}
