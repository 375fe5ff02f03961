//! Whose records these are: the seal of the user, and which records it was not found on. Such a record is not there.

use std::collections::HashSet;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;

use crate::key::OwnerKey;
use crate::seal::{Mac, Seal};

/// A record by its place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Record {
    Blob(i64),
    State(i64),
    Run(i64),
    Outcome(i64),
    File(String),
}

#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) seal: Seal,
    strangers: Mutex<HashSet<Record>>,
}

impl Owner {
    pub(crate) fn new(key: OwnerKey) -> Owner {
        Owner { seal: Seal::new(key), strangers: Mutex::default() }
    }

    /// Whether the mac that a record has is the one that its content asks for.
    pub(crate) fn vouches(&self, record: Record, found: Mac, expected: Mac) -> bool {
        if found != expected {
            self.strangers.lock().expect("nobody panics with them in hand").insert(record);
        }
        found == expected
    }

    /// How many records of others were met.
    pub(crate) fn strangers(&self) -> usize {
        self.strangers.lock().expect("nobody panics with them in hand").len()
    }
}

impl Seal {
    /// Writes a file with the seal at its end, for the user alone. A reader never sees half of it.
    pub(crate) fn write_sealed(&self, path: &Path, name: &str, content: &[u8]) -> io::Result<()> {
        write_private(path, &[content, &self.file(name, content)])
    }

    /// Writes the seal of a file alone.
    pub(crate) fn write(&self, path: &Path, name: &str, content: &[u8]) -> io::Result<()> {
        write_private(path, &[&self.file(name, content)])
    }
}

impl Owner {
    /// Whether a file is as it was when its seal was written. One that is not there needs none.
    pub(crate) fn is_vouched_for(&self, path: &Path, seal: &Path, name: &str) -> io::Result<bool> {
        let content = match fewer_files::read(path) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            // Far larger than anything that is written here.
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Ok(false),
            Err(error) => return Err(error),
        };
        let found = fewer_files::read(seal).unwrap_or_default().try_into().unwrap_or_default();
        Ok(self.vouches(Record::File(name.to_string()), found, self.seal.file(name, &content)))
    }
}

fn write_private(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let private = Permissions::from_mode(0o600);
    let directory = path.parent().unwrap_or(path);
    let mut file = tempfile::Builder::new().permissions(private).tempfile_in(directory)?;
    for part in parts {
        file.write_all(part)?;
    }
    file.persist(path)?;
    Ok(())
}
