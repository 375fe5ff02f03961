//! A class file's constants by what they say, not by where the pool keeps them: the spelling that the smart hash
//! uses, and the classes that names and descriptors speak of.

use std::cell::Cell;

use fewer_core::{Digest, Domain};

use crate::class_attributes::AttributeKind;
use crate::class_file::{Bytes, ClassFile, Constant, Doubt, Numbers, Pool, doubt};
use crate::mention::loaded_by;

/// Constants may refer to each other; deeper than this only in files made to break readers.
const DEEPEST: usize = 24;

const TEXT: Domain = Domain::new("java.constant.text");
const NUMBER: Domain = Domain::new("java.constant.number");
const CLASS: Domain = Domain::new("java.constant.class");
const STRING: Domain = Domain::new("java.constant.string");
const MEMBER: Domain = Domain::new("java.constant.member");
const NAME_AND_TYPE: Domain = Domain::new("java.constant.name-and-type");
const METHOD_HANDLE: Domain = Domain::new("java.constant.method-handle");
const METHOD_TYPE: Domain = Domain::new("java.constant.method-type");
const DYNAMIC: Domain = Domain::new("java.constant.dynamic");
const PLACE: Domain = Domain::new("java.constant.place");

/// What is known of a constant already; most are used often.
#[derive(Clone, Default)]
struct Memo {
    /// Zero if not known yet.
    spelt: Cell<Digest>,
    attribute: Cell<Option<AttributeKind>>,
    is_load: Cell<Option<bool>>,
}

/// The constants of one class.
pub(crate) struct Constants<'c> {
    pub pool: &'c Pool<'c>,
    bootstraps: Vec<(u16, Numbers<'c>)>,
    memos: Vec<Memo>,
}

