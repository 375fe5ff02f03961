//! From nothing to a store file, and the look at a file before SQLite touches it. A new store is made under
//! another name and then renamed, so that a file under its name was once complete: an empty or short one is
//! damaged, never taken for new.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use crate::error::StoreErrorKind;
use crate::schema::{self, APPLICATION_ID};

/// Summaries of 10 to 500 KB are most of what is stored: large pages mean short chains of them.
const PAGE_BYTES: u32 = 16384;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER_BYTES: usize = 100;

/// The directory with its `.gitignore`, so that no store is ever committed.
pub(crate) fn ensure_directory(directory: &Path) -> Result<(), StoreErrorKind> {
    fs::create_dir_all(directory).map_err(StoreErrorKind::from_io)?;
    let ignore = directory.join(".gitignore");
    // Empty: its writer was killed. Anything else is the user's.
    if fs::metadata(&ignore).map_or(0, |metadata| metadata.len()) == 0 {
        fs::write(&ignore, "*\n").map_err(StoreErrorKind::from_io)?;
    }
    Ok(())
}

/// Makes the store file where there is none. Of two processes one makes it, and the other waits for it.
pub(crate) fn ensure_file(path: &Path) -> Result<(), StoreErrorKind> {
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let lock = File::create(path.with_extension("lock")).map_err(StoreErrorKind::from_io)?;
    lock.lock().map_err(StoreErrorKind::from_io)?;
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    set_aside_logs(path).map_err(StoreErrorKind::from_io)?;
    let new = path.with_extension("new");
    remove_leftovers(&new).map_err(StoreErrorKind::from_io)?;
    write_empty_store(&new)?;
    publish(&new, path).map_err(StoreErrorKind::from_io)
}

/// Whether the file deserves a check of its structure; an error where it is certainly no store of ours. Reads
/// only, and not through SQLite, which could write a foreign file's log into it.
pub(crate) fn inspect(path: &Path) -> Result<bool, StoreErrorKind> {
    // While another process copies its log into the file, the file can be short for a moment.
    for _ in 0..5 {
        let header = Header::read(path)?;
        let length = fs::metadata(path).map_err(StoreErrorKind::from_io)?.len();
        if length >= header.bytes {
            return Ok(false);
        }
        let is_there = |log: PathBuf| fs::metadata(log).is_ok_and(|log| log.len() > 0);
        if is_there(log_of(path)) || is_there(beside(path, UNDO)) {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(20));
    }
    let length = fs::metadata(path).map_err(StoreErrorKind::from_io)?.len();
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
        File::open(path)
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
    let connection = Connection::open(new)?;
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
