//! A class file to a summary: what it refers to, its members, and a hash that does not change with line numbers
//! or the order of the constant pool. Files that are not as expected count as a whole.
//!
//! A constant that javac copied from another class leaves no reference here, and needs none: the copy is part of
//! this class's content, and only compiling it again can change it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fewer_core::{Digest, DigestBuilder, Domain};
use noak::AccessFlags;
use noak::error::DecodeError;
use noak::reader::cpool::Item;
use noak::reader::{Attribute, Class};
use rustc_hash::FxHashMap as HashMap;

use crate::class_attributes::AttributeFacts;
use crate::class_constants::{Constants, Doubt, classes_in, doubt};
use crate::mention::namable;
use crate::summary::{ClassSummary, ClassTraits, MemberSummary, MemberTraits, TextId, Texts, Unknown, Use};

const CONTENT: Domain = Domain::new("java.classfile.content");
const MEMBER: Domain = Domain::new("java.classfile.member");
const RAW: Domain = Domain::new("java.classfile.raw");

/// Never fails and never panics; `path` (below the class path's root) names a class that cannot be read.
pub fn read_class(bytes: &[u8], path: &str) -> ClassSummary {
    let read = catch_unwind(AssertUnwindSafe(|| summary(bytes)));
    match read {
        Ok(Ok(summary)) => summary,
        Ok(Err(Doubt(why))) => opaque(bytes, path, &why),
        Err(_) => opaque(bytes, path, "the reader failed on it"),
    }
}

fn summary(bytes: &[u8]) -> Result<ClassSummary, Doubt> {
    let class = Class::new(bytes)?;
    if class.buffer_size() != bytes.len() {
        return doubt("more bytes follow its end");
    }
    let constants = Constants::new(&class)?;
    let name = constants.class_name(class.this_class().as_u16())?;
    if class.access_flags().bits() & MODULE != 0 {
        return module(&class, &constants, bytes);
    }
    let mut reading = Reading {
        class: &class,
        constants,
        texts: Texts::default(),
        class_ids: HashMap::default(),
        signature_ids: HashMap::default(),
        text_ids: HashMap::default(),
        piece_ids: HashMap::default(),
    };
    reading.summarise(name)
}

/// `ACC_MODULE`.
const MODULE: u16 = 0x8000;

/// A class file that is being read; names become numbers of texts once per constant.
struct Reading<'c> {
    class: &'c Class<'c>,
    constants: Constants<'c>,
    texts: Texts,
    /// Per class constant.
    class_ids: HashMap<u16, Option<TextId>>,
    /// Per text constant, the classes that it speaks of as a descriptor.
    signature_ids: HashMap<u16, Vec<TextId>>,
    /// Per text constant.
    text_ids: HashMap<u16, TextId>,
    /// Per text of a string, its parts that may name something.
    piece_ids: HashMap<u16, Vec<TextId>>,
}

impl<'c> Reading<'c> {
    fn summarise(&mut self, name: String) -> Result<ClassSummary, Doubt> {
        let version = self.class.version();
        let supers = self.supers()?;
        let header = self.attributes(self.class.attributes())?;
        let mut content = DigestBuilder::new(CONTENT);
        content.text(&name).number(u64::from(self.class.access_flags().bits()));
        for parent in &supers {
            content.text(&self.texts.list[*parent as usize]);
        }
        let header_digest = content.bytes(&header.out).finish();
        let members = self.members()?;
        content.digest(header_digest).number(u64::from(version.major)).number(u64::from(version.minor));
        for member in &members {
            content.digest(member.content);
        }
        let own = self.texts.id(&name);
        let mut header_references = self.declared_classes(&header)?;
        header_references.extend(&supers);
        let mut references = self.pool_classes()?;
        references.extend(&header_references);
        references.extend(members.iter().flat_map(|member| &member.references));
        let mut strings = self.pool_strings()?;
        strings.extend(self.pieces(&header.strings)?);
        strings.extend(members.iter().flat_map(|member| &member.strings));
        let unknowns: BTreeSet<Unknown> =
            members.iter().flat_map(|member| member.unknowns.iter().cloned()).collect();
        let (outer, is_inner) = self.enclosing(&header, own)?;
        let is_package_info = name == "package-info" || name.ends_with(".package-info");
        let traits = class_traits(self.class.access_flags())
            .when(is_inner, ClassTraits::INNER)
            .when(is_package_info, ClassTraits::PACKAGE_INFO);
        Ok(ClassSummary {
            content: content.finish(),
            traits,
            outer,
            annotations: self.annotations(&header)?,
            references: self.sorted(references, Some(own)),
            header_references: self.sorted(header_references, Some(own)),
            strings: self.sorted(strings, None),
            supers,
            unknowns: unknowns.into_iter().collect(),
            header: header_digest,
            members,
            name,
            texts: std::mem::take(&mut self.texts.list),
            ..ClassSummary::default()
        })
    }

