//! Java source to facts: one walk over tree-sitter's tree, without recursion. Comments and layout do not count;
//! local and anonymous classes belong to the member that contains them. What names mean is not decided here.

use std::collections::HashMap;

use fewer_core::{Digest, Domain};
use tree_sitter::{Node, Parser, Tree};

use crate::broken_source::read_broken;
use crate::mention::{Collected, Source};
use crate::source_facts::{Import, MemberFacts, Mentions, SourceFacts, TypeFacts};
use crate::summary::{ClassTraits, MemberTraits, TextId, Texts};
use crate::syntax::{Kind, Syntax};
use crate::transliteration::{readable, without_newest_syntax};

const HEADER: Domain = Domain::new("java.source.header");
const MEMBER: Domain = Domain::new("java.source.member");

/// Larger files are generated data; parsing them costs more than running the tests.
const LARGEST_FILE: usize = 16 << 20;

/// Nobody writes deeper code; names of classes within each other grow with the square of the depth.
const DEEPEST: usize = 1000;

/// Reads one file after another with the same parser.
pub struct SourceReader {
    parser: Parser,
}

impl Default for SourceReader {
    fn default() -> SourceReader {
        SourceReader::new()
    }
}

impl SourceReader {
    pub fn new() -> SourceReader {
        let mut parser = Parser::new();
        parser.set_language(&Syntax::get().language).expect("the grammar fits the parser");
        SourceReader { parser }
    }

    /// Never fails: a file that cannot be parsed is one element that may refer to everything it mentions.
    pub fn read(&mut self, bytes: &[u8]) -> SourceFacts {
        let text = readable(bytes);
        if text.len() > LARGEST_FILE {
            return read_broken(&text, "is larger than 16 MiB");
        }
        if is_deep(&text) {
            return read_broken(&text, "has brackets within each other more than 1000 times");
        }
        if let Some(tree) = self.parse(&text) {
            return walk(&text, &tree, "");
        }
        if let Some((older, removed)) = without_newest_syntax(&text)
            && let Some(tree) = self.parse(&older)
        {
            return walk(&older, &tree, &removed);
        }
        read_broken(&text, "is not Java that can be parsed")
    }

    fn parse(&mut self, text: &str) -> Option<Tree> {
        self.parser.parse(text, None).filter(|tree| !tree.root_node().has_error())
    }
}

/// The facts of one file.
pub fn read_source(bytes: &[u8]) -> SourceFacts {
    SourceReader::new().read(bytes)
}

/// A declaration that is being read.
pub(crate) struct OpenType {
    pub index: usize,
    pub depth: usize,
    pub tokens: Vec<u8>,
    pub collected: Collected,
}

pub(crate) struct OpenMember {
    pub depth: usize,
    pub tokens: Vec<u8>,
    pub collected: Collected,
    pub facts: MemberFacts,
    pub is_final: bool,
    pub has_effect: bool,
    pub has_string: bool,
}

pub(crate) struct Frame {
    pub kind: Kind,
    pub end: usize,
}

/// The walk over one file's tree.
pub(crate) struct Walk<'s> {
    pub source: Source<'s>,
    pub texts: Texts,
    pub facts: SourceFacts,
    pub types: Vec<OpenType>,
    pub member: Option<OpenMember>,
    pub frames: Vec<Frame>,
    /// Names before this byte are already part of a chain.
    pub named_until: usize,
    /// Tokens before this byte are hashed already.
    pub hashed_until: usize,
    pub initialisers: usize,
    /// Which imports bring in a simple name.
    pub imported: HashMap<String, Vec<usize>>,
}

/// `removed` is text that the parser did not see and that counts as part of every type.
fn walk(text: &str, tree: &Tree, removed: &str) -> SourceFacts {
    let syntax = Syntax::get();
    let mut walk = Walk {
        source: Source { text, syntax },
        texts: Texts::default(),
        facts: SourceFacts::default(),
        types: Vec::new(),
        member: None,
        frames: Vec::new(),
        named_until: 0,
        hashed_until: 0,
        initialisers: 0,
        imported: HashMap::new(),
    };
    walk.begin(tree.root_node(), removed);
    let mut cursor = tree.walk();
    if cursor.goto_first_child() {
        'nodes: loop {
            let node = cursor.node();
            let depth = walk.frames.len();
            let kind = syntax.kind(node);
            if walk.enter(node, kind, cursor.field_id().map_or(0, u16::from)) && cursor.goto_first_child() {
                walk.frames.push(Frame { kind, end: node.end_byte() });
                continue;
            }
            walk.leave(depth);
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() || walk.frames.pop().is_none() {
                    break 'nodes;
                }
                walk.leave(walk.frames.len());
            }
        }
    }
    walk.finish(removed)
}

