//! The open store: its connection and the two kinds of transactions. What is read and written in them is told by
//! the other files.
//!
//! Durability: write-ahead log with `synchronous=FULL`, so that whatever a method has returned from is on the
//! disk, also after a power cut. (`NORMAL` would keep the file consistent, but lose the newest outcomes. It does for what
//! can be made again.) A new store gets its log with the first thing of that kind: what an analysis fills it with before is
//! large, and would be written twice.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::creation;
use crate::error::{StoreError, StoreErrorKind};
use crate::schema;

/// How long an operation waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// What the write-ahead log shrinks to after it has grown in a large transaction.
const LOG_BYTES_KEPT: u32 = 16 << 20;
/// Pages kept in memory, in KiB.
const CACHE_KIB: i32 = 2 << 10;
const STATEMENTS: usize = 48;

/// The database of one project, `.fewer/store.sqlite`.
///
/// Several processes may have it open and write at the same time: writers wait for each other. Within a process
/// it belongs to one thread at a time.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    log: Cell<Log>,
}

/// Whether what is written goes through the write-ahead log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Log {
    Used,
    /// The store is new, and had none when it was opened.
    NotYet,
}

impl Store {
    /// Opens the store in a directory (`.fewer`), which is created with a `.gitignore` where it is missing. A
    /// store of an older fewer is migrated; one of a newer fewer, another program's file and a damaged file are
    /// refused and left as they are.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let path = directory.join("store.sqlite");
        let failed = |kind| StoreError { path: path.clone(), kind };
        creation::ensure_directory(directory)
            .map_err(|kind| StoreError { path: directory.to_path_buf(), kind })?;
        creation::ensure_file(&path).map_err(failed)?;
        let doubtful = creation::inspect(&path).map_err(failed)?;
        let (connection, log) = connect(&path).map_err(failed)?;
        if doubtful {
            quick_check(&connection).map_err(failed)?;
        }
        schema::migrate(&connection).map_err(failed)?;
        Ok(Store { connection, path, log: Cell::new(log) })
    }

    /// Another connection to the same file, which was looked at when it was opened.
    pub fn beside(&self) -> Result<Store, StoreError> {
        let (connection, log) = connect(&self.path).map_err(|kind| self.failed(kind))?;
        Ok(Store { connection, path: self.path.clone(), log: Cell::new(log) })
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes on the disk, with the write-ahead log and what is kept beside it.
    pub(crate) fn size(&self) -> u64 {
        let length = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        length(&self.path) + length(&creation::log_of(&self.path)) + self.kept_bytes()
    }

    /// Reads one consistent state of the store, whatever is written meanwhile.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreErrorKind>,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Deferred, work)
    }

    /// Writes all or nothing; on the disk when it returns. The lock is taken at the start, so that what is read
    /// in it still holds when it is written.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreErrorKind>,
    ) -> Result<T, StoreError> {
        if self.log.get() == Log::NotYet {
            use_log(&self.connection).map_err(|kind| self.failed(kind))?;
            self.log.set(Log::Used);
        }
        self.change(work)
    }

    fn change<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreErrorKind>,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Immediate, |connection| {
            // A newer fewer may have migrated the file since it was opened.
            schema::known_version(connection)?;
            work(connection)
        })
    }

    /// The same, but it may be lost in a power cut as long as nothing else was written. The log has one order: whatever
    /// is on the disk, what was written before it is too.
    pub(crate) fn write_without_waiting<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreErrorKind>,
    ) -> Result<T, StoreError> {
        let wait = |mode| self.connection.pragma_update(None, "synchronous", mode);
        wait("NORMAL").map_err(|error| self.failed(error.into()))?;
        let written = self.change(work);
        wait("FULL").map_err(|error| self.failed(error.into()))?;
        written
    }

    fn transaction<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Result<T, StoreErrorKind>,
    ) -> Result<T, StoreError> {
        let attempt = || -> Result<T, StoreErrorKind> {
            let transaction = Transaction::new_unchecked(&self.connection, behavior)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        attempt().map_err(|kind| self.failed(kind))
    }

    /// The connection itself, for what cannot be done in a transaction.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn failed(&self, kind: StoreErrorKind) -> StoreError {
        StoreError { path: self.path.clone(), kind }
    }
}

/// A connection to an existing file, with the settings that do not stay in the file.
fn connect(path: &Path) -> Result<(Connection, Log), StoreErrorKind> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    Ok((connection, if mode == "wal" { Log::Used } else { Log::NotYet }))
}

/// Gives the file a write-ahead log. While another process writes to it without one, SQLite refuses at once.
fn use_log(connection: &Connection) -> Result<(), StoreErrorKind> {
    const PAUSE: Duration = Duration::from_millis(5);
    let began = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < BUSY_TIMEOUT =>
            {
                thread::sleep(PAUSE);
            }
            changed => return Ok(changed?),
        }
    }
}

fn quick_check(connection: &Connection) -> Result<(), StoreErrorKind> {
    let detail: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match detail.as_str() {
        "ok" => Ok(()),
        _ => Err(StoreErrorKind::Damaged { detail }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_what_need_not_wait_for_the_disk_everything_else_waits_again() {
        const FULL: i64 = 2;
        let directory = tempfile::TempDir::new().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let mode =
            || store.connection.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0)).unwrap();
        let during = store.write_without_waiting(|_| Ok(mode())).unwrap();
        assert!(during < FULL && mode() == FULL);
        let failed =
            store.write_without_waiting(|connection| Ok(connection.execute("no statement", []).map(drop)?));
        assert!(failed.is_err() && mode() == FULL);
    }
}
