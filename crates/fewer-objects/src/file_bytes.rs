//! The bytes of files that a build may rewrite at any moment. They are read, not mapped: a file that is cut while it is
//! mapped ends the process. Of a large file only what the readers look at is held; of very large constants the digest.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::{Deref, Range};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use fewer_core::{Digest, DigestStream, Domain};
use memmap2::{Advice, MmapMut, MmapOptions};
use object::read::ReadCache;
use object::read::archive::ArchiveFile;

use crate::bitcode::is_bitcode;
use crate::relocatable::*;

const PART: Domain = Domain::new("file.part");

/// A file up to here is held as a whole: to skip parts of it saves less than it costs.
const SMALL: u64 = 4 << 20;

/// The most that is held of one file.
const LARGEST: u64 = 192 << 20;

/// Constants of an object beyond this are not held, as nobody looks into them; those of a linked file only where memory
/// demands it, as code that no object explains may refer to them.
const LARGE_IN_OBJECT: u64 = 16 << 20;
const LARGE_IN_IMAGE: u64 = 64 << 20;

/// What lies between two parts that are held is held too, if it is less than this.
const GAP: u64 = 64 << 10;

/// How much is held of a part whose digest is wanted.
const PIECE: usize = 256 << 10;

/// How often a file is read that is changed while it is read.
const TRIES: usize = 3;

/// In a section's entry, in place of what it says of its kind: the section begins with the digest of what it holds, and
/// nothing else of it is there. A number of an operating system that there is not.
pub const SHT_DIGEST: u32 = 0x6f65_7772;

/// All bytes of a file, but for parts that no reader looks at: they are zero, or begin with the digest of what they hold.
#[derive(Debug)]
pub struct FileBytes(Bytes);

#[derive(Debug)]
enum Bytes {
    Small(Vec<u8>),
    /// Memory of the file's size, of which only what was read is in use.
    Large(MmapMut),
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Small(bytes) => bytes,
            Bytes::Large(bytes) => bytes,
        }
    }
}

/// The bytes of an object, an archive, a program or a library.
pub fn read_file(path: &Path) -> io::Result<FileBytes> {
    read_part(path, None)
}

/// Those of a part of a file; all of it if no part is given.
pub fn read_part(path: &Path, part: Option<&Range<usize>>) -> io::Result<FileBytes> {
    for _ in 0..TRIES {
        let file = fewer_files::open(path)?;
        let before = file.metadata()?;
        let whole = 0..before.len();
        let part = part.map_or(whole.clone(), |part| part.start as u64..part.end as u64);
        if part.start > part.end || part.end > whole.end {
            break;
        }
        match read_range(&file, part) {
            Ok(bytes) if is_same(&before, &file.metadata()?) => return Ok(bytes),
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(error),
            // It was cut, or written.
            Ok(_) | Err(_) => {}
        }
    }
    Err(io::Error::other("it is changed while it is read"))
}

fn is_same(before: &Metadata, after: &Metadata) -> bool {
    let status =
        |file: &Metadata| (file.len(), file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec());
    status(before) == status(after)
}

fn read_range(file: &File, range: Range<u64>) -> io::Result<FileBytes> {
    let size = range.end - range.start;
    if size <= SMALL {
        let mut bytes = Vec::with_capacity(size as usize);
        let mut file = file;
        file.seek(SeekFrom::Start(range.start))?;
        file.take(size).read_to_end(&mut bytes)?;
        let is_whole = bytes.len() as u64 == size;
        return if is_whole {
            Ok(FileBytes(Bytes::Small(bytes)))
        } else {
            Err(ErrorKind::UnexpectedEof.into())
        };
    }
    let mut large = Large::reserved(file, range)?;
    large.plan()?;
    large.read()?;
    Ok(FileBytes(Bytes::Large(large.bytes)))
}

/// A large file, or a part of one, that is being read.
struct Large<'f> {
    file: &'f File,
    /// Where it begins in the file.
    start: u64,
    bytes: MmapMut,
    /// What is looked at.
    held: Vec<Range<u64>>,
    /// What is not, and tells nothing.
    skipped: Vec<Range<u64>>,
    /// Where the entries of sections lie of which only the digest is held.
    digested: Vec<u64>,
}

