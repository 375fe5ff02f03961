//! What is remembered of files between scans, so that one that was not touched is neither opened nor hashed.
//! A file is known again by its status: size, times of content and inode to the nanosecond, inode, device.
//! What its bytes mean is not told here.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fewer_core::{Digest, Domain};

use crate::content_key::KEY_VERSION;
use crate::encoding::{Reader, Writer};
use crate::scan::SummaryCache;

const FILES_KIND: &str = "files";
const FILES_VERSION: u32 = 3;
const FILES: Domain = Domain::new("files");

/// A file that was written so shortly before it was read may be written again without its times changing: clocks
/// of file systems are coarse. It is not remembered.
const UNSETTLED: Duration = Duration::from_secs(2);

/// What tells that a file is still the same. Copying and restoring times change the time of the inode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    inode: u64,
    device: u64,
}

impl Status {
    pub fn of(metadata: &Metadata) -> Status {
        Status {
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.long(self.size);
        for (seconds, nanoseconds) in [self.modified, self.changed] {
            out.long(seconds as u64);
            out.long(nanoseconds as u64);
        }
        out.long(self.inode);
        out.long(self.device);
    }

    pub(crate) fn read(input: &mut Reader<'_>) -> Option<Status> {
        let size = input.long()?;
        let mut time = || Some((input.long()? as i64, input.long()? as i64));
        let (modified, changed) = (time()?, time()?);
        Some(Status { size, modified, changed, inode: input.long()?, device: input.long()? })
    }

    /// Whether the file can only be written again with another time.
    pub fn is_settled(&self, scan_began: SystemTime) -> bool {
        let Ok(now) = scan_began.duration_since(UNIX_EPOCH) else { return false };
        let newest = self.modified.max(self.changed);
        let Ok(seconds) = u64::try_from(newest.0) else { return false };
        Duration::new(seconds, u32::try_from(newest.1).unwrap_or(0)) + UNSETTLED < now
    }
}

/// A member of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub name: String,
    pub range: std::ops::Range<usize>,
    pub key: Digest,
    pub is_bitcode: bool,
}

/// What a file holds, as far as scanning needs to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held {
    /// Nothing for the readers.
    Other,
    Object {
        key: Digest,
        is_bitcode: bool,
    },
    Image,
    Archive(Vec<Member>),
}

/// The files of one build directory by name.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct FileRecords {
    files: HashMap<String, (Status, Held)>,
}

impl FileRecords {
    pub fn load(cache: &dyn SummaryCache, build_directory: &Path) -> FileRecords {
        let key = key_of(build_directory);
        let stored = cache.load(FILES_KIND, &[key]).remove(&key);
        stored.and_then(|bytes| FileRecords::decode(&bytes)).unwrap_or_default()
    }

    /// What the file holds, if it is the one that was read.
    pub fn known(&self, name: &str, status: &Status) -> Option<&Held> {
        self.files.get(name).filter(|(known, _)| known == status).map(|(_, held)| held)
    }

    /// Remembers a file that was read in a scan, if its status will tell when it changes.
    pub fn remember(&mut self, name: &str, status: Status, held: Held, scan_began: SystemTime) {
        if status.is_settled(scan_began) {
            self.files.insert(name.to_string(), (status, held));
        }
    }

    pub fn save(&self, cache: &dyn SummaryCache, build_directory: &Path) {
        cache.save(FILES_KIND, &[(key_of(build_directory), self.encode())]);
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        out.word(FILES_VERSION);
        out.word(KEY_VERSION);
        out.word(self.files.len() as u32);
        let mut names: Vec<&String> = self.files.keys().collect();
        names.sort();
        for name in names {
            let (status, held) = &self.files[name];
            out.bytes(name.as_bytes());
            status.write(&mut out);
            write_held(&mut out, held);
        }
        out.0
    }