/// Whether braces and the like are open within each other too often, wherever they stand.
fn is_deep(text: &str) -> bool {
    let mut open = 0usize;
    text.bytes().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > DEEPEST
    })
}

impl<'s> Walk<'s> {
    /// A file may be a class without a declaration, or a package's annotations.
    fn begin(&mut self, root: Node<'_>, removed: &str) {
        let mut cursor = root.walk();
        let kinds: Vec<Kind> =
            root.named_children(&mut cursor).map(|node| self.source.syntax.kind(node)).collect();
        let declares = |kind: Kind| kinds.contains(&kind);
        if declares(Kind::Method) {
            self.open_type(TypeFacts::default(), usize::MAX);
        } else if declares(Kind::Package) && !declares(Kind::Type) && !declares(Kind::Module) {
            let traits = ClassTraits::PACKAGE_INFO.with(ClassTraits::INTERFACE).with(ClassTraits::ABSTRACT);
            self.open_type(
                TypeFacts { name: "package-info".into(), traits, ..TypeFacts::default() },
                usize::MAX,
            );
        }
        if let Some(open) = self.types.last_mut() {
            open.tokens.extend_from_slice(removed.as_bytes());
        }
    }

    fn finish(mut self, removed: &str) -> SourceFacts {
        while !self.types.is_empty() {
            self.close_type(removed);
        }
        let is_capital = |id: &TextId| self.texts.list.get(*id).starts_with(char::is_uppercase);
        self.facts.given.retain(is_capital);
        self.facts.given.sort_unstable();
        self.facts.given.dedup();
        self.facts.texts = self.texts.list;
        self.facts
    }

    /// Returns whether to look at the children.
    fn enter(&mut self, node: Node<'_>, kind: Kind, field: u16) -> bool {
        match kind {
            // An escaped line end inside a comment can hide code.
            Kind::Comment if !self.source.of(node).contains("\\u") => return false,
            Kind::Package => self.facts.package = self.declared_package(node),
            Kind::Import => {
                self.import(node);
                return false;
            }
            Kind::Type | Kind::Module if self.member.is_none() => self.declare_type(node, kind),
            Kind::Type | Kind::ClassBody => self.fold_class(kind),
            Kind::Method
            | Kind::Field
            | Kind::Constructor
            | Kind::StaticInitialiser
            | Kind::EnumConstant
            | Kind::Block
                if self.member.is_none() && !self.types.is_empty() =>
            {
                self.open_member(node, kind);
            }
            _ => self.mention(node, kind, field),
        }
        if kind.is_effect()
            && let Some(member) = &mut self.member
        {
            member.has_effect = true;
        }
        self.hash_token(node, kind);
        true
    }

    fn leave(&mut self, depth: usize) {
        if self.member.as_ref().is_some_and(|member| member.depth == depth) {
            self.close_member();
        } else if self.member.is_none() && self.types.last().is_some_and(|open| open.depth == depth) {
            self.close_type("");
        }
    }

    fn fold_class(&mut self, kind: Kind) {
        // The body of an enum constant, of `new X() {}` or of a local class; not that of the open type.
        let is_own_body = kind == Kind::ClassBody && self.member.is_none();
        if let Some(member) = &mut self.member
            && !is_own_body
        {
            member.facts.traits = member.facts.traits.with(MemberTraits::HAS_BODY_CLASS);
        }
    }

    fn hash_token(&mut self, node: Node<'_>, kind: Kind) {
        let is_token = node.child_count() == 0 || kind == Kind::String;
        if !is_token || node.start_byte() < self.hashed_until {
            return;
        }
        let text = self.source.of(node);
        self.modifier(text);
        let tokens = match (&mut self.member, self.types.last_mut()) {
            (Some(member), _) => &mut member.tokens,
            (None, Some(open)) => &mut open.tokens,
            (None, None) => return,
        };
        tokens.extend_from_slice(text.as_bytes());
        tokens.push(0);
        self.hashed_until = node.end_byte();
    }