/// What a section's entry tells, and where it lies.
struct Entry {
    at: u64,
    kind: u32,
    flags: u64,
    range: Range<u64>,
    info: u32,
    is_debug: bool,
}

/// Of an entry in the table of sections.
const ENTRY: u64 = 64;
/// A table of more is damage.
const MOST_SECTIONS: u64 = 1 << 20;

impl<'f> Large<'f> {
    fn reserved(file: &'f File, range: Range<u64>) -> io::Result<Large<'f>> {
        let size = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
        let bytes = MmapOptions::new().len(size).no_reserve_swap().map_anon()?;
        // Of large pages those would be in use of which a single byte is.
        let _ = bytes.advise(Advice::NoHugePage);
        let (held, skipped, digested) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Large { file, start: range.start, bytes, held, skipped, digested })
    }

    fn plan(&mut self) -> io::Result<()> {
        let mut head = [0; 64];
        self.file.read_exact_at(&mut head, self.start)?;
        let whole = 0..self.bytes.len() as u64;
        if head.starts_with(b"!<arch>\n") {
            self.plan_archive();
        } else if peek(&head).is_none() || self.plan_elf(&head, whole.clone()).is_none() {
            self.held.push(whole);
        }
        Ok(())
    }

    /// Of an archive all but what no reader looks at in its members.
    fn plan_archive(&mut self) {
        let members = self.members();
        let mut end = 0;
        for member in members {
            self.held.push(end..member.start.max(end));
            end = member.end.max(end);
            let mut head = [0; 64];
            let length = (member.end - member.start).min(64) as usize;
            let is_read = self.file.read_exact_at(&mut head[..length], self.start + member.start).is_ok();
            if !is_read || is_bitcode(&head) || head.starts_with(b"\x7fELF") && peek(&head).is_none() {
                self.held.push(member);
            } else if peek(&head).is_none() {
                // It is no object. Example: Rust's metadata.
                self.skipped.push(member);
            } else if member.end - member.start <= SMALL || self.plan_elf(&head, member.clone()).is_none() {
                self.held.push(member);
            }
        }
        self.held.push(end..self.bytes.len() as u64);
    }

    /// Where the members of an archive lie, as far as it can be understood.
    fn members(&self) -> Vec<Range<u64>> {
        let part = Part { file: self.file, start: self.start, length: self.bytes.len() as u64, at: 0 };
        let cache = ReadCache::new(part);
        let Ok(archive) = ArchiveFile::parse(&cache) else { return Vec::new() };
        let members = archive.members().map_while(Result::ok).filter(|member| !member.is_thin());
        let ranges = members.map(|member| member.file_range());
        let end = |(start, size): (u64, u64)| Some(start..start.checked_add(size)?);
        ranges.filter_map(end).filter(|range| range.end <= self.bytes.len() as u64).collect()
    }

    /// `None` if the tables cannot be understood.
    fn plan_elf(&mut self, head: &[u8; 64], within: Range<u64>) -> Option<()> {
        let entries = self.entries(head, &within)?;
        let is_image = peek(head) == Some(FileKind::Image);
        let large = if is_image { LARGE_IN_IMAGE } else { LARGE_IN_OBJECT };
        for entry in &entries {
            let target = matches!(entry.kind, SHT_RELA | SHT_REL).then(|| entries.get(entry.info as usize));
            let is_of_debug = target.flatten().is_some_and(|target| target.is_debug);
            if entry.is_debug || is_of_debug {
                self.skipped.push(entry.range.clone());
            } else if entry.is_constant() && entry.range.end - entry.range.start > large {
                self.digested.push(entry.at);
            } else {
                self.held.push(entry.range.clone());
            }
        }
        self.held.push(within.start..within.start + head.len() as u64);
        self.held.push(entries.first()?.at..entries.last()?.at + ENTRY);
        Some(())
    }

