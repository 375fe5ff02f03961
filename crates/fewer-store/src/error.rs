//! What can go wrong with the store, said so that the user knows what to do. Every message names the file.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::run::RunId;
use crate::state::StateId;

/// A failed operation on the store at `path`.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.message())]
pub struct StoreError {
    /// The database file, or the directory where that is what could not be used.
    pub path: PathBuf,
    pub kind: StoreErrorKind,
}

/// Why it failed. The texts are the middle of [`StoreError`]'s message.
#[derive(Debug, thiserror::Error)]
pub enum StoreErrorKind {
    #[error("was written by a newer fewer: its schema is version {found}, this one knows up to {known}")]
    NewerSchema { found: i64, known: i64 },
    #[error("is a database of another program (application id {application_id:#010x})")]
    Foreign { application_id: u32 },
    #[error("is not to be trusted: {why}")]
    Distrusted { why: String, what_to_do: String },
    #[error("is a file, not the directory that fewer keeps its records in")]
    NotADirectory,
    #[error("is not a database")]
    NotADatabase,
    #[error("is damaged: {detail}")]
    Damaged { detail: String },
    #[error("cannot be written: there is no space left")]
    Full,
    #[error("cannot be written: {cause}")]
    NotWritable { cause: String },
    #[error("is in use by another process for too long ({holder})")]
    Busy { holder: String },
    #[error("cannot be used: {0}")]
    Io(#[from] io::Error),
    #[error("failed: {0}")]
    Sqlite(rusqlite::Error),
    #[error("has no state {0}")]
    UnknownState(StateId),
    #[error("has no run {0}")]
    UnknownRun(RunId),
}

impl StoreError {
    fn message(&self) -> String {
        format!("the store {} {}; {}", self.path.display(), self.kind, self.advice())
    }

    /// What to do next.
    fn advice(&self) -> String {
        match &self.kind {
            StoreErrorKind::NewerSchema { .. } => {
                format!("nothing was changed: update fewer, or {}", self.start_afresh())
            }
            StoreErrorKind::Distrusted { what_to_do, .. } => format!("nothing in it was used: {what_to_do}"),
            StoreErrorKind::NotADirectory => {
                let path = self.path.display();
                format!("look at what it is, then move it away: 'mv {path} {path}.old'")
            }
            StoreErrorKind::Foreign { .. }
            | StoreErrorKind::NotADatabase
            | StoreErrorKind::Damaged { .. } => {
                "nothing was changed: the next 'fewer run' sets it aside and runs every test once".to_string()
            }
            StoreErrorKind::Full => {
                "everything recorded before is kept: free some space there and run again".to_string()
            }
            StoreErrorKind::NotWritable { .. } => {
                "everything recorded before is kept: make the directory writable for this user and run again"
                    .to_string()
            }
            StoreErrorKind::Busy { .. } => {
                "everything recorded before is kept: wait for the other fewer to end (or end it) and run again"
                    .to_string()
            }
            StoreErrorKind::Io(_) | StoreErrorKind::Sqlite(_) => {
                "everything recorded before is kept: check the disk and its file system, then run again"
                    .to_string()
            }
            StoreErrorKind::UnknownState(_) | StoreErrorKind::UnknownRun(_) => {
                "a 'fewer gc' may have dropped it: run again".to_string()
            }
        }
    }

    /// The whole directory is moved: the `-wal` file beside the database belongs to it.
    fn start_afresh(&self) -> String {
        let directory = self.path.parent().unwrap_or(&self.path).display();
        format!(
            "to start afresh, move it away with 'mv {directory} {directory}.old' (every test then runs once)"
        )
    }
}

impl From<rusqlite::Error> for StoreErrorKind {
    fn from(error: rusqlite::Error) -> StoreErrorKind {
        let rusqlite::Error::SqliteFailure(failure, _) = &error else { return unexpected_row(error) };
        match failure.code {
            ErrorCode::DiskFull => StoreErrorKind::Full,
            // The file of shared memory beside the database could not be given its size.
            ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
                StoreErrorKind::Full
            }
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                StoreErrorKind::NotWritable { cause: error.to_string() }
            }
            ErrorCode::DatabaseCorrupt => StoreErrorKind::Damaged { detail: error.to_string() },
            ErrorCode::NotADatabase => StoreErrorKind::NotADatabase,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                StoreErrorKind::Busy { holder: "unknown".to_string() }
            }
            // Rows refer to each other only within one transaction, so one that leads nowhere is the work of something else.
            ErrorCode::ConstraintViolation if failure.extended_code == ffi::SQLITE_CONSTRAINT_FOREIGNKEY => {
                StoreErrorKind::Damaged { detail: "a record refers to another that is gone".to_string() }
            }
            _ => StoreErrorKind::Sqlite(error),
        }
    }
}

/// A row that does not hold what the schema says was not written by this program.
fn unexpected_row(error: rusqlite::Error) -> StoreErrorKind {
    match error {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::InvalidColumnType(..) => StoreErrorKind::Damaged { detail: error.to_string() },
        other => StoreErrorKind::Sqlite(other),
    }
}

impl StoreErrorKind {
    /// Whether there is nothing to be done with the file: it is to be set aside.
    pub fn is_damage(&self) -> bool {
        match self {
            StoreErrorKind::Foreign { .. }
            | StoreErrorKind::NotADatabase
            | StoreErrorKind::Damaged { .. } => true,
            StoreErrorKind::NewerSchema { .. }
            | StoreErrorKind::Distrusted { .. }
            | StoreErrorKind::NotADirectory
            | StoreErrorKind::Full
            | StoreErrorKind::NotWritable { .. }
            | StoreErrorKind::Busy { .. }
            | StoreErrorKind::Io(_)
            | StoreErrorKind::Sqlite(_)
            | StoreErrorKind::UnknownState(_)
            | StoreErrorKind::UnknownRun(_) => false,
        }
    }

    /// A file operation that failed, with what the system says about permissions and space.
    pub(crate) fn from_io(error: io::Error) -> StoreErrorKind {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreErrorKind::Full,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StoreErrorKind::NotWritable { cause: error.to_string() }
            }
            _ => StoreErrorKind::Io(error),
        }
    }
}
