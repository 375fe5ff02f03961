//! A class file's constants by what they say, not by where the pool keeps them: the spelling that the smart hash
//! uses, and the classes that names and descriptors speak of. Framing of the file is noak's.

use std::cell::RefCell;

use fewer_core::{Digest, Domain};
use noak::reader::Class;
use noak::reader::attributes::BootstrapMethods;
use noak::reader::cpool::{ConstantPool, Index, Item, NameAndType, Utf8};

const SPELLING: Domain = Domain::new("java.constant");

/// Something in a class file is not as the specification has it, or not known to this reader.
#[derive(Debug)]
pub(crate) struct Doubt(pub String);

impl From<noak::error::DecodeError> for Doubt {
    fn from(error: noak::error::DecodeError) -> Doubt {
        Doubt(error.to_string())
    }
}

pub(crate) fn doubt<T>(what: &str) -> Result<T, Doubt> {
    Err(Doubt(what.to_string()))
}

/// Constants may refer to each other; deeper than this only in files made to break readers.
const DEEPEST: usize = 24;

/// A spelling longer than this comes from constants that name each other over and over.
const LONGEST: usize = 64 << 20;

/// Reads a byte after the other.
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes { rest: bytes }
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Doubt> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => doubt("an attribute ends too early"),
        }
    }

    pub fn u1(&mut self) -> Result<u8, Doubt> {
        Ok(self.take(1)?[0])
    }

    pub fn u2(&mut self) -> Result<u16, Doubt> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub fn u4(&mut self) -> Result<u32, Doubt> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// The pool of one class.
pub(crate) struct Constants<'c> {
    pool: &'c ConstantPool<'c>,
    bootstraps: Vec<(u16, Vec<u16>)>,
    /// Digests of spellings, by number.
    spelt: RefCell<Vec<Option<[u8; 16]>>>,
}