impl<'c> Constants<'c> {
    pub fn new(class: &'c ClassFile<'c>) -> Result<Constants<'c>, Doubt> {
        let pool = &class.pool;
        let memos = vec![Memo::default(); pool.len()];
        let mut constants = Constants { pool, bootstraps: Vec::new(), memos };
        for attribute in class.attributes.iter() {
            let (name, content) = attribute?;
            if constants.attribute(name)? == AttributeKind::BootstrapMethods {
                let mut bytes = Bytes::new(content);
                for _ in 0..bytes.u2()? {
                    let (method, count) = (bytes.u2()?, bytes.u2()?);
                    constants.bootstraps.push((method, bytes.numbers(count)?));
                }
            }
        }
        Ok(constants)
    }

    #[inline]
    pub fn item(&self, index: u16) -> Result<Constant<'c>, Doubt> {
        self.pool.get(index)
    }

    #[inline]
    pub fn utf8(&self, index: u16) -> Result<&'c [u8], Doubt> {
        self.pool.text(index)
    }

    pub fn text(&self, index: u16) -> Result<String, Doubt> {
        Ok(String::from_utf8_lossy(self.utf8(index)?).into_owned())
    }

    /// What the attribute that a text constant names is.
    #[inline]
    pub fn attribute(&self, name: u16) -> Result<AttributeKind, Doubt> {
        let text = self.utf8(name)?;
        let known = &self.memos[usize::from(name)].attribute;
        let kind = known.get().unwrap_or_else(|| AttributeKind::of(text));
        known.set(Some(kind));
        Ok(kind)
    }

    /// The text of a class constant: `p/C`, `[Lp/C;`, `[I`.
    #[inline]
    pub fn class_text(&self, index: u16) -> Result<&'c [u8], Doubt> {
        match self.item(index)? {
            Constant::Class(name) => self.utf8(name),
            _ => doubt("a constant that should be a class is not"),
        }
    }

    /// `p.C` for a class constant; the element's name for an array's; empty for arrays of primitives.
    pub fn class_name(&self, index: u16) -> Result<String, Doubt> {
        Ok(String::from_utf8_lossy(element_of(self.class_text(index)?)).replace('/', "."))
    }

    #[inline]
    fn member(&self, index: u16) -> Result<(u16, u16), Doubt> {
        match self.item(index)? {
            Constant::Member { class, name_and_type, .. } => Ok((class, name_and_type)),
            _ => doubt("a constant that should be a field or a method is not"),
        }
    }

    #[inline]
    fn name_and_type(&self, index: u16) -> Result<(u16, u16), Doubt> {
        match self.item(index)? {
            Constant::NameAndType { name, descriptor } => Ok((name, descriptor)),
            _ => doubt("a constant that should be a name and a type is not"),
        }
    }

    /// The class constant of a field or a method, and the text constant that names it.
    pub fn owner_and_name(&self, index: u16) -> Result<(u16, u16), Doubt> {
        let (class, name_and_type) = self.member(index)?;
        Ok((class, self.name_and_type(name_and_type)?.0))
    }

    /// The class constant of a field or a method.
    pub fn owner(&self, index: u16) -> Result<u16, Doubt> {
        Ok(self.member(index)?.0)
    }

    /// The text constant that names a field or a method.
    pub fn member_name(&self, index: u16) -> Result<u16, Doubt> {
        Ok(self.name_and_type(self.member(index)?.1)?.0)
    }

    pub fn member_descriptor(&self, index: u16) -> Result<String, Doubt> {
        self.text(self.name_and_type(self.member(index)?.1)?.1)
    }

    /// Whether a method loads something by name, to judge by the method's own name.
    #[inline]
    pub fn is_load(&self, method: u16) -> Result<bool, Doubt> {
        let known = self.memos.get(usize::from(method)).and_then(|memo| memo.is_load.get());
        if let Some(known) = known {
            return Ok(known);
        }
        let name = self.utf8(self.member_name(method)?)?;
        let is_load = std::str::from_utf8(name).is_ok_and(|name| loaded_by(name).is_some());
        self.memos[usize::from(method)].is_load.set(Some(is_load));
        Ok(is_load)
    }

    /// Bootstrap method and arguments of a dynamic call.
    pub fn bootstrap(&self, index: u16) -> Result<(u16, Numbers<'c>), Doubt> {
        let (bootstrap, _) = self.dynamic(index)?;
        match self.bootstraps.get(usize::from(bootstrap)) {
            Some(&found) => Ok(found),
            None => doubt("a dynamic call has no bootstrap method"),
        }
    }

    /// The text constant that is the descriptor of a dynamic call or constant.
    pub fn dynamic_descriptor(&self, index: u16) -> Result<u16, Doubt> {
        Ok(self.name_and_type(self.dynamic(index)?.1)?.1)
    }

    fn dynamic(&self, index: u16) -> Result<(u16, u16), Doubt> {
        match self.item(index)? {
            Constant::Dynamic { bootstrap, name_and_type, .. } => Ok((bootstrap, name_and_type)),
            _ => doubt("a constant that should be a dynamic call is not"),
        }
    }

    /// Writes the digest of what a constant says.
    #[inline]
    pub fn spell(&self, index: u16, out: &mut Vec<u8>) -> Result<(), Doubt> {
        out.extend_from_slice(&self.spelling(index)?.to_bytes());
        Ok(())
    }

    /// The digest of what a constant says.
    #[inline]
    pub fn spelling(&self, index: u16) -> Result<Digest, Doubt> {
        self.spelling_at(index, 0)
    }

    /// Every constant is spelt once: what others say of it is part of their spelling by its digest.
    #[inline]
    fn spelling_at(&self, index: u16, depth: usize) -> Result<Digest, Doubt> {
        match self.memos.get(usize::from(index)) {
            Some(memo) if memo.spelt.get() != Digest::default() => Ok(memo.spelt.get()),
            Some(memo) => {
                let digest = self.spell_anew(index, depth)?;
                memo.spelt.set(digest);
                Ok(digest)
            }
            None => doubt("a constant is missing"),
        }
    }

    fn spell_anew(&self, index: u16, depth: usize) -> Result<Digest, Doubt> {
        if depth > DEEPEST {
            return doubt("its constants refer to each other without end");
        }
        let spelling = |index: u16| self.spelling_at(index, depth + 1);
        Ok(match self.item(index)? {
            Constant::Text(text) => Digest::of(TEXT, text),
            Constant::Number(tag, number) => tagged(NUMBER, tag, number),
            Constant::Class(name) => Digest::of(CLASS, self.utf8(name)?),
            Constant::String(text) => Digest::of(STRING, self.utf8(text)?),
            Constant::MethodType(descriptor) => Digest::of(METHOD_TYPE, self.utf8(descriptor)?),
            Constant::Place(tag, name) => tagged(PLACE, tag, self.utf8(name)?),
            Constant::NameAndType { name, descriptor } => {
                pair(NAME_AND_TYPE, 0, spelling(name)?, spelling(descriptor)?)
            }
            Constant::Member { tag, class, name_and_type } => {
                pair(MEMBER, tag, spelling(class)?, spelling(name_and_type)?)
            }
            Constant::MethodHandle { kind, reference } => {
                tagged(METHOD_HANDLE, kind, &spelling(reference)?.to_bytes())
            }
            Constant::Dynamic { tag, name_and_type, .. } => {
                let (method, arguments) = self.bootstrap(index)?;
                let mut parts = vec![tag];
                for part in [name_and_type, method].into_iter().chain(arguments.iter()) {
                    parts.extend_from_slice(&spelling(part)?.to_bytes());
                }
                Digest::of(DYNAMIC, &parts)
            }
        })
    }
}

fn tagged(domain: Domain, tag: u8, part: &[u8]) -> Digest {
    let mut parts = Vec::with_capacity(part.len() + 1);
    parts.push(tag);
    parts.extend_from_slice(part);
    Digest::of(domain, &parts)
}

