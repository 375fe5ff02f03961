//! The open store: its connection and the two kinds of transactions. What is read and written in them is told by
//! the other files.
//!
//! Durability: write-ahead log with `synchronous=FULL`, so that whatever a method has returned from is on the
//! disk, also after a power cut. (`NORMAL` would keep the file consistent, but lose the newest outcomes. It does for what
//! can be made again.) A new store gets its log with the first thing of that kind: what an analysis fills it with before is
//! large, and would be written twice.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::creation;
use crate::directory;
use crate::error::{StoreError, StoreErrorKind};
use crate::key::OwnerKey;
use crate::owner::Owner;
use crate::patience::{LIMIT, Patience, Teller};
use crate::schema;

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
    pub(crate) owner: Arc<Owner>,
    patience: Arc<Patience>,
    /// How many outcomes were dropped when it was opened, as they did not say who recorded them.
    dropped: u64,
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
    /// refused and left as they are, and so is a directory that may be of somebody else. Of the records only those count
    /// that were written with the same key.
    pub fn open(directory: &Path, key: OwnerKey) -> Result<Store, StoreError> {
        Store::open_telling(directory, key, None)
    }

    /// The same; somebody is told when there is something to wait for.
    pub fn open_telling(directory: &Path, key: OwnerKey, tell: Option<Teller>) -> Result<Store, StoreError> {
        directory::ensure(directory)?;
        // Where the directory is has been looked at; how one gets there is the user's business.
        let path = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf()).join("store.sqlite");
        let patience = Arc::new(Patience::new(&path, tell));
        let failed = |kind| StoreError { path: path.clone(), kind };
        creation::ensure_file(&path).map_err(failed)?;
        let doubtful = creation::inspect(&path).map_err(failed)?;
        let (connection, log) = patience.wait(|| connect(&path)).map_err(failed)?;
        if doubtful {
            quick_check(&connection).map_err(failed)?;
        }
        let dropped = patience.wait(|| schema::migrate(&connection)).map_err(failed)?;
        connection.busy_timeout(LIMIT).map_err(|error| failed(error.into()))?;
        let owner = Arc::new(Owner::new(key));
        Ok(Store { connection, path, log: Cell::new(log), owner, patience, dropped })
    }

    /// Another connection to the same file, which was looked at when it was opened.
    pub fn beside(&self) -> Result<Store, StoreError> {
        let (connection, log) =
            self.patience.wait(|| connect(&self.path)).map_err(|kind| self.failed(kind))?;
        connection.busy_timeout(LIMIT).map_err(|error| self.failed(error.into()))?;
        let (owner, patience) = (Arc::clone(&self.owner), Arc::clone(&self.patience));
        Ok(Store { connection, path: self.path.clone(), log: Cell::new(log), owner, patience, dropped: 0 })
    }

    /// Whether there is a store in a directory; an error where the directory may be of somebody else. Makes nothing.
    pub fn is_in(directory: &Path) -> Result<bool, StoreError> {
        Ok(directory::examine(directory)? && directory.join("store.sqlite").exists())
    }

    /// Moves a store that cannot be used into a directory of its own, where it is kept. Gives that directory; `None` where
    /// another process has done so.
    pub fn set_aside(directory: &Path) -> io::Result<Option<PathBuf>> {
        creation::set_aside(&directory.join("store.sqlite"))
    }

    /// How many records were met that were not written with this key, and so do not count.
    pub fn strangers(&self) -> usize {
        self.owner.strangers()
    }

    /// How many outcomes of an older fewer were dropped, as they did not say who recorded them.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Vouches for a file beside the database as it is now. Example: `cargo/messages.jsonl`.
    pub fn vouch_for(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path.with_file_name(name);
        let vouch = || self.owner.seal.write(&seal_of(&path), name, &fewer_files::read(&path)?);
        vouch().map_err(|error| StoreError { path: path.clone(), kind: StoreErrorKind::from_io(error) })
    }

    /// Removes files beside the database that nobody vouches for: this user did not write them so.
    pub fn drop_strange_files(&self, names: &[&str]) -> Result<(), StoreError> {
        for name in names {
            let path = self.path.with_file_name(name);
            let drop = || match self.owner.is_vouched_for(&path, &seal_of(&path), name)? {
                true => Ok(()),
                false => fs::remove_file(&path),
            };
            drop()
                .map_err(|error| StoreError { path: path.clone(), kind: StoreErrorKind::from_io(error) })?;
        }
        Ok(())
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
            let use_log = || Ok(self.connection.pragma_update(None, "journal_mode", "WAL")?);
            self.patience.wait(use_log).map_err(|kind| self.failed(kind))?;
            self.log.set(Log::Used);
        }
        self.change(work)
    }

    fn change<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreErrorKind>,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Immediate, |connection| work(connection))
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
            let transaction = self.begin(behavior)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        attempt().map_err(|kind| self.failed(kind))
    }

    /// With the lock that it needs: nothing in it waits for others.
    fn begin(&self, behavior: TransactionBehavior) -> Result<Transaction<'_>, StoreErrorKind> {
        self.connection.busy_timeout(Duration::ZERO)?;
        let transaction = self.patience.wait(|| {
            let transaction = Transaction::new_unchecked(&self.connection, behavior)?;
            schema::known_version(&transaction)?;
            Ok(transaction)
        })?;
        // But for the copying of a store without a log, when others have read all that they want.
        self.connection.busy_timeout(LIMIT)?;
        Ok(transaction)
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
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | creation::UNSHARED)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    Ok((connection, if mode == "wal" { Log::Used } else { Log::NotYet }))
}

/// Where the seal of a file is that others read as it is.
fn seal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".seal");
    PathBuf::from(name)
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
        let store = Store::open(directory.path(), OwnerKey::passing().unwrap()).unwrap();
        let mode =
            || store.connection.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0)).unwrap();
        let during = store.write_without_waiting(|_| Ok(mode())).unwrap();
        assert!(during < FULL && mode() == FULL);
        let failed =
            store.write_without_waiting(|connection| Ok(connection.execute("no statement", []).map(drop)?));
        assert!(failed.is_err() && mode() == FULL);
    }
}
