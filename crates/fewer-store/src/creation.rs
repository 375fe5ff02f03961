//! From nothing to a store file, and the look at a file before SQLite touches it. A new store is made under
//! another name and then renamed, so that a file under its name was once complete: an empty or short one is
//! damaged, never taken for new.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::directory::{open_private, open_to_read};
use crate::error::StoreErrorKind;
use crate::schema::{self, APPLICATION_ID};

/// Summaries of 10 to 500 KB are most of what is stored: large pages mean short chains of them.
const PAGE_BYTES: u32 = 16384;

/// A connection of one thread, never through a link.
pub(crate) const UNSHARED: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER_BYTES: usize = 100;

/// Makes the store file where there is none. Of two processes one makes it, and the other waits for it.
pub(crate) fn ensure_file(path: &Path) -> Result<(), StoreErrorKind> {
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let _lock = lock(path).map_err(StoreErrorKind::from_io)?;
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    set_aside_logs(path).map_err(StoreErrorKind::from_io)?;
    let new = path.with_extension("new");
    remove_leftovers(&new).map_err(StoreErrorKind::from_io)?;
    write_empty_store(&new)?;
    publish(&new, path).map_err(StoreErrorKind::from_io)
}

/// Moves a store that cannot be used, with its logs, into a directory of its own beside it. Gives that directory; `None` where
/// another process has done so.
pub(crate) fn set_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    let _lock = lock(path)?;
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let aside = new_directory(path)?;
    for suffix in ["", "-wal", UNDO] {
        let (from, name) =
            (beside(path, suffix), beside(Path::new(path.file_name().unwrap_or_default()), suffix));
        match fs::rename(&from, aside.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    remove_if_there(&beside(path, "-shm"))?;
    Ok(Some(aside))
}

/// Example: `store.damaged-1`.
fn new_directory(path: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let aside = path.with_extension(format!("damaged-{number}"));
        match DirBuilder::new().mode(0o700).create(&aside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| aside),
        }
    }
}

/// Held as long as the file lives. Only whoever makes a store or sets one aside takes it.
fn lock(path: &Path) -> io::Result<File> {
    let file = open_private(&path.with_extension("lock"))?;
    file.lock()?;
    Ok(file)
}

/// Whether the file deserves a check of its structure; an error where it is certainly no store of ours. Reads
/// only, and not through SQLite, which could write a foreign file's log into it.
pub(crate) fn inspect(path: &Path) -> Result<bool, StoreErrorKind> {
    // While another process copies its log into the file, the file can be short for a moment.
    for _ in 0..5 {
        let header = Header::read(path)?;
        let length = path.symlink_metadata().map_err(StoreErrorKind::from_io)?.len();
        if length >= header.bytes {
            return Ok(false);
        }
        let is_there = |log: PathBuf| log.symlink_metadata().is_ok_and(|log| log.len() > 0);
        if is_there(log_of(path)) || is_there(beside(path, UNDO)) {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(20));
    }
    let length = path.symlink_metadata().map_err(StoreErrorKind::from_io)?.len();
    let bytes = Header::read(path)?.bytes;
    Err(StoreErrorKind::Damaged { detail: format!("it was cut short ({length} of {bytes} bytes)") })
}

/// What is to be undone if a process is killed that writes to a store without a log.
const UNDO: &str = "-journal";

/// The write-ahead log beside a database.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// What SQLite writes into the first bytes of a file.
struct Header {
    /// How long the file must be.
    bytes: u64,
}

impl Header {
    fn read(path: &Path) -> Result<Header, StoreErrorKind> {
        let mut header = Vec::with_capacity(HEADER_BYTES);
        open_to_read(path)
            .and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut header))
            .map_err(StoreErrorKind::from_io)?;
        if header.is_empty() {
            return Err(StoreErrorKind::Damaged { detail: "it is empty".to_string() });
        }
        if !header.starts_with(&MAGIC[..header.len().min(MAGIC.len())]) {
            return Err(StoreErrorKind::NotADatabase);
        }
        if header.len() < HEADER_BYTES {
            let detail = format!("it was cut short ({} bytes)", header.len());
            return Err(StoreErrorKind::Damaged { detail });
        }
        let number =
            |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let application_id = number(68);
        if application_id != APPLICATION_ID {
            return Err(StoreErrorKind::Foreign { application_id });
        }
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65536,
            bytes => u64::from(bytes),
        };
        Ok(Header { bytes: page_bytes * u64::from(number(28)) })
    }
}

/// A log without its database belongs to one that was moved away; SQLite would write it into the new one.
fn set_aside_logs(path: &Path) -> io::Result<()> {
    for log in [log_of(path), beside(path, UNDO)] {
        if log.symlink_metadata().is_ok() {
            fs::rename(&log, beside(&log, ".orphan"))?;
        }
    }
    remove_if_there(&beside(path, "-shm"))
}

/// What a killed creator left.
fn remove_leftovers(new: &Path) -> io::Result<()> {
    for suffix in ["", UNDO, "-wal", "-shm"] {
        remove_if_there(&beside(new, suffix))?;
    }
    Ok(())
}

/// Without a log: whoever makes a store fills it first. Nothing waits for the disk: the file is brought there as a whole
/// before it gets its name.
fn write_empty_store(new: &Path) -> Result<(), StoreErrorKind> {
    open_private(new).map_err(StoreErrorKind::from_io)?;
    let connection = Connection::open_with_flags(new, OpenFlags::SQLITE_OPEN_READ_WRITE | UNSHARED)?;
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    schema::migrate(&connection)?;
    connection.close().map_err(|(_, error)| error.into())
}

/// Renames the file to its name, for good: file and directory entries are on the disk when this returns.
fn publish(new: &Path, path: &Path) -> io::Result<()> {
    File::open(new)?.sync_all()?;
    fs::rename(new, path)?;
    for directory in path.ancestors().skip(1).take(2) {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