fn pair(domain: Domain, tag: u8, first: Digest, second: Digest) -> Digest {
    let mut parts = [tag; 33];
    parts[1..17].copy_from_slice(&first.to_bytes());
    parts[17..].copy_from_slice(&second.to_bytes());
    Digest::of(domain, &parts)
}

pub(crate) fn spell_part(tag: u8, part: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&(part.len() as u32).to_be_bytes());
    out.extend_from_slice(part);
}

/// The class in a class constant's text: `p/C` of `[Lp/C;`, nothing of `[I`.
pub(crate) fn element_of(text: &[u8]) -> &[u8] {
    let dimensions = text.iter().take_while(|&&byte| byte == b'[').count();
    match &text[dimensions..] {
        name if dimensions == 0 => name,
        [b'L', name @ .., b';'] | [b'L', name @ ..] => name,
        _ => &[],
    }
}

/// Every class that a descriptor or a generic signature speaks of, with slashes: `(Lp/C;I)Lp/D<TT;>.E;`.
pub(crate) fn classes_in(signature: &[u8], found: &mut impl FnMut(&[u8])) {
    if signature.contains(&b'<') {
        let text = String::from_utf8_lossy(signature);
        return generic_classes_in(&text, &mut |name| found(name.as_bytes()));
    }
    let mut rest = signature;
    while let Some(start) = rest.iter().position(|&byte| matches!(byte, b'L' | b'T')) {
        let is_class = rest[start] == b'L';
        rest = &rest[start + 1..];
        let Some(end) = rest.iter().position(|&byte| byte == b';') else { break };
        if is_class {
            found(&rest[..end]);
        }
        rest = &rest[end + 1..];
    }
}

fn generic_classes_in(signature: &str, found: &mut impl FnMut(&str)) {
    let mut open: Vec<String> = Vec::new();
    let mut chars = signature.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        match c {
            'L' => {
                let end = name_end(signature, start + 1);
                open.push(signature[start + 1..end].to_string());
                skip_to(&mut chars, end);
            }
            '.' if !open.is_empty() => {
                let end = name_end(signature, start + 1);
                if let Some(outer) = open.last_mut() {
                    found(outer);
                    outer.push('$');
                    outer.push_str(&signature[start + 1..end]);
                }
                skip_to(&mut chars, end);
            }
            ';' => {
                if let Some(name) = open.pop() {
                    found(&name);
                }
            }
            'T' => skip_to(
                &mut chars,
                signature[start..].find(';').map_or(signature.len(), |end| start + end + 1),
            ),
            '<' if open.is_empty() => {
                // Formal type parameters: `<T:Lp/Bound;>`; the names end at a colon.
                skip_name(&mut chars);
            }
            '>' | ':' => {}
            _ => {}
        }
        // After a bound another formal parameter may follow.
        if c == ';' && open.is_empty() && is_formal_name(signature, start + 1) {
            skip_name(&mut chars);
        }
    }
}

type Chars<'s> = std::iter::Peekable<std::str::CharIndices<'s>>;

fn name_end(signature: &str, start: usize) -> usize {
    signature[start..].find([';', '<', '.', '>']).map_or(signature.len(), |end| start + end)
}

fn skip_to(chars: &mut Chars<'_>, end: usize) {
    while chars.next_if(|(index, _)| *index < end).is_some() {}
}

fn skip_name(chars: &mut Chars<'_>) {
    while chars.next_if(|(_, c)| *c != ':').is_some() {}
}

fn is_formal_name(signature: &str, start: usize) -> bool {
    let rest = &signature[start..];
    match rest.find(':') {
        Some(colon) => colon > 0 && !rest[..colon].contains(['/', ';', '<', '>', '(', ')', '.']),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(signature: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut add = |name: &[u8]| found.push(String::from_utf8_lossy(name).replace('/', "."));
        classes_in(signature.as_bytes(), &mut add);
        found.sort();
        found
    }

    #[test]
    fn descriptors_and_signatures_tell_their_classes() {
        assert_eq!(classes("(Lp/C;I[[Lp/D;)V"), ["p.C", "p.D"]);
        assert_eq!(
            classes("Ljava/util/Map<Ljava/lang/String;Lp/C<TT;>;>;"),
            ["java.lang.String", "java.util.Map", "p.C"]
        );
        assert_eq!(
            classes("<T:Lp/Bound;U::Lp/Other;V:Ljava/lang/Object;>Lp/Base<TT;>;Lp/I;"),
            ["java.lang.Object", "p.Base", "p.Bound", "p.I", "p.Other"]
        );
        assert_eq!(classes("Lp/Outer<TT;>.Inner;"), ["p.Outer", "p.Outer$Inner"]);
        assert_eq!(classes("Lp/C<+Lp/D;-Lp/E;*>;"), ["p.C", "p.D", "p.E"]);
        for broken in ["L", "Lp/C", "<", "<T", "T", "(L;", ".", "Lp/C<", ";;;", "[L;"] {
            classes(broken);
        }
    }
}
