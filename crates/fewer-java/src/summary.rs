//! What fewer keeps of one class, whichever reader it came from: its content, the names it refers to and its
//! members. Names are binary names (`p.C$N`); whether they exist in the project is decided when the graph is
//! made. The stored form is versioned.

use fewer_core::Digest;
use serde::{Deserialize, Serialize};

pub(crate) use crate::texts::Texts;
pub use crate::texts::{TextId, TextList};

/// Raise when the class reader gives other summaries for the same bytes: cached ones are then read anew.
pub const CLASS_SUMMARY_VERSION: u32 = 3;

/// What a class is, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ClassTraits(pub u16);

impl ClassTraits {
    pub const ABSTRACT: ClassTraits = ClassTraits(1);
    pub const INTERFACE: ClassTraits = ClassTraits(2);
    pub const ANNOTATION: ClassTraits = ClassTraits(4);
    pub const ENUM: ClassTraits = ClassTraits(8);
    /// `package-info`: every class of the package depends on it.
    pub const PACKAGE_INFO: ClassTraits = ClassTraits(16);
    /// `module-info`: every test of the module depends on it.
    pub const MODULE_INFO: ClassTraits = ClassTraits(32);
    /// The bytes could not be read: content is the whole file, names are guesses.
    pub const OPAQUE: ClassTraits = ClassTraits(64);
    /// Inner (not static) class, as JUnit's `@Nested` needs it.
    pub const INNER: ClassTraits = ClassTraits(128);

    pub fn has(self, other: ClassTraits) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub fn with(self, other: ClassTraits) -> ClassTraits {
        ClassTraits(self.0 | other.0)
    }

    #[must_use]
    pub fn when(self, condition: bool, other: ClassTraits) -> ClassTraits {
        if condition { self.with(other) } else { self }
    }
}

/// What a member is, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemberTraits(pub u16);

impl MemberTraits {
    pub const STATIC: MemberTraits = MemberTraits(1);
    pub const PRIVATE: MemberTraits = MemberTraits(2);
    pub const ABSTRACT: MemberTraits = MemberTraits(4);
    pub const METHOD: MemberTraits = MemberTraits(8);
    pub const FIELD: MemberTraits = MemberTraits(16);
    pub const CONSTRUCTOR: MemberTraits = MemberTraits(32);
    /// Runs when the class is initialised or an object is made, whoever asked for it: initialiser blocks, enum
    /// constants, fields whose initialiser can do anything but give a literal.
    pub const INITIALISER: MemberTraits = MemberTraits(64);
    /// A `static final String` with a literal value.
    pub const STRING_CONSTANT: MemberTraits = MemberTraits(128);
    pub const PUBLIC: MemberTraits = MemberTraits(256);
    pub const NO_PARAMETERS: MemberTraits = MemberTraits(512);
    /// Declares a class of its own (local or anonymous), folded into this member.
    pub const HAS_BODY_CLASS: MemberTraits = MemberTraits(1024);

    pub fn has(self, other: MemberTraits) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub fn with(self, other: MemberTraits) -> MemberTraits {
        MemberTraits(self.0 | other.0)
    }

    #[must_use]
    pub fn when(self, condition: bool, other: MemberTraits) -> MemberTraits {
        if condition { self.with(other) } else { self }
    }
}

/// What is loaded by name at run time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum LoadedKind {
    Class,
    Resource,
    /// Fields and methods, by reflection.
    Member,
}

/// A call that loads a class or a resource whose name the reader does not see as a whole.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Unknown {
    pub kind: LoadedKind,
    /// `forName`, `loadClass`, `getResource`...
    pub call: String,
    pub name: LoadedName,
}

/// What is known of the name of something loaded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum LoadedName {
    /// It begins with this literal.
    Prefix(String),
    /// A field of one of these classes, or of what they inherit from: known if it is a string constant.
    Field {
        owners: Vec<String>,
        field: String,
    },
    Computed,
}

/// A use of a member, for the member level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Use {
    /// `X.m`: a member of X, of what X inherits from or of what inherits from X.
    On { owner: TextId, name: TextId },
    /// `m` without a receiver: a member of the class itself, of an enclosing class or of their families.
    Own { name: TextId },
    /// `expression.m`: any member of that name.
    Any { name: TextId },
}

/// A method, field, constructor or initialiser.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemberSummary {
    pub name: TextId,
    /// Tells overloads apart: `name(int,String)`, `#field`, `<init>(int)`, `<clinit>`.
    pub key: TextId,
    pub content: Digest,
    pub traits: MemberTraits,
    pub annotations: List,
    /// Classes it names in any way.
    pub references: List,
    /// Classes of which it makes objects, or that it hands to reflection.
    pub creates: List,
    pub uses: List,
    pub strings: List,
    pub unknowns: Vec<Unknown>,
}

/// Where a list of a member starts and ends among the lists of its class: members are many, and most lists short.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct List {
    start: u32,
    end: u32,
}