    /// The table of sections, which is read for that, with their names.
    fn entries(&mut self, head: &[u8; 64], within: &Range<u64>) -> Option<Vec<Entry>> {
        let short = |at: usize| u64::from(u16::from_le_bytes([head[at], head[at + 1]]));
        let table = within.start.checked_add(word(head, 40)?)?;
        let first = table..table.checked_add(ENTRY).filter(|end| *end <= within.end)?;
        self.fill(&first).ok()?;
        let first = self.part(&first);
        let count = if short(60) == 0 { word(first, 32)? } else { short(60) };
        let names = if short(62) == 0xffff { u64::from(half(first, 40)?) } else { short(62) };
        let end = table.checked_add(count.checked_mul(ENTRY)?)?;
        if short(58) != ENTRY || count == 0 || names >= count || count > MOST_SECTIONS || end > within.end {
            return None;
        }
        self.fill(&(table..end)).ok()?;
        let names = table + names * ENTRY;
        let names = Entry::read(names, self.part(&(names..names + ENTRY)), b"", within)?.range;
        if names.end - names.start > LARGEST {
            return None;
        }
        self.fill(&names).ok()?;
        let entry = |at| Entry::read(at, self.part(&(at..at + ENTRY)), self.part(&names), within);
        (table..end).step_by(ENTRY as usize).map(entry).collect()
    }

    /// Reads what is held, and puts digests in place of what is neither held nor skipped.
    fn read(&mut self) -> io::Result<()> {
        let held = joined(std::mem::take(&mut self.held), GAP);
        let size: u64 = held.iter().map(|range| range.end - range.start).sum();
        if size > LARGEST {
            let problem =
                format!("{} MB of it would have to be held, which is more than is read", size >> 20);
            return Err(io::Error::new(ErrorKind::FileTooLarge, problem));
        }
        held.iter().try_for_each(|range| self.fill(range))?;
        let known = joined(held.into_iter().chain(std::mem::take(&mut self.skipped)).collect(), 0);
        let (mut end, whole) = (0, self.bytes.len() as u64);
        for range in known.into_iter().chain(std::iter::once(whole..whole)) {
            self.digest(end..range.start)?;
            end = end.max(range.end);
        }
        for at in &self.digested {
            let kind = *at as usize + 4;
            self.bytes[kind..kind + 4].copy_from_slice(&SHT_DIGEST.to_le_bytes());
        }
        Ok(())
    }

    fn part(&self, range: &Range<u64>) -> &[u8] {
        &self.bytes[range.start as usize..range.end as usize]
    }

    fn fill(&mut self, range: &Range<u64>) -> io::Result<()> {
        let part = &mut self.bytes[range.start as usize..range.end as usize];
        self.file.read_exact_at(part, self.start + range.start)
    }

    /// Puts the digest of a part in its place.
    fn digest(&mut self, range: Range<u64>) -> io::Result<()> {
        if range.is_empty() || range.end - range.start <= GAP {
            return if range.is_empty() { Ok(()) } else { self.fill(&range) };
        }
        let mut part =
            Part { file: self.file, start: self.start + range.start, length: range.end - range.start, at: 0 };
        let mut stream = DigestStream::new(PART);
        let mut piece = vec![0; PIECE];
        while part.at < part.length {
            let read = part.read(&mut piece)?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            stream.push(&piece[..read]);
        }
        let digest: Digest = stream.finish();
        let start = range.start as usize;
        self.bytes[start..start + size_of::<Digest>()].copy_from_slice(&digest.to_bytes());
        Ok(())
    }
}

impl Entry {
    fn read(at: u64, entry: &[u8], names: &[u8], within: &Range<u64>) -> Option<Entry> {
        let (kind, flags) = (half(entry, 4)?, word(entry, 8)?);
        let start = within.start.checked_add(word(entry, 24)?)?;
        let end = start.checked_add(word(entry, 32)?)?;
        let is_there = kind != SHT_NOBITS && kind != 0 && end <= within.end;
        let name = names.get(half(entry, 0)? as usize..).unwrap_or(b"");
        Some(Entry {
            at,
            kind,
            flags,
            range: if is_there { start..end } else { 0..0 },
            info: half(entry, 44)?,
            is_debug: flags & SHF_ALLOC == 0 && name.starts_with(b".debug_"),
        })
    }

