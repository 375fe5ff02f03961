//! Who wrote a record: a keyed hash over all that it says, which nobody can make without the owner's key. Which parts a
//! record has is told where it is written and read; where the key comes from, in `key`.

use fewer_core::Digest;

use crate::key::OwnerKey;

/// 128 bits: nobody can try so many.
pub(crate) type Mac = [u8; 16];

/// How many bytes a [`Mac`] takes at the end of a file.
pub(crate) const MAC_BYTES: usize = size_of::<Mac>();

/// What a key vouches for.
#[derive(Clone, Debug)]
pub(crate) struct Seal {
    key: OwnerKey,
}

impl Seal {
    pub(crate) fn new(key: OwnerKey) -> Seal {
        Seal { key }
    }

    /// Begins with the kind of the record: two kinds with equal parts have different hashes.
    pub(crate) fn of(&self, kind: &str) -> Sealing {
        let mut sealing = Sealing(blake3::Hasher::new_keyed(self.key.bytes()));
        sealing.bytes(kind.as_bytes());
        sealing
    }

    /// The key of a chunk, by which alone it is found: another content has another key, and so has another owner's.
    pub(crate) fn chunk(&self, content: &[u8]) -> Digest {
        Digest::from_bytes(self.of("chunk").bytes(content).finish())
    }

    pub(crate) fn blob(&self, kind: &str, key: Digest, content: &[u8]) -> Mac {
        self.of("blob").text(kind).digest(key).bytes(content).finish()
    }

    /// Of a file beside the database; with its name, so that none can take the place of another.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> Mac {
        self.of("file").text(name).bytes(content).finish()
    }
}

/// The parts of one record so far. Every part of variable length is preceded by its length.
pub(crate) struct Sealing(blake3::Hasher);

impl Sealing {
    pub(crate) fn bytes(&mut self, part: &[u8]) -> &mut Sealing {
        self.0.update(&(part.len() as u64).to_le_bytes()).update(part);
        self
    }

    pub(crate) fn text(&mut self, part: &str) -> &mut Sealing {
        self.bytes(part.as_bytes())
    }

    /// A part that may be missing, which is not the same as empty.
    pub(crate) fn optional(&mut self, part: Option<&str>) -> &mut Sealing {
        self.number(i64::from(part.is_some())).text(part.unwrap_or_default())
    }

    pub(crate) fn number(&mut self, part: i64) -> &mut Sealing {
        self.0.update(&part.to_le_bytes());
        self
    }

    pub(crate) fn digest(&mut self, part: Digest) -> &mut Sealing {
        self.0.update(&part.to_bytes());
        self
    }

    pub(crate) fn finish(&self) -> Mac {
        let mut mac = Mac::default();
        self.0.finalize_xof().fill(&mut mac);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(text: &str) -> Seal {
        Seal::new(OwnerKey::from_text(text).expect("is long enough"))
    }

    #[test]
    fn a_mac_differs_by_key_kind_part_and_border() {
        let mine = seal("a key of mine that is long enough to be one");
        let other = seal("a key of theirs that is long enough to be one");
        let macs = [
            mine.of("run").text("ab").text("c").finish(),
            mine.of("run").text("a").text("bc").finish(),
            mine.of("state").text("ab").text("c").finish(),
            other.of("run").text("ab").text("c").finish(),
            mine.of("run").optional(None).finish(),
            mine.of("run").optional(Some("")).finish(),
        ];
        for (index, mac) in macs.iter().enumerate() {
            assert!(!macs[..index].contains(mac), "{index}");
        }
        assert_eq!(mine.file("kept/1", b"x"), mine.clone().file("kept/1", b"x"));
        assert_ne!(mine.file("kept/1", b"x"), mine.file("kept/2", b"x"));
    }
}