    /// The inverse of `encode`; `None` for another version or damaged bytes.
    fn decode(bytes: &[u8]) -> Option<FileRecords> {
        let mut input = Reader(bytes);
        if (input.word()?, input.word()?) != (FILES_VERSION, KEY_VERSION) {
            return None;
        }
        let files = input.list(64, |input| {
            let name = String::from_utf8(input.bytes()?.to_vec()).ok()?;
            Some((name, (Status::read(input)?, read_held(input)?)))
        })?;
        input.0.is_empty().then(|| FileRecords { files: files.into_iter().collect() })
    }
}

fn write_held(out: &mut Writer, held: &Held) {
    match held {
        Held::Other => out.word(0),
        Held::Object { key, is_bitcode } => {
            out.word(1);
            out.word(*is_bitcode as u32);
            out.0.extend_from_slice(&key.to_bytes());
        }
        Held::Image => out.word(2),
        Held::Archive(members) => {
            out.word(3);
            out.word(members.len() as u32);
            for member in members {
                out.bytes(member.name.as_bytes());
                out.long(member.range.start as u64);
                out.long(member.range.end as u64);
                out.word(member.is_bitcode as u32);
                out.0.extend_from_slice(&member.key.to_bytes());
            }
        }
    }
}

fn read_held(input: &mut Reader<'_>) -> Option<Held> {
    match input.word()? {
        0 => Some(Held::Other),
        1 => {
            let is_bitcode = input.word()? != 0;
            Some(Held::Object { is_bitcode, key: input.digest()? })
        }
        2 => Some(Held::Image),
        3 => Some(Held::Archive(input.list(40, |input| {
            Some(Member {
                name: String::from_utf8(input.bytes()?.to_vec()).ok()?,
                range: input.long()? as usize..input.long()? as usize,
                is_bitcode: input.word()? != 0,
                key: input.digest()?,
            })
        })?)),
        _ => None,
    }
}

fn key_of(build_directory: &Path) -> Digest {
    let path = build_directory.canonicalize().unwrap_or_else(|_| build_directory.to_path_buf());
    Digest::of(FILES, path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(modified: i64, changed: i64) -> Status {
        Status { size: 3, modified: (modified, 5), changed: (changed, 6), inode: 7, device: 8 }
    }

    fn records() -> FileRecords {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        let mut records = FileRecords::default();
        let member = Member { name: "m.o".into(), range: 8..90, key: Digest(4), is_bitcode: true };
        for (name, held) in [
            ("a.o", Held::Object { key: Digest(1), is_bitcode: false }),
            ("t", Held::Image),
            ("l.a", Held::Archive(vec![member])),
            ("x", Held::Other),
        ] {
            records.remember(name, status(10, 20), held, now);
        }
        records
    }

    #[test]
    fn records_round_trip_and_damaged_ones_are_not_taken() {
        let bytes = records().encode();
        assert_eq!(FileRecords::decode(&bytes), Some(records()));
        assert!((0..bytes.len()).all(|end| FileRecords::decode(&bytes[..end]).is_none()));
    }

    #[test]
    fn a_file_is_known_only_while_all_of_its_status_is_the_same() {
        let records = records();
        assert_eq!(records.known("t", &status(10, 20)), Some(&Held::Image));
        for other in [
            status(11, 20),
            status(10, 21),
            Status { size: 4, ..status(10, 20) },
            Status { inode: 1, ..status(10, 20) },
            Status { device: 1, ..status(10, 20) },
        ] {
            assert_eq!(records.known("t", &other), None, "{other:?}");
        }
    }

    #[test]
    fn files_written_during_the_scan_shortly_before_or_in_the_future_are_not_remembered() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        for (modified, changed) in [(1000, 10), (10, 999), (10, 2000), (2000, 10), (-5, -5)] {
            let mut records = FileRecords::default();
            records.remember("a.o", status(modified, changed), Held::Other, now);
            assert_eq!(records, FileRecords::default(), "{modified} {changed}");
        }
    }
}