    fn supers(&mut self) -> Result<Vec<TextId>, Doubt> {
        let mut supers = Vec::new();
        if let Some(parent) = self.class.super_class() {
            supers.extend(self.class_id(parent.as_u16())?);
        }
        for interface in self.class.interfaces() {
            supers.extend(self.class_id(interface?.as_u16())?);
        }
        Ok(supers)
    }

    fn attributes(
        &self,
        attributes: impl IntoIterator<Item = Result<Attribute<'c>, DecodeError>>,
    ) -> Result<AttributeFacts, Doubt> {
        let mut facts = AttributeFacts::default();
        for attribute in attributes {
            let attribute = attribute?;
            let name = String::from_utf8_lossy(self.constants.utf8(attribute.name().as_u16())?);
            facts.read(&self.constants, &name, attribute.content())?;
        }
        Ok(facts)
    }

    fn members(&mut self) -> Result<Vec<MemberSummary>, Doubt> {
        let mut members = Vec::new();
        for field in self.class.fields() {
            let field = field?;
            let facts = self.attributes(field.attributes())?;
            let place = (field.name().as_u16(), field.descriptor().as_u16());
            members.push(self.member(MemberTraits::FIELD, field.access_flags(), place, facts)?);
        }
        for method in self.class.methods() {
            let method = method?;
            let facts = self.attributes(method.attributes())?;
            let place = (method.name().as_u16(), method.descriptor().as_u16());
            members.push(self.member(MemberTraits::METHOD, method.access_flags(), place, facts)?);
        }
        Ok(members)
    }

    fn member(
        &mut self,
        kind: MemberTraits,
        flags: AccessFlags,
        (name, descriptor): (u16, u16),
        mut facts: AttributeFacts,
    ) -> Result<MemberSummary, Doubt> {
        facts.signatures.push(descriptor);
        let (name, descriptor) = (self.constants.text(name)?, self.constants.text(descriptor)?);
        let is_field = kind == MemberTraits::FIELD;
        let key = if is_field { format!("#{name}") } else { format!("{name}{descriptor}") };
        let content = DigestBuilder::new(MEMBER)
            .text(&key)
            .text(&descriptor)
            .number(u64::from(flags.bits()))
            .bytes(&facts.out)
            .finish();
        let traits = member_traits(kind, flags, &name, &descriptor)
            .when(facts.has_constant_string, MemberTraits::STRING_CONSTANT);
        let mut creates = Vec::new();
        for &class in distinct(&mut facts.code.creates) {
            creates.extend(self.class_id(class)?);
        }
        for &value in &facts.class_values {
            creates.extend(self.signature(value)?);
        }
        let mut references = self.declared_classes(&facts)?;
        references.extend(&creates);
        let mut uses: Vec<Use> = Vec::new();
        for &member in distinct(&mut facts.code.members) {
            let owner = self.class_id(self.constants.owner(member)?)?;
            if let Some(owner) = owner {
                let used = self.text_id(self.constants.member_name(member)?)?;
                uses.push(Use::On { owner, name: used });
                references.push(owner);
            }
        }
        uses.sort_unstable();
        uses.dedup();
        facts.code.strings.append(&mut facts.strings);
        let strings = self.pieces(distinct(&mut facts.code.strings))?;
        Ok(MemberSummary {
            name: self.texts.id(&name),
            key: self.texts.id(&key),
            content,
            traits,
            annotations: self.annotations(&facts)?,
            references: self.sorted(references, None),
            creates: self.sorted(creates, None),
            uses,
            strings: self.sorted(strings, None),
            unknowns: facts.code.unknowns,
        })
    }