    /// Whether nobody looks into it: it is no code, and no table of entries that are told apart.
    fn is_constant(&self) -> bool {
        self.kind == SHT_PROGBITS
            && self.flags & SHF_ALLOC != 0
            && self.flags & (SHF_EXECINSTR | SHF_MERGE | SHF_TLS) == 0
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Ranges in order; those with less than this between them as one.
fn joined(mut ranges: Vec<Range<u64>>, gap: u64) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

/// A part of a file as a file of its own.
struct Part<'f> {
    file: &'f File,
    start: u64,
    length: u64,
    at: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.length.saturating_sub(self.at).min(into.len() as u64) as usize;
        let read = self.file.read_at(&mut into[..left], self.start + self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Part<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content_key::object_key;
    use std::fs;
    use std::process::Command;

    fn assembled(directory: &Path, text: &str) -> std::path::PathBuf {
        let (source, object) = (directory.join("a.s"), directory.join("a.o"));
        fs::write(&source, text).unwrap();
        let ended = Command::new("cc").arg("-c").arg(&source).arg("-o").arg(&object).status().unwrap();
        assert!(ended.success());
        object
    }

    #[test]
    fn a_large_file_has_the_key_of_its_bytes_although_debug_information_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let text = "f: call g\n.section .debug_info\n.zero 9000000\n.section .rodata\n.ascii \"text\"\n.zero 5000000, 7\n";
        let object = assembled(directory.path(), text);
        let (read, whole) = (read_file(&object).unwrap(), fs::read(&object).unwrap());
        assert!(matches!(read.0, Bytes::Large(_)));
        assert_eq!(read.len(), whole.len());
        assert_eq!(object_key(&read), object_key(&whole));
        assert!(
            ElfFile::parse(&read).unwrap().sections.iter().any(|section| section.data.starts_with(b"text"))
        );
    }

    #[test]
    fn of_very_large_constants_the_digest_stands_in_their_place() {
        let directory = tempfile::tempdir().unwrap();
        let key = |last: u8| {
            let text =
                format!(".section .rodata\n.globl a\na: .zero 20000000\n.byte {last}\n.text\nf: call g\n");
            let read = read_file(&assembled(directory.path(), &text)).unwrap();
            let file = ElfFile::parse(&read).unwrap();
            let constants = file.sections.iter().find(|section| section.kind == SHT_DIGEST).unwrap();
            assert_eq!(constants.data.len(), 20_000_001);
            assert!(constants.data[..16] != [0; 16] && constants.data[16..].iter().all(|byte| *byte == 0));
            (
                object_key(&read),
                crate::reader::read_object(&read).elements.iter().map(|e| e.content).collect::<Vec<_>>(),
            )
        };
        let (one, two) = (key(1), key(2));
        assert!(one.0 != two.0 && one.1 != two.1);
        assert_eq!(one, key(1));
    }

    #[test]
    fn a_large_archive_holds_its_objects_and_nothing_else_of_size() {
        let directory = tempfile::tempdir().unwrap();
        let object = assembled(directory.path(), "f: call g\n.section .rodata\n.zero 3000000, 7\n");
        let other = directory.path().join("lib.rmeta");
        fs::write(&other, vec![7; 5_000_000]).unwrap();
        let archive = directory.path().join("a.a");
        let ended = Command::new("ar").arg("rc").arg(&archive).arg(&object).arg(&other).status().unwrap();
        assert!(ended.success());
        let read = read_file(&archive).unwrap();
        let members: Vec<_> = ArchiveFile::parse(&*read).unwrap().members().map(Result::unwrap).collect();
        assert_eq!(members.len(), 2);
        let (start, size) = members[0].file_range();
        let range = start as usize..(start + size) as usize;
        assert_eq!(read[range.clone()], fs::read(&object).unwrap());
        assert_eq!(&*read_part(&archive, Some(&range)).unwrap(), fs::read(&object).unwrap());
        let (start, _) = members[1].file_range();
        assert_eq!(read[start as usize], 0);
    }

    #[test]
    fn more_than_fits_into_memory_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let object = assembled(directory.path(), "f: call g\n");
        let mut bytes = fs::read(&object).unwrap();
        let table = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
        let text = (0..)
            .map(|index| table + index * 64)
            .find(|at| bytes[at + 8] as u64 & SHF_EXECINSTR != 0)
            .unwrap();
        bytes[text + 32..text + 40].copy_from_slice(&(3u64 << 30).to_le_bytes());
        fs::write(&object, &bytes).unwrap();
        File::options().write(true).open(&object).unwrap().set_len(4 << 30).unwrap();
        assert_eq!(read_file(&object).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn ranges_are_joined_where_little_lies_between_them() {
        assert_eq!(joined(vec![20..30, 0..5, 7..9, 3..4, 40..40], 2), [0..9, 20..30]);
    }
}