    /// A keyword among the modifiers of the innermost declaration.
    fn modifier(&mut self, text: &str) {
        let depth = self.frames.len();
        if self.parent() != Kind::Modifiers {
            return;
        }
        if let Some(member) = &mut self.member {
            if member.depth + 2 == depth {
                let traits = &mut member.facts.traits;
                match text {
                    "static" => *traits = traits.with(MemberTraits::STATIC),
                    "private" => *traits = traits.with(MemberTraits::PRIVATE),
                    "public" => *traits = traits.with(MemberTraits::PUBLIC),
                    "abstract" => *traits = traits.with(MemberTraits::ABSTRACT),
                    "final" => member.is_final = true,
                    _ => {}
                }
            }
        } else if let Some(open) = self.types.last()
            && open.depth.wrapping_add(2) == depth
        {
            let traits = &mut self.facts.types[open.index].traits;
            match text {
                "abstract" => *traits = traits.with(ClassTraits::ABSTRACT),
                "static" => traits.0 &= !ClassTraits::INNER.0,
                _ => {}
            }
        }
    }

    fn declared_package(&self, node: Node<'_>) -> String {
        let mut cursor = node.walk();
        let named = node.named_children(&mut cursor).filter_map(|child| self.source.chain(child)).last();
        named.unwrap_or_default()
    }

    fn import(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let mut import = Import { name: String::new(), is_static: false, is_wildcard: false };
        for child in node.children(&mut cursor) {
            match child.kind() {
                "static" => import.is_static = true,
                "asterisk" => import.is_wildcard = true,
                _ => import.name = self.source.chain(child).unwrap_or(import.name),
            }
        }
        if !import.is_wildcard {
            let simple = import.name.rsplit('.').next().unwrap_or("").to_string();
            self.imported.entry(simple).or_default().push(self.facts.imports.len());
        }
        self.facts.imports.push(import);
    }

    fn declare_type(&mut self, node: Node<'_>, kind: Kind) {
        let name = match kind {
            Kind::Module => "module-info".to_string(),
            _ => self
                .source
                .field(node, self.source.syntax.name)
                .map_or_else(String::new, |name| self.source.of(name).to_string()),
        };
        let abstract_interface = ClassTraits::INTERFACE.with(ClassTraits::ABSTRACT);
        let traits = match node.kind() {
            "class_declaration" if !self.types.is_empty() => ClassTraits::INNER,
            "interface_declaration" => abstract_interface,
            "annotation_type_declaration" => abstract_interface.with(ClassTraits::ANNOTATION),
            "enum_declaration" => ClassTraits::ENUM,
            "module_declaration" => abstract_interface.with(ClassTraits::MODULE_INFO),
            _ => ClassTraits::default(),
        };
        let parent = self.types.last().map(|open| open.index as u32);
        let depth = self.frames.len();
        self.open_type(TypeFacts { name, parent, traits, ..TypeFacts::default() }, depth);
        if let Some(open) = self.types.last_mut() {
            open.tokens.extend_from_slice(node.kind().as_bytes());
        }
    }

    fn open_type(&mut self, facts: TypeFacts, depth: usize) {
        let index = self.facts.types.len();
        self.facts.types.push(facts);
        self.types.push(OpenType { index, depth, tokens: Vec::new(), collected: Collected::default() });
    }

    fn close_type(&mut self, removed: &str) {
        let Some(mut open) = self.types.pop() else { return };
        let mentions = open.collected.finish();
        self.hash_imports(&mut open.tokens, &mentions);
        let mut wildcards: Vec<&Import> =
            self.facts.imports.iter().filter(|import| import.is_wildcard).collect();
        wildcards.sort_by(|a, b| (&a.name, a.is_static).cmp(&(&b.name, b.is_static)));
        for import in wildcards {
            open.tokens.extend_from_slice(import.name.as_bytes());
            open.tokens.push(1 + u8::from(import.is_static));
        }
        open.tokens.extend_from_slice(removed.as_bytes());
        let facts = &mut self.facts.types[open.index];
        facts.header = Digest::of(HEADER, &open.tokens);
        facts.header_mentions = mentions;
    }

