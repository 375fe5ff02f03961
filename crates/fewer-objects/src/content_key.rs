//! Digests of files by what matters in them: all but the parts for debuggers. Meaning is left to the readers.

use std::ops::Range;
use std::path::Path;

use fewer_core::{Digest, DigestBuilder, Domain};
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader};

use crate::relocatable::*;
use crate::summary::SUMMARY_VERSION;

const OBJECT_FILE: Domain = Domain::new("file.object");
const IMAGE_FILE: Domain = Domain::new("file.image");

/// Raise when a key is made in another way; it changes with the summaries' version too.
pub const KEY_VERSION: u32 = 2 + SUMMARY_VERSION * 0x100;

/// Bytes between two sections that may be padding.
const LARGEST_PADDING: usize = 64;
/// The most that is written of a section's entry in the table.
const ENTRY: usize = 56;
/// In place of where the bytes of a section lie, if it has none.
const NOWHERE: u64 = u64::MAX;
/// What the header tells of the kind of file and machine.
const IDENTIFICATION: usize = 20;

type Header = elf::FileHeader64<LE>;
type SectionEntry = elf::SectionHeader64<LE>;

/// The key of an object's summary: all of the file but the parts for debuggers, and where they lie.
pub fn object_key(bytes: &[u8]) -> Digest {
    let mut key = DigestBuilder::new(OBJECT_FILE);
    key.number(KEY_VERSION as u64);
    key.digest(digest_of_sections(OBJECT_FILE, bytes).unwrap_or_else(|| Digest::of(OBJECT_FILE, bytes)));
    key.finish()
}

/// All of a linked file that can matter when it runs.
pub fn image_content(bytes: &[u8]) -> Digest {
    digest_of_sections(IMAGE_FILE, bytes).unwrap_or_else(|| Digest::of(IMAGE_FILE, bytes))
}

/// The same of one that is too large to look into.
pub fn content_of_unread(path: &Path) -> Digest {
    fewer_files::digest_of_anything(IMAGE_FILE, path).unwrap_or_default()
}

struct Tables<'d> {
    entries: &'d [SectionEntry],
    /// Names of sections.
    names: &'d [u8],
}

fn tables(bytes: &[u8]) -> Option<Tables<'_>> {
    let header = Header::parse(bytes).ok()?;
    header.endian().ok()?;
    let entries = header.section_headers(LE, bytes).ok()?;
    let names = entries.get(header.shstrndx(LE, bytes).ok()? as usize)?.data(LE, bytes).ok()?;
    Some(Tables { entries, names })
}

fn is_for_debuggers(tables: &Tables<'_>, section: &SectionEntry) -> bool {
    let is_debug = |section: &SectionEntry| {
        let name = tables.names.get(section.sh_name.get(LE) as usize..).unwrap_or(b"");
        section.sh_flags(LE).0 & SHF_ALLOC == 0 && name.starts_with(b".debug_")
    };
    match section.sh_type(LE).0 {
        SHT_RELA | SHT_REL => tables.entries.get(section.sh_info(LE) as usize).is_some_and(is_debug),
        _ => is_debug(section),
    }
}

/// Sections that lie one after the other are hashed as one. Every entry of the table counts with its place
/// among the bytes hashed; where those lie in the file does not. `None` if a section is not within the file.
fn digest_of_sections(domain: Domain, bytes: &[u8]) -> Option<Digest> {
    let tables = &tables(bytes)?;
    let mut entries: Vec<u8> = Vec::with_capacity(tables.entries.len() * ENTRY);
    // Compilers write relocations, which lie behind all else, in turn with what they apply to.
    let mut runs = [Run::default(), Run::default()];
    let mut digest = DigestBuilder::new(domain);
    digest.bytes(bytes.get(..IDENTIFICATION)?);
    for section in tables.entries {
        let kind = section.sh_type(LE).0;
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let name_and_kind = pair(section.sh_name.get(LE), kind);
        if is_for_debuggers(tables, section) {
            entries.extend_from_slice(&name_and_kind.to_le_bytes());
            continue;
        }
        let place = match section.file_range(LE) {
            None => NOWHERE,
            Some((offset, size)) => {
                let range = usize::try_from(offset).ok()?..usize::try_from(offset.checked_add(size)?).ok()?;
                let is_relocation = matches!(kind, SHT_RELA | SHT_REL);
                runs[is_relocation as usize].add(range, domain, bytes, &mut digest)? as u64
            }
        };
        let entry = [
            name_and_kind,
            section.sh_flags(LE).0,
            section.sh_addr(LE),
            section.sh_size(LE),
            section.sh_entsize(LE),
            pair(section.sh_link(LE), section.sh_info(LE)),
            place,
        ];
        entries.extend_from_slice(entry.map(u64::to_le_bytes).as_flattened());
    }
    for run in &mut runs {
        run.finish(domain, bytes, &mut digest)?;
    }
    digest.digest(Digest::of(domain, &entries));
    Some(digest.finish())
}

/// Neighbouring bytes of a file.
#[derive(Default)]
struct Run {
    range: Range<usize>,
    /// How many bytes earlier runs held.
    before: usize,
}

impl Run {
    /// Adds a section; gives its place among all bytes added.
    fn add(
        &mut self,
        section: Range<usize>,
        domain: Domain,
        bytes: &[u8],
        digest: &mut DigestBuilder,
    ) -> Option<usize> {
        let follows = section.start >= self.range.end && section.start - self.range.end < LARGEST_PADDING;
        if self.range.is_empty() || !follows {
            self.finish(domain, bytes, digest)?;
            self.range = section.clone();
        } else {
            self.range.end = section.end;
        }
        Some(self.before + (section.start - self.range.start))
    }

    fn finish(&mut self, domain: Domain, bytes: &[u8], digest: &mut DigestBuilder) -> Option<()> {
        let run = bytes.get(self.range.clone())?;
        digest.number(run.len() as u64).digest(Digest::of(domain, run));
        self.before += run.len();
        self.range = self.range.end..self.range.end;
        Some(())
    }
}