    /// Classes that a declaration names, its code included, other than by using their members.
    fn declared_classes(&mut self, facts: &AttributeFacts) -> Result<Vec<TextId>, Doubt> {
        let mut classes = Vec::new();
        for &class in facts.classes.iter().chain(&facts.code.classes) {
            classes.extend(self.class_id(class)?);
        }
        let code = &facts.code.descriptors;
        for &signature in facts.signatures.iter().chain(&facts.class_values).chain(code) {
            classes.extend(self.signature(signature)?);
        }
        Ok(classes)
    }

    fn annotations(&mut self, facts: &AttributeFacts) -> Result<Vec<TextId>, Doubt> {
        let mut annotations = Vec::new();
        for &descriptor in &facts.annotations {
            annotations.extend(self.signature(descriptor)?);
        }
        Ok(annotations)
    }

    /// The class it is declared in, as a member or inside a method, and whether it is an inner class.
    fn enclosing(&mut self, header: &AttributeFacts, own: TextId) -> Result<(Option<TextId>, bool), Doubt> {
        for &(inner, outer, flags) in &header.inner_classes {
            if self.class_id(inner)? == Some(own)
                && let Some(outer) = outer
            {
                return Ok((self.class_id(outer)?, flags & STATIC == 0));
            }
        }
        let outer = header.enclosing.map(|outer| self.class_id(outer)).transpose()?.flatten();
        Ok((outer, outer.is_some()))
    }

    fn class_id(&mut self, index: u16) -> Result<Option<TextId>, Doubt> {
        if let Some(&known) = self.class_ids.get(&index) {
            return Ok(known);
        }
        let name = self.constants.class_name(index)?;
        let id = (!name.is_empty()).then(|| self.texts.id(&name));
        self.class_ids.insert(index, id);
        Ok(id)
    }

    fn text_id(&mut self, index: u16) -> Result<TextId, Doubt> {
        if let Some(&known) = self.text_ids.get(&index) {
            return Ok(known);
        }
        let id = self.texts.id(&String::from_utf8_lossy(self.constants.utf8(index)?));
        self.text_ids.insert(index, id);
        Ok(id)
    }

    fn signature(&mut self, index: u16) -> Result<Vec<TextId>, Doubt> {
        if let Some(known) = self.signature_ids.get(&index) {
            return Ok(known.clone());
        }
        let mut ids = Vec::new();
        let text = String::from_utf8_lossy(self.constants.utf8(index)?);
        classes_in(&text, &mut |name| ids.push(self.texts.id(&name)));
        self.signature_ids.insert(index, ids.clone());
        Ok(ids)
    }

    /// The parts of some strings that may name something.
    fn pieces(&mut self, strings: &[u16]) -> Result<Vec<TextId>, Doubt> {
        let mut pieces = Vec::new();
        for &string in strings {
            if let Some(known) = self.piece_ids.get(&string) {
                pieces.extend(known);
                continue;
            }
            let text = String::from_utf8_lossy(self.constants.utf8(string)?);
            let found: Vec<TextId> = namable(&text).map(|piece| self.texts.id(piece)).collect();
            pieces.extend(&found);
            self.piece_ids.insert(string, found);
        }
        Ok(pieces)
    }

    fn pool_classes(&mut self) -> Result<Vec<TextId>, Doubt> {
        let mut classes = Vec::new();
        let (mut constants, mut signatures) = (Vec::new(), Vec::new());
        for (index, item) in self.constants.items() {
            match item {
                Item::Class(_) => constants.push(index),
                Item::NameAndType(pair) => signatures.push(pair.descriptor.as_u16()),
                Item::MethodType(kind) => signatures.push(kind.descriptor.as_u16()),
                _ => {}
            }
        }
        for class in constants {
            classes.extend(self.class_id(class)?);
        }
        for &signature in distinct(&mut signatures) {
            classes.extend(self.signature(signature)?);
        }
        Ok(classes)
    }

    fn pool_strings(&mut self) -> Result<Vec<TextId>, Doubt> {
        let mut strings: Vec<u16> = Vec::new();
        for (_, item) in self.constants.items() {
            if let Item::String(string) = item {
                strings.push(string.string.as_u16());
            }
        }
        self.pieces(&strings)
    }