/// The lists of all members of a class, one behind the other.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemberLists {
    ids: Vec<TextId>,
    uses: Vec<Use>,
}

impl MemberLists {
    pub fn add(&mut self, ids: impl IntoIterator<Item = TextId>) -> List {
        let start = self.ids.len() as u32;
        self.ids.extend(ids);
        List { start, end: self.ids.len() as u32 }
    }

    pub fn add_uses(&mut self, uses: &[Use]) -> List {
        let start = self.uses.len() as u32;
        self.uses.extend_from_slice(uses);
        List { start, end: self.uses.len() as u32 }
    }

    /// Empty where there is none: places may come from a damaged store.
    pub fn ids(&self, list: List) -> &[TextId] {
        self.ids.get(list.start as usize..list.end as usize).unwrap_or_default()
    }

    pub fn uses(&self, list: List) -> &[Use] {
        self.uses.get(list.start as usize..list.end as usize).unwrap_or_default()
    }

    pub fn clear(&mut self) {
        self.ids.clear();
        self.uses.clear();
    }
}

/// One class: a node of the class graph.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ClassSummary {
    /// Binary name, `p.C$N`.
    pub name: String,
    pub texts: TextList,
    pub content: Digest,
    pub traits: ClassTraits,
    /// The class it is declared in.
    pub outer: Option<TextId>,
    pub supers: Vec<TextId>,
    /// Every class it names, members included; each once.
    pub references: Vec<TextId>,
    /// String constants that may name a class, a package or a resource.
    pub strings: Vec<TextId>,
    pub annotations: Vec<TextId>,
    /// `provides S with P` of a module.
    pub provides: Vec<(TextId, TextId)>,
    pub unknowns: Vec<Unknown>,
    /// Classes that it uses and no file declares, by their full names: imported, or of its own package if they are
    /// not of a library. In source only.
    pub undeclared: Vec<TextId>,
    /// Such names that a library may have too, as its classes are imported by a wildcard.
    pub doubtful: Vec<TextId>,
    /// What the declaration itself (not its members) says and names.
    pub header: Digest,
    pub header_references: Vec<TextId>,
    pub members: Vec<MemberSummary>,
    pub member_lists: MemberLists,
    /// What could not be read, in words.
    pub notes: Vec<String>,
}

impl ClassSummary {
    pub fn text(&self, id: TextId) -> &str {
        self.texts.get(id)
    }

    pub fn texts_of<'a>(&'a self, ids: &'a [TextId]) -> impl Iterator<Item = &'a str> {
        ids.iter().map(|&id| self.text(id))
    }

    /// The texts of a member's list.
    pub fn texts_in(&self, list: List) -> impl Iterator<Item = &str> {
        self.texts_of(self.member_lists.ids(list))
    }

    pub fn encode(&self) -> Vec<u8> {
        encode(CLASS_SUMMARY_VERSION, self)
    }

    /// `None` for another version's or damaged bytes: read the class again then.
    pub fn decode(bytes: &[u8]) -> Option<ClassSummary> {
        decode(CLASS_SUMMARY_VERSION, bytes)
    }
}

/// The package of a binary name; empty for the unnamed package.
pub fn package_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(package, _)| package)
}

/// The outermost class of a binary name: `p.C` of `p.C$N`.
pub fn top_level_of(name: &str) -> &str {
    let start = name.rfind('.').map_or(0, |dot| dot + 1);
    // A name may begin with a dollar sign.
    match name.get(start + 1..).and_then(|rest| rest.find('$')) {
        Some(dollar) => &name[..start + 1 + dollar],
        None => name,
    }
}

pub(crate) fn encode<T: Serialize>(version: u32, value: &T) -> Vec<u8> {
    let bytes = version.to_le_bytes().to_vec();
    postcard::to_extend(value, bytes).expect("plain data is encoded into memory")
}

pub(crate) fn decode<T: for<'de> Deserialize<'de>>(version: u32, bytes: &[u8]) -> Option<T> {
    let (head, body) = bytes.split_at_checked(4)?;
    if head != version.to_le_bytes() {
        return None;
    }
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Some(value),
        Ok(_) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_name_tells_its_package_and_its_top_level_class() {
        for (name, package, top) in [
            ("p.q.C$N$M", "p.q", "p.q.C"),
            ("C", "", "C"),
            ("p.$C$N", "p", "p.$C"),
            ("$", "", "$"),
            ("", "", ""),
        ] {
            assert_eq!((package_of(name), top_level_of(name)), (package, top), "{name}");
        }
    }

    #[test]
    fn a_summary_round_trips_and_another_version_is_not_read() {
        let summary =
            ClassSummary { name: "p.C".into(), texts: ["p.D"].into_iter().collect(), ..Default::default() };
        let encoded = summary.encode();
        assert_eq!(ClassSummary::decode(&encoded), Some(summary));
        assert_eq!(ClassSummary::decode(&encoded[..encoded.len() - 1]), None);
        let mut newer = encoded;
        newer[0] += 1;
        assert_eq!(ClassSummary::decode(&newer), None);
    }
}