impl<'c> Constants<'c> {
    pub fn new(class: &'c Class<'c>) -> Result<Constants<'c>, Doubt> {
        let pool = class.pool();
        let mut bootstraps = Vec::new();
        if let Some(table) = class.attributes().find_attribute::<BootstrapMethods<'_>>(pool)? {
            for method in table.methods() {
                let method = method?;
                let arguments: Result<Vec<u16>, Doubt> =
                    method.arguments().iter().map(|argument| Ok(argument?.as_u16())).collect();
                bootstraps.push((method.method_ref().as_u16(), arguments?));
            }
        }
        Ok(Constants { pool, bootstraps, spelt: RefCell::default() })
    }

    pub fn item(&self, index: u16) -> Result<&'c Item<'c>, Doubt> {
        Ok(self.pool.get(Index::<Item<'_>>::new(index)?)?)
    }

    pub fn utf8(&self, index: u16) -> Result<&'c [u8], Doubt> {
        let utf8: &Utf8<'_> = self.pool.get(Index::new(index)?)?;
        Ok(utf8.content.as_bytes())
    }

    pub fn text(&self, index: u16) -> Result<String, Doubt> {
        Ok(String::from_utf8_lossy(self.utf8(index)?).into_owned())
    }

    /// `p.C` for a class constant; the element's name for an array's; empty for arrays of primitives.
    pub fn class_name(&self, index: u16) -> Result<String, Doubt> {
        match self.item(index)? {
            Item::Class(class) => Ok(class_of(&String::from_utf8_lossy(self.utf8(class.name.as_u16())?))),
            _ => doubt("a constant that should be a class is not"),
        }
    }

    pub fn items(&self) -> impl Iterator<Item = (u16, &'c Item<'c>)> + use<'c> {
        self.pool.iter_indices().map(|(index, item)| (index.as_u16(), item))
    }

    fn member(&self, index: u16) -> Result<(u16, &NameAndType<'c>), Doubt> {
        let (class, name_and_type) = match self.item(index)? {
            Item::FieldRef(field) => (field.class, field.name_and_type),
            Item::MethodRef(method) => (method.class, method.name_and_type),
            Item::InterfaceMethodRef(method) => (method.class, method.name_and_type),
            _ => return doubt("a constant that should be a field or a method is not"),
        };
        Ok((class.as_u16(), self.pool.get(name_and_type)?))
    }

    /// The class constant of a field or a method.
    pub fn owner(&self, index: u16) -> Result<u16, Doubt> {
        Ok(self.member(index)?.0)
    }

    /// The text constant that names a field or a method.
    pub fn member_name(&self, index: u16) -> Result<u16, Doubt> {
        Ok(self.member(index)?.1.name.as_u16())
    }

    pub fn member_descriptor(&self, index: u16) -> Result<String, Doubt> {
        self.text(self.member(index)?.1.descriptor.as_u16())
    }

    /// Bootstrap method and arguments of a dynamic call.
    pub fn bootstrap(&self, index: u16) -> Result<(u16, &[u16]), Doubt> {
        let number = match self.item(index)? {
            Item::InvokeDynamic(call) => call.bootstrap_method_attr,
            Item::Dynamic(constant) => constant.bootstrap_method_attr,
            _ => return doubt("a constant that should be a dynamic call is not"),
        };
        match self.bootstraps.get(number as usize) {
            Some((method, arguments)) => Ok((*method, arguments)),
            None => doubt("a dynamic call has no bootstrap method"),
        }
    }

    /// The text constant that is the descriptor of a dynamic call or constant.
    pub fn dynamic_descriptor(&self, index: u16) -> Result<u16, Doubt> {
        let name_and_type = match self.item(index)? {
            Item::InvokeDynamic(call) => call.name_and_type,
            Item::Dynamic(constant) => constant.name_and_type,
            _ => return doubt("a constant that should be a dynamic call is not"),
        };
        Ok(self.pool.get(name_and_type)?.descriptor.as_u16())
    }

    /// Writes the digest of what a constant says; most constants are used often.
    pub fn spell(&self, index: u16, out: &mut Vec<u8>) -> Result<(), Doubt> {
        let known = self.spelt.borrow().get(index as usize).copied().flatten();
        let digest = match known {
            Some(digest) => digest,
            None => {
                let mut spelling = Vec::new();
                self.spell_deep(index, &mut spelling, 0)?;
                let digest = Digest::of(SPELLING, &spelling).to_bytes();
                let mut spelt = self.spelt.borrow_mut();
                if spelt.len() <= index as usize {
                    spelt.resize(index as usize + 1, None);
                }
                spelt[index as usize] = Some(digest);
                digest
            }
        };
        out.extend_from_slice(&digest);
        Ok(())
    }

    fn spell_deep(&self, index: u16, out: &mut Vec<u8>, depth: usize) -> Result<(), Doubt> {
        if depth > DEEPEST || out.len() > LONGEST {
            return doubt("its constants refer to each other without end");
        }
        let spell = |index: u16, out: &mut Vec<u8>| self.spell_deep(index, out, depth + 1);
        match self.item(index)? {
            Item::Class(class) => spell_part(b'c', self.utf8(class.name.as_u16())?, out),
            Item::String(string) => spell_part(b's', self.utf8(string.string.as_u16())?, out),
            Item::Utf8(utf8) => spell_part(b'u', utf8.content.as_bytes(), out),
            Item::MethodType(kind) => spell_part(b't', self.utf8(kind.descriptor.as_u16())?, out),
            Item::Module(module) => spell_part(b'm', self.utf8(module.name.as_u16())?, out),
            Item::Package(package) => spell_part(b'p', self.utf8(package.name.as_u16())?, out),
            Item::Integer(number) => spell_part(b'i', &number.value.to_be_bytes(), out),
            Item::Long(number) => spell_part(b'l', &number.value.to_be_bytes(), out),
            Item::Float(number) => spell_part(b'f', &number.value.to_bits().to_be_bytes(), out),
            Item::Double(number) => spell_part(b'd', &number.value.to_bits().to_be_bytes(), out),
            Item::NameAndType(pair) => {
                spell_part(b'n', self.utf8(pair.name.as_u16())?, out);
                spell_part(b't', self.utf8(pair.descriptor.as_u16())?, out);
            }
            Item::FieldRef(field) => {
                out.push(b'F');
                spell(field.class.as_u16(), out)?;
                spell(field.name_and_type.as_u16(), out)?;
            }
            Item::MethodRef(method) => {
                out.push(b'M');
                spell(method.class.as_u16(), out)?;
                spell(method.name_and_type.as_u16(), out)?;
            }
            Item::InterfaceMethodRef(method) => {
                out.push(b'I');
                spell(method.class.as_u16(), out)?;
                spell(method.name_and_type.as_u16(), out)?;
            }
            Item::MethodHandle(handle) => {
                out.push(b'H');
                out.extend_from_slice(format!("{:?}", handle.kind).as_bytes());
                spell(handle.reference.as_u16(), out)?;
            }
            Item::Dynamic(constant) => {
                out.push(b'D');
                spell(constant.name_and_type.as_u16(), out)?;
                self.spell_bootstrap(index, out, depth)?;
            }
            Item::InvokeDynamic(call) => {
                out.push(b'V');
                spell(call.name_and_type.as_u16(), out)?;
                self.spell_bootstrap(index, out, depth)?;
            }
        }
        Ok(())
    }

    fn spell_bootstrap(&self, index: u16, out: &mut Vec<u8>, depth: usize) -> Result<(), Doubt> {
        let (method, arguments) = self.bootstrap(index)?;
        self.spell_deep(method, out, depth + 1)?;
        for &argument in arguments {
            self.spell_deep(argument, out, depth + 1)?;
        }
        out.push(b'.');
        Ok(())
    }
}

pub(crate) fn spell_part(tag: u8, part: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&(part.len() as u32).to_be_bytes());
    out.extend_from_slice(part);
}

/// The class of a class constant: `p/C`, `[Lp/C;`, `[I`.
fn class_of(constant: &str) -> String {
    let element = constant.trim_start_matches('[');
    if element.len() == constant.len() {
        return constant.replace('/', ".");
    }
    element.strip_prefix('L').map_or_else(String::new, |name| name.trim_end_matches(';').replace('/', "."))
}

/// Every class that a descriptor or a generic signature speaks of: `(Lp/C;I)Lp/D<TT;>.E;`.
pub(crate) fn classes_in(signature: &str, found: &mut impl FnMut(String)) {
    let mut open: Vec<String> = Vec::new();
    let mut chars = signature.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        match c {
            'L' => {
                let end = name_end(signature, start + 1);
                open.push(signature[start + 1..end].replace('/', "."));
                skip_to(&mut chars, end);
            }
            '.' if !open.is_empty() => {
                let end = name_end(signature, start + 1);
                if let Some(outer) = open.last_mut() {
                    found(outer.clone());
                    outer.push('$');
                    outer.push_str(&signature[start + 1..end]);
                }
                skip_to(&mut chars, end);
            }
            ';' => {
                if let Some(name) = open.pop() {
                    found(name);
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
        classes_in(signature, &mut |name| found.push(name));
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