    /// Sorted by text, without repetitions and without the class itself.
    fn sorted(&self, mut ids: Vec<TextId>, without: Option<TextId>) -> Vec<TextId> {
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|&id| Some(id) != without);
        ids.sort_unstable_by(|&a, &b| self.texts.list[a as usize].cmp(&self.texts.list[b as usize]));
        ids
    }
}

/// `ACC_STATIC`.
const STATIC: u16 = 0x0008;

fn distinct(indexes: &mut Vec<u16>) -> &[u16] {
    indexes.sort_unstable();
    indexes.dedup();
    indexes
}

fn class_traits(flags: AccessFlags) -> ClassTraits {
    let bits = flags.bits();
    ClassTraits::default()
        .when(bits & 0x0400 != 0, ClassTraits::ABSTRACT)
        .when(bits & 0x0200 != 0, ClassTraits::INTERFACE)
        .when(bits & 0x2000 != 0, ClassTraits::ANNOTATION)
        .when(bits & 0x4000 != 0, ClassTraits::ENUM)
}

fn member_traits(kind: MemberTraits, flags: AccessFlags, name: &str, descriptor: &str) -> MemberTraits {
    let bits = flags.bits();
    let kind = match name {
        "<clinit>" => MemberTraits::INITIALISER,
        "<init>" => MemberTraits::CONSTRUCTOR,
        _ => kind,
    };
    kind.when(bits & 0x0008 != 0, MemberTraits::STATIC)
        .when(bits & 0x0002 != 0, MemberTraits::PRIVATE)
        .when(bits & 0x0001 != 0, MemberTraits::PUBLIC)
        .when(bits & 0x0400 != 0, MemberTraits::ABSTRACT)
        .when(descriptor.starts_with("()"), MemberTraits::NO_PARAMETERS)
}

/// A module's declaration counts by its bytes: every test of the module depends on it anyway.
fn module(class: &Class<'_>, constants: &Constants<'_>, bytes: &[u8]) -> Result<ClassSummary, Doubt> {
    let mut facts = AttributeFacts::default();
    for attribute in class.attributes() {
        let attribute = attribute?;
        if constants.utf8(attribute.name().as_u16())? == b"Module" {
            facts.module(constants, attribute.content())?;
        }
    }
    let mut texts = Texts::default();
    let provides =
        facts.provides.iter().map(|(service, provider)| (texts.id(service), texts.id(provider))).collect();
    let uses: Result<Vec<String>, Doubt> =
        facts.classes.iter().map(|&class| constants.class_name(class)).collect();
    let uses = uses?;
    let content = Digest::of(RAW, bytes);
    Ok(ClassSummary {
        name: "module-info".to_string(),
        content,
        header: content,
        traits: ClassTraits::MODULE_INFO.with(ClassTraits::ABSTRACT),
        references: texts.sorted(uses.iter().map(String::as_str)),
        provides,
        texts: texts.list,
        ..ClassSummary::default()
    })
}

/// A file that cannot be read counts as a whole and refers to everything that it may name.
fn opaque(bytes: &[u8], path: &str, why: &str) -> ClassSummary {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$/.".contains(byte);
    for run in bytes.split(|byte| !is_name(byte)).filter(|run| run.len() >= 2) {
        let run = String::from_utf8_lossy(run).replace('/', ".");
        // The length before a name, and a descriptor's L, may look like a part of it.
        names.extend((0..3).filter_map(|start| run.get(start..)).map(str::to_string));
    }
    let mut texts = Texts::default();
    let content = Digest::of(RAW, bytes);
    let references = texts.sorted(names.iter().map(String::as_str));
    let member = MemberSummary {
        name: texts.id("<clinit>"),
        key: texts.id("<whole file>"),
        content,
        traits: MemberTraits::INITIALISER,
        references: references.clone(),
        creates: references.clone(),
        ..MemberSummary::default()
    };
    ClassSummary {
        name: path.trim_end_matches(".class").replace('/', "."),
        content,
        header: content,
        traits: ClassTraits::OPAQUE,
        header_references: references.clone(),
        references,
        members: vec![member],
        notes: vec![format!("{why}: the class file counts as a whole")],
        texts: texts.list,
        ..ClassSummary::default()
    }
}
