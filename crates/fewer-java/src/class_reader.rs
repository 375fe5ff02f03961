//! A class file to a summary: what it refers to, its members, and a hash that does not change with line numbers
//! or the order of the constant pool. Files that are not as expected count as a whole.
//!
//! A constant that javac copied from another class leaves no reference here, and needs none: the copy is part of
//! this class's content, and only compiling it again can change it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fewer_core::{Digest, DigestBuilder, Domain};

use crate::class_attributes::{AttributeFacts, AttributeKind};
use crate::class_constants::{Constants, classes_in, element_of, spell_part};
use crate::class_file::{ClassFile, Constant, Doubt, RawMember};
use crate::mention::namable;
use crate::summary::{
    ClassSummary, ClassTraits, List, MemberLists, MemberSummary, MemberTraits, TextId, Texts, Use,
};

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
    let class = ClassFile::read(bytes)?;
    let constants = Constants::new(&class)?;
    if class.flags & MODULE != 0 {
        return module(&class, &constants, bytes);
    }
    SCRATCH.with_borrow_mut(|scratch| {
        let mut reading = Reading { class: &class, constants, scratch: std::mem::take(scratch) };
        reading.scratch.reset(class.pool.len());
        let read = reading.summarise();
        *scratch = reading.scratch;
        read
    })
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// `ACC_MODULE`.
const MODULE: u16 = 0x8000;

/// What is known of a constant already: numbers of texts, so that each constant is taken apart once.
#[derive(Clone, Copy, Default)]
struct Known {
    /// One more than the number of its text, or of the class that it names.
    id: u32,
    is_array_of_primitives: bool,
    /// One more than where the list of the classes that it speaks of as a descriptor starts.
    signature: u32,
    /// One more than where the list of its parts that may name something starts.
    pieces: u32,
}

/// A class file that is being read.
struct Reading<'c> {
    class: &'c ClassFile<'c>,
    constants: Constants<'c>,
    scratch: Scratch,
}

/// What reading a class needs besides, kept for the next class.
#[derive(Default)]
struct Scratch {
    texts: Texts,
    /// Per constant.
    known: Vec<Known>,
    /// Lists of numbers of texts, each after its length.
    lists: Vec<u32>,
    spelling: Vec<u8>,
    header: AttributeFacts,
    member: AttributeFacts,
    member_lists: MemberLists,
    uses: Vec<Use>,
    /// References and strings of the class as a whole.
    references: Once,
    strings: Once,
    /// The same for one member, one list after the other.
    gathered: Once,
}

impl Scratch {
    fn reset(&mut self, constants: usize) {
        self.texts.clear();
        self.known.clear();
        self.known.resize(constants, Known::default());
        self.lists.clear();
        self.header.clear();
        self.member_lists.clear();
        self.references.clear();
        self.strings.clear();
        self.gathered.clear();
    }
}

