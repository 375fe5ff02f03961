//! The names of git objects: 20 bytes, or 32 in a SHA-256 repository. What they name is read elsewhere.

use std::fmt;
use std::str::FromStr;

/// The hash of any git object.
///
/// Example: `4b825dc642cb6eb9a060e54bf8d69288fbee4904` is the empty tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectHash {
    /// Zeros behind the first `width`.
    bytes: [u8; 32],
    width: u8,
}

/// The hash of a commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitHash(pub ObjectHash);

/// How a repository hashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectFormat {
    Sha1,
    Sha256,
}

/// A text that is no object's full hash.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a full object hash; give all 40 (or, with SHA-256, 64) hexadecimal digits")]
pub struct NotAHash(String);

impl ObjectHash {
    /// From the full number of hexadecimal digits.
    pub fn parse(digits: &[u8]) -> Option<ObjectHash> {
        let mut hash = ObjectHash { bytes: [0; 32], width: u8::try_from(digits.len() / 2).ok()? };
        if !matches!(digits.len(), 40 | 64) || !decode(digits, &mut hash.bytes) {
            return None;
        }
        Some(hash)
    }

    /// From 20 or 32 bytes.
    pub fn from_bytes(raw: &[u8]) -> Option<ObjectHash> {
        let mut bytes = [0; 32];
        if !matches!(raw.len(), 20 | 32) {
            return None;
        }
        bytes[..raw.len()].copy_from_slice(raw);
        Some(ObjectHash { bytes, width: raw.len() as u8 })
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.width)]
    }

    /// What git writes where there is no object.
    pub(crate) fn is_null(&self) -> bool {
        self.bytes == [0; 32]
    }
}

impl CommitHash {
    pub fn parse(digits: &[u8]) -> Option<CommitHash> {
        ObjectHash::parse(digits).map(CommitHash)
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl ObjectFormat {
    /// Bytes of a hash.
    pub fn width(self) -> usize {
        match self {
            ObjectFormat::Sha1 => 20,
            ObjectFormat::Sha256 => 32,
        }
    }

    /// The tree without entries; git knows it even where it is not stored.
    pub(crate) fn empty_tree(self) -> ObjectHash {
        let digits: &[u8] = match self {
            ObjectFormat::Sha1 => b"4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            ObjectFormat::Sha256 => b"6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        };
        ObjectHash::parse(digits).expect("a full hash")
    }
}

impl FromStr for CommitHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<CommitHash, NotAHash> {
        CommitHash::parse(text.as_bytes()).ok_or_else(|| NotAHash(text.to_string()))
    }
}

impl fmt::Display for ObjectHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for CommitHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl fmt::Debug for CommitHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// Writes half as many bytes as there are digits; `false` if one of them is none.
pub(crate) fn decode(digits: &[u8], bytes: &mut [u8]) -> bool {
    let mut seen = 0;
    for (pair, byte) in digits.chunks_exact(2).zip(bytes) {
        let (high, low) = (DIGITS[usize::from(pair[0])], DIGITS[usize::from(pair[1])]);
        seen |= high | low;
        *byte = high << 4 | low;
    }
    seen & NO_DIGIT == 0
}

const NO_DIGIT: u8 = 0x80;

/// The value of each byte as a hexadecimal digit.
const DIGITS: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value] as usize] = value as u8;
        values[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_shown_as_it_was_read() {
        for text in ["0123456789abcdef0123456789abcdef01234567".to_string(), "0123456789abcdef".repeat(4)] {
            let hash: CommitHash = text.parse().unwrap();
            assert_eq!(hash.to_string(), text);
            assert_eq!(ObjectHash::from_bytes(hash.as_bytes()), Some(hash.0));
        }
    }

    #[test]
    fn what_is_no_full_hash_is_refused() {
        for text in ["", "0123456", "0123456789abcdef0123456789abcdef0123456g", &"0".repeat(41)] {
            assert!(text.parse::<CommitHash>().is_err(), "{text}");
        }
    }
}