    fn open_member(&mut self, node: Node<'_>, kind: Kind) {
        let (name, key) = self.member_name(node, kind);
        let traits = match kind {
            Kind::Method => {
                let parameters = self.source.field(node, self.source.syntax.parameters);
                let has_none = parameters.is_none_or(|parameters| parameters.named_child_count() == 0);
                MemberTraits::METHOD.when(has_none, MemberTraits::NO_PARAMETERS)
            }
            Kind::Field if node.kind() == "constant_declaration" => {
                MemberTraits::FIELD.with(MemberTraits::STATIC)
            }
            Kind::Field => MemberTraits::FIELD,
            Kind::Constructor => MemberTraits::CONSTRUCTOR,
            Kind::EnumConstant | Kind::StaticInitialiser => {
                MemberTraits::INITIALISER.with(MemberTraits::STATIC)
            }
            _ => MemberTraits::INITIALISER,
        };
        let facts = MemberFacts {
            name: self.texts.id(&name),
            key: self.texts.id(&key),
            traits,
            ..MemberFacts::default()
        };
        self.member = Some(OpenMember {
            depth: self.frames.len(),
            tokens: Vec::new(),
            collected: Collected::default(),
            facts,
            is_final: node.kind() == "constant_declaration",
            has_effect: false,
            has_string: false,
        });
    }

    fn member_name(&mut self, node: Node<'_>, kind: Kind) -> (String, String) {
        let syntax = self.source.syntax;
        let named = |field: u16| self.source.field(node, field).map_or("", |child| self.source.of(child));
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        match kind {
            Kind::Method => {
                let name = named(syntax.name);
                (name.to_string(), format!("{name}{}", squeezed(named(syntax.parameters))))
            }
            Kind::Constructor => {
                ("<init>".to_string(), format!("<init>{}", squeezed(named(syntax.parameters))))
            }
            Kind::EnumConstant => {
                let name = named(syntax.name);
                (name.to_string(), format!("#{name}"))
            }
            Kind::Field => {
                let mut cursor = node.walk();
                let names: Vec<&str> = node
                    .named_children(&mut cursor)
                    .filter(|child| child.kind() == "variable_declarator")
                    .filter_map(|declarator| self.source.field(declarator, syntax.name))
                    .map(|name| self.source.of(name))
                    .collect();
                (names.first().copied().unwrap_or("").to_string(), format!("#{}", names.join(",")))
            }
            _ => {
                self.initialisers += 1;
                ("<clinit>".to_string(), format!("<initialiser {}>", self.initialisers))
            }
        }
    }

    fn close_member(&mut self) {
        let Some(mut member) = self.member.take() else { return };
        let mentions = member.collected.finish();
        self.hash_imports(&mut member.tokens, &mentions);
        let mut facts = member.facts;
        let is_field = facts.traits.has(MemberTraits::FIELD);
        let is_constant = is_field
            && member.is_final
            && member.has_string
            && !member.has_effect
            && facts.traits.has(MemberTraits::STATIC);
        let has_several = self.texts.list[facts.key].contains(',');
        facts.traits = facts
            .traits
            .when(is_field && (member.has_effect || has_several), MemberTraits::INITIALISER)
            .when(is_constant, MemberTraits::STRING_CONSTANT);
        facts.content = Digest::of(MEMBER, &member.tokens);
        facts.mentions = mentions;
        if let Some(open) = self.types.last() {
            self.facts.types[open.index].members.push(facts);
        }
    }

    /// What a name means outside the project is told by the imports that bring it in.
    fn hash_imports(&self, tokens: &mut Vec<u8>, mentions: &Mentions) {
        if self.imported.is_empty() {
            return;
        }
        let owners = mentions.on.iter().map(|(owner, _)| owner);
        let lists = [&mentions.types, &mentions.expressions, &mentions.own];
        let mut used: Vec<usize> = Vec::new();
        for &text in lists.into_iter().flatten().chain(owners) {
            let text = &self.texts.list[text];
            let first = text.split_once('.').map_or(text, |(first, _)| first);
            used.extend(self.imported.get(first).into_iter().flatten());
        }
        used.sort_unstable();
        used.dedup();
        let mut used: Vec<&Import> = used.into_iter().map(|index| &self.facts.imports[index]).collect();
        used.sort_by(|a, b| (&a.name, a.is_static).cmp(&(&b.name, b.is_static)));
        for import in used {
            tokens.extend_from_slice(import.name.as_bytes());
            tokens.push(1 + u8::from(import.is_static));
        }
    }
}
