//! What one Java source file says, by itself: its types with their token hashes, and the names it uses as
//! written. A pure function of the bytes, so that it can be cached under the blob's id; what a name means is
//! decided later, with all other files at hand.

use fewer_core::Digest;
use serde::{Deserialize, Serialize};

use crate::summary::{ClassTraits, LoadedKind, MemberTraits, TextId, TextList, decode, encode};

/// Raise when the reader gives other facts for the same bytes: cached ones are then read anew.
pub const SOURCE_FACTS_VERSION: u32 = 3;

/// `import [static] name[.*];`
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Import {
    pub name: String,
    pub is_static: bool,
    pub is_wildcard: bool,
}

/// The names that a piece of code uses, as written. Sorted, without repetitions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Mentions {
    /// Dotted names where a type must stand.
    pub types: Vec<TextId>,
    /// Dotted names where an expression stands: variables, fields, types, or a mixture (`p.C.FIELD.x`).
    pub expressions: Vec<TextId>,
    /// `m` of `m()`, `this.m`, `super.m()`.
    pub own: Vec<TextId>,
    /// `m` of `expression.m()`, `expression.m`, `expression::m`.
    pub any: Vec<TextId>,
    /// `X` and `m` of `X.m()`, `X::m`, where X is a dotted name.
    pub on: Vec<(TextId, TextId)>,
    /// `X` of `new X()`, `X::new`, `X.class`.
    pub created: Vec<TextId>,
    /// String literals that may name a class, a package or a resource.
    pub strings: Vec<TextId>,
    pub loads: Vec<Load>,
}

/// A call that loads something by a name that is no literal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Load {
    pub kind: LoadedKind,
    pub call: TextId,
    pub argument: Argument,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Argument {
    /// `"p." + ...`
    Prefix(TextId),
    /// A dotted name that may be a constant.
    Name(TextId),
    Computed,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemberFacts {
    pub name: TextId,
    pub key: TextId,
    pub content: Digest,
    pub traits: MemberTraits,
    /// Names of annotations, as written.
    pub annotations: Vec<TextId>,
    pub mentions: Mentions,
}

/// A type declared at the top level or as a member; local and anonymous classes are part of their member.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TypeFacts {
    /// Simple name; empty where the file's name gives it (compact source files, files that cannot be parsed).
    pub name: String,
    pub parent: Option<u32>,
    pub traits: ClassTraits,
    /// Tokens of the declaration without its body.
    pub header: Digest,
    pub header_mentions: Mentions,
    pub supers: Vec<TextId>,
    pub annotations: Vec<TextId>,
    pub members: Vec<MemberFacts>,
    /// `provides S with P` of a module declaration.
    pub provides: Vec<(TextId, TextId)>,
}

/// Everything about one file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SourceFacts {
    pub texts: TextList,
    pub package: String,
    pub imports: Vec<Import>,
    pub types: Vec<TypeFacts>,
    /// Names with a capital that it gives to type parameters, variables and local classes: they mean nothing of
    /// another file. Sorted, without repetitions.
    pub given: Vec<TextId>,
    /// The file could not be parsed: why, in words.
    pub broken: Option<String>,
}

impl SourceFacts {
    pub fn text(&self, id: TextId) -> &str {
        self.texts.get(id)
    }

    pub fn encode(&self) -> Vec<u8> {
        encode(SOURCE_FACTS_VERSION, self)
    }

    /// `None` for another version's or damaged bytes: read the source again then.
    pub fn decode(bytes: &[u8]) -> Option<SourceFacts> {
        let facts: SourceFacts = decode(SOURCE_FACTS_VERSION, bytes)?;
        let parents_come_first = facts
            .types
            .iter()
            .enumerate()
            .all(|(index, declared)| declared.parent.is_none_or(|parent| (parent as usize) < index));
        parents_come_first.then_some(facts)
    }
}