impl<'c> Reading<'c> {
    fn summarise(&mut self) -> Result<ClassSummary, Doubt> {
        let class = self.class;
        let name = self.constants.class_name(class.this_class)?;
        let own = self.scratch.texts.id(&name);
        let supers = self.supers()?;
        let mut header = std::mem::take(&mut self.scratch.header);
        header.read_all(&self.constants, class.attributes)?;
        let mut content = DigestBuilder::new(CONTENT);
        content.text(&name).number(u64::from(class.flags));
        for &parent in &supers {
            content.text(self.scratch.texts.list.get(parent));
        }
        let header_digest = content.bytes(&header.out).finish();
        self.pool_names()?;
        let members = self.members()?;
        content.digest(header_digest).number(u64::from(class.major)).number(u64::from(class.minor));
        for member in &members {
            content.digest(member.content);
        }
        self.declared_classes(&header)?;
        self.scratch.gathered.extend(supers.iter().copied());
        let header_references = self.scratch.gathered.finish_without(own);
        self.scratch.references.extend(header_references.iter().copied());
        self.pieces(&header.strings)?;
        self.scratch.strings.extend(self.scratch.gathered.finish());
        let unknowns: BTreeSet<_> =
            members.iter().flat_map(|member| member.unknowns.iter().cloned()).collect();
        let (outer, is_inner) = self.enclosing(&header, own)?;
        let is_package_info = name == "package-info" || name.ends_with(".package-info");
        let annotations = self.annotations(&header)?;
        self.scratch.header = header;
        Ok(ClassSummary {
            content: content.finish(),
            traits: class_traits(class.flags)
                .when(is_inner, ClassTraits::INNER)
                .when(is_package_info, ClassTraits::PACKAGE_INFO),
            outer,
            annotations,
            references: self.scratch.references.finish_without(own),
            header_references,
            strings: self.scratch.strings.finish(),
            supers,
            unknowns: unknowns.into_iter().collect(),
            header: header_digest,
            members,
            member_lists: self.scratch.member_lists.clone(),
            name,
            texts: self.scratch.texts.list.clone(),
            ..ClassSummary::default()
        })
    }

    fn supers(&mut self) -> Result<Vec<TextId>, Doubt> {
        let mut supers = Vec::new();
        if self.class.super_class != 0 {
            supers.extend(self.class_id(self.class.super_class)?);
        }
        for interface in self.class.interfaces.iter() {
            supers.extend(self.class_id(interface)?);
        }
        Ok(supers)
    }

    /// What the pool names, whoever uses it.
    fn pool_names(&mut self) -> Result<(), Doubt> {
        for (index, constant) in self.class.pool.iter() {
            match constant {
                Constant::Class(_) => {
                    let class = self.class_id(index)?;
                    self.scratch.references.extend(class);
                }
                Constant::NameAndType { descriptor, .. } | Constant::MethodType(descriptor) => {
                    let list = self.signature(descriptor)?;
                    self.scratch.references.extend(self.scratch.lists[list].iter().copied());
                }
                Constant::String(text) => {
                    let list = self.pieces_of(text)?;
                    self.scratch.strings.extend(self.scratch.lists[list].iter().copied());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn members(&mut self) -> Result<Vec<MemberSummary>, Doubt> {
        let class = self.class;
        let mut members = Vec::with_capacity(class.fields.len() + class.methods.len());
        let mut facts = std::mem::take(&mut self.scratch.member);
        for field in &class.fields {
            members.push(self.member(MemberTraits::FIELD, field, &mut facts)?);
        }
        for method in &class.methods {
            members.push(self.member(MemberTraits::METHOD, method, &mut facts)?);
        }
        self.scratch.member = facts;
        Ok(members)
    }

    fn member(
        &mut self,
        kind: MemberTraits,
        member: &RawMember<'c>,
        facts: &mut AttributeFacts,
    ) -> Result<MemberSummary, Doubt> {
        facts.clear();
        let (name, descriptor) = (self.constants.utf8(member.name)?, self.constants.utf8(member.descriptor)?);
        spell_part(if kind == MemberTraits::FIELD { b'f' } else { b'm' }, name, &mut facts.out);
        spell_part(b'd', descriptor, &mut facts.out);
        facts.out.extend_from_slice(&member.flags.to_be_bytes());
        facts.read_all(&self.constants, member.attributes)?;
        facts.signatures.push(member.descriptor);
        let traits = member_traits(kind, member.flags, name, descriptor)
            .when(facts.has_constant_string, MemberTraits::STRING_CONSTANT);
        self.creates(facts)?;
        let creates = self.finish_list();
        let uses = self.uses(facts)?;
        let Scratch { gathered, member_lists, .. } = &mut self.scratch;
        gathered.extend(member_lists.ids(creates).iter().copied());
        gathered.extend(member_lists.uses(uses).iter().filter_map(|used| match used {
            Use::On { owner, .. } => Some(*owner),
            Use::Own { .. } | Use::Any { .. } => None,
        }));
        self.declared_classes(facts)?;
        let references = self.finish_list();
        let Scratch { member_lists, references: all, .. } = &mut self.scratch;
        all.extend(member_lists.ids(references).iter().copied());
        self.pieces(&facts.code.strings)?;
        self.pieces(&facts.strings)?;
        let strings = self.finish_list();
        let Scratch { member_lists, strings: all, .. } = &mut self.scratch;
        all.extend(member_lists.ids(strings).iter().copied());
        let annotations = self.annotations(facts)?;
        Ok(MemberSummary {
            name: self.text_id(member.name)?,
            key: self.key(kind, name, descriptor),
            content: Digest::of(MEMBER, &facts.out),
            traits,
            annotations: self.scratch.member_lists.add(annotations),
            references,
            creates,
            uses,
            strings,
            unknowns: std::mem::take(&mut facts.code.unknowns),
        })
    }

    /// What was gathered, as a list of the member at hand.
    fn finish_list(&mut self) -> List {
        let Scratch { gathered, member_lists, .. } = &mut self.scratch;
        let list = member_lists.add(gathered.list.iter().copied());
        gathered.forget();
        list
    }

    fn key(&mut self, kind: MemberTraits, name: &[u8], descriptor: &[u8]) -> TextId {
        self.scratch.spelling.clear();
        match kind {
            MemberTraits::FIELD => {
                self.scratch.spelling.push(b'#');
                self.scratch.spelling.extend_from_slice(name);
            }
            _ => {
                self.scratch.spelling.extend_from_slice(name);
                self.scratch.spelling.extend_from_slice(descriptor);
            }
        }
        text_number(&mut self.scratch.texts, &self.scratch.spelling)
    }

    /// Gathers the classes of which a member makes objects.
    fn creates(&mut self, facts: &AttributeFacts) -> Result<(), Doubt> {
        for &class in &facts.code.creates {
            let class = self.class_id(class)?;
            self.scratch.gathered.extend(class);
        }
        for &value in &facts.class_values {
            let list = self.signature(value)?;
            self.scratch.gathered.extend(self.scratch.lists[list].iter().copied());
        }
        Ok(())
    }

    fn uses(&mut self, facts: &mut AttributeFacts) -> Result<List, Doubt> {
        let members = &mut facts.code.members;
        members.sort_unstable();
        members.dedup();
        let mut uses = std::mem::take(&mut self.scratch.uses);
        uses.clear();
        for &member in &*members {
            let (owner, name) = self.constants.owner_and_name(member)?;
            if let Some(owner) = self.class_id(owner)? {
                uses.push(Use::On { owner, name: self.text_id(name)? });
            }
        }
        uses.sort_unstable();
        uses.dedup();
        let list = self.scratch.member_lists.add_uses(&uses);
        self.scratch.uses = uses;
        Ok(list)
    }

    /// Gathers the classes that a declaration names, its code included, other than by using their members.
    fn declared_classes(&mut self, facts: &AttributeFacts) -> Result<(), Doubt> {
        for &class in facts.classes.iter().chain(&facts.code.classes) {
            let class = self.class_id(class)?;
            self.scratch.gathered.extend(class);
        }
        let code = &facts.code.descriptors;
        for &signature in facts.signatures.iter().chain(&facts.class_values).chain(code) {
            let list = self.signature(signature)?;
            self.scratch.gathered.extend(self.scratch.lists[list].iter().copied());
        }
        Ok(())
    }

    fn annotations(&mut self, facts: &AttributeFacts) -> Result<Vec<TextId>, Doubt> {
        let mut annotations = Vec::new();
        for &descriptor in &facts.annotations {
            let list = self.signature(descriptor)?;
            annotations.extend_from_slice(&self.scratch.lists[list]);
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

    /// `None` for an array of primitives.
    #[inline]
    fn class_id(&mut self, index: u16) -> Result<Option<TextId>, Doubt> {
        if let Some(known) = self.scratch.known.get(usize::from(index)) {
            if known.id > 0 {
                return Ok(Some(known.id - 1));
            }
            if known.is_array_of_primitives {
                return Ok(None);
            }
        }
        let name = element_of(self.constants.class_text(index)?);
        let known = &mut self.scratch.known[usize::from(index)];
        if name.is_empty() {
            known.is_array_of_primitives = true;
            return Ok(None);
        }
        let id = class_number(&mut self.scratch.texts, &mut self.scratch.spelling, name);
        known.id = id + 1;
        Ok(Some(id))
    }

    #[inline]
    fn text_id(&mut self, index: u16) -> Result<TextId, Doubt> {
        let text = self.constants.utf8(index)?;
        let known = &mut self.scratch.known[usize::from(index)];
        if known.id == 0 {
            known.id = text_number(&mut self.scratch.texts, text) + 1;
        }
        Ok(known.id - 1)
    }

    /// Where the classes of a descriptor or a signature are listed.
    #[inline]
    fn signature(&mut self, index: u16) -> Result<std::ops::Range<usize>, Doubt> {
        let text = self.constants.utf8(index)?;
        let known = &mut self.scratch.known[usize::from(index)];
        if known.signature == 0 {
            known.signature = self.scratch.lists.len() as u32 + 1;
            let Scratch { lists, texts, spelling, .. } = &mut self.scratch;
            lists.push(0);
            let start = lists.len();
            classes_in(text, &mut |name| lists.push(class_number(texts, spelling, name)));
            lists[start - 1] = (lists.len() - start) as u32;
        }
        Ok(self.list(self.scratch.known[usize::from(index)].signature))
    }

    /// Where the parts of a string that may name something are listed.
    fn pieces_of(&mut self, index: u16) -> Result<std::ops::Range<usize>, Doubt> {
        let text = self.constants.utf8(index)?;
        let known = &mut self.scratch.known[usize::from(index)];
        if known.pieces == 0 {
            known.pieces = self.scratch.lists.len() as u32 + 1;
            let Scratch { lists, texts, .. } = &mut self.scratch;
            lists.push(0);
            let start = lists.len();
            lists.extend(namable(&readable(text)).map(|piece| texts.id(piece)));
            lists[start - 1] = (lists.len() - start) as u32;
        }
        Ok(self.list(self.scratch.known[usize::from(index)].pieces))
    }

    #[inline]
    fn list(&self, known: u32) -> std::ops::Range<usize> {
        let start = known as usize;
        start..start + self.scratch.lists[start - 1] as usize
    }

    /// Gathers the parts of some strings that may name something.
    fn pieces(&mut self, strings: &[u16]) -> Result<(), Doubt> {
        for &string in strings {
            let list = self.pieces_of(string)?;
            self.scratch.gathered.extend(self.scratch.lists[list].iter().copied());
        }
        Ok(())
    }
}

/// The number of a name that is written with slashes.
fn class_number(texts: &mut Texts, spelling: &mut Vec<u8>, name: &[u8]) -> TextId {
    spelling.clear();
    spelling.extend(name.iter().map(|&byte| if byte == b'/' { b'.' } else { byte }));
    text_number(texts, spelling)
}

fn text_number(texts: &mut Texts, text: &[u8]) -> TextId {
    texts.id(&readable(text))
}

/// What `from_utf8_lossy` gives, and faster where nothing is lost.
fn readable(text: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(text).map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed)
}

/// Gathers numbers of texts into lists, each once per list, in the order met.
#[derive(Default)]
struct Once {
    list: Vec<TextId>,
    /// Per text, the last list that it is on; lists are counted from 1.
    last: Vec<u32>,
    finished: u32,
}

impl Once {
    #[inline]
    fn extend(&mut self, ids: impl IntoIterator<Item = TextId>) {
        let current = self.finished + 1;
        for id in ids {
            let place = id as usize;
            if place >= self.last.len() {
                self.last.resize((place + 1).next_power_of_two().max(64), 0);
            }
            if self.last[place] != current {
                self.last[place] = current;
                self.list.push(id);
            }
        }
    }

    fn finish(&mut self) -> Vec<TextId> {
        let list = self.list.as_slice().to_vec();
        self.forget();
        list
    }

    /// Starts another list.
    fn forget(&mut self) {
        self.finished += 1;
        self.list.clear();
    }

    fn clear(&mut self) {
        self.list.clear();
        self.last.clear();
        self.finished = 0;
    }

    fn finish_without(&mut self, without: TextId) -> Vec<TextId> {
        self.list.retain(|&id| id != without);
        self.finish()
    }
}

/// `ACC_STATIC`.
const STATIC: u16 = 0x0008;

fn class_traits(bits: u16) -> ClassTraits {
    ClassTraits::default()
        .when(bits & 0x0400 != 0, ClassTraits::ABSTRACT)
        .when(bits & 0x0200 != 0, ClassTraits::INTERFACE)
        .when(bits & 0x2000 != 0, ClassTraits::ANNOTATION)
        .when(bits & 0x4000 != 0, ClassTraits::ENUM)
}

fn member_traits(kind: MemberTraits, bits: u16, name: &[u8], descriptor: &[u8]) -> MemberTraits {
    let kind = match name {
        b"<clinit>" => MemberTraits::INITIALISER,
        b"<init>" => MemberTraits::CONSTRUCTOR,
        _ => kind,
    };
    kind.when(bits & 0x0008 != 0, MemberTraits::STATIC)
        .when(bits & 0x0002 != 0, MemberTraits::PRIVATE)
        .when(bits & 0x0001 != 0, MemberTraits::PUBLIC)
        .when(bits & 0x0400 != 0, MemberTraits::ABSTRACT)
        .when(descriptor.starts_with(b"()"), MemberTraits::NO_PARAMETERS)
}

/// A module's declaration counts by its bytes: every test of the module depends on it anyway.
fn module(class: &ClassFile<'_>, constants: &Constants<'_>, bytes: &[u8]) -> Result<ClassSummary, Doubt> {
    let mut facts = AttributeFacts::default();
    for attribute in class.attributes.iter() {
        let (name, content) = attribute?;
        if constants.attribute(name)? == AttributeKind::Module {
            facts.module(constants, content)?;
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

/// More names are none: nothing that a Java machine loads has so many.
const MOST_NAMES: usize = 400_000;

/// A file that cannot be read counts as a whole and refers to everything that it may name.
pub(crate) fn opaque(bytes: &[u8], path: &str, why: &str) -> ClassSummary {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$/.".contains(byte);
    for run in bytes.split(|byte| !is_name(byte)).filter(|run| run.len() >= 2) {
        let run = String::from_utf8_lossy(run).replace('/', ".");
        // The length before a name, and a descriptor's L, may look like a part of it.
        names.extend((0..3).filter_map(|start| run.get(start..)).map(str::to_string));
        if names.len() > MOST_NAMES {
            break;
        }
    }
    let mut texts = Texts::default();
    let content = Digest::of(RAW, bytes);
    let references = texts.sorted(names.iter().map(String::as_str));
    let mut member_lists = MemberLists::default();
    let all = member_lists.add(references.iter().copied());
    let member = MemberSummary {
        name: texts.id("<clinit>"),
        key: texts.id("<whole file>"),
        content,
        traits: MemberTraits::INITIALISER,
        references: all,
        creates: all,
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
        member_lists,
        notes: vec![format!("{why}: the class file counts as a whole")],
        texts: texts.list,
        ..ClassSummary::default()
    }
}
