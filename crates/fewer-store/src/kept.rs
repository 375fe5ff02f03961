//! Large content that only saves work: each in a file of its own beside the database, read where it lies and written
//! once. Nothing recorded refers to it, so it may be lost, and whoever reads it checks that it is as it was written.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fewer_core::Digest;
use memmap2::{Mmap, MmapOptions};

use crate::blob::{UNREFERENCED_LIFE, USE_PRECISION};
use crate::directory::open_to_read;
use crate::error::{StoreError, StoreErrorKind};
use crate::owner::Record;
use crate::seal::{MAC_BYTES, Mac};
use crate::store::Store;

/// No analysis is that large: what is, another wrote, and all of it would be read to find that out.
const LARGEST: u64 = 1 << 30;

impl Store {
    /// What was kept last under a key. A reader keeps what it has, whatever is kept meanwhile.
    pub fn kept(&self, key: Digest) -> Result<Option<Mmap>, StoreError> {
        let path = self.kept_directory().join(key.to_string());
        let content = || {
            let file = open_to_read(&path)?;
            note_use(&file)?;
            self.sealed_map(&file, &kept_name(key))
        };
        match content() {
            Ok(content) => Ok(content),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, error)),
        }
    }

    /// Keeps content in place of what was kept under the key. After a power cut it may be gone, or damaged.
    pub fn keep(&self, key: Digest, content: &[u8]) -> Result<(), StoreError> {
        let directory = self.kept_directory();
        let write = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
            self.owner.seal.write_sealed(&directory.join(key.to_string()), &kept_name(key), content)
        };
        write().map_err(|error| failed(&directory, error))
    }

    /// The content of a file without its seal; `None` where another wrote it.
    fn sealed_map(&self, file: &File, name: &str) -> io::Result<Option<Mmap>> {
        let Some(length) = file.metadata()?.len().checked_sub(MAC_BYTES as u64) else { return Ok(None) };
        if length > LARGEST {
            return Ok(None);
        }
        let mut mac = Mac::default();
        file.read_exact_at(&mut mac, length)?;
        // SAFETY: the file is never written again or cut under this name: another takes its place.
        let content = unsafe { MmapOptions::new().len(usize::try_from(length).unwrap_or(0)).map(file)? };
        let is_own =
            self.owner.vouches(Record::File(name.to_string()), mac, self.owner.seal.file(name, &content));
        Ok(is_own.then_some(content))
    }

    /// How many bytes are kept so.
    pub(crate) fn kept_bytes(&self) -> u64 {
        let sizes = self.kept_files().into_iter().filter_map(|file| Some(fs::metadata(file).ok()?.len()));
        sizes.sum()
    }

    /// Drops what was not used for long; also what a killed process left. Gives how many.
    pub(crate) fn drop_kept(&self) -> Result<u64, StoreError> {
        let mut dropped = 0;
        for file in self.kept_files() {
            if !is_unused_for(&file, UNREFERENCED_LIFE) {
                continue;
            }
            match fs::remove_file(&file) {
                Ok(()) => dropped += 1,
                // Another process drops it too.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(&file, error)),
            }
        }
        Ok(dropped)
    }

    fn kept_directory(&self) -> PathBuf {
        self.path().with_file_name("kept")
    }

    fn kept_files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.kept_directory()).into_iter().flatten().flatten();
        files.map(|file| file.path()).collect()
    }
}

/// Example: `kept/45893e5a554fa8b4099bcc9a8a4bd0c9`.
fn kept_name(key: Digest) -> String {
    format!("kept/{key}")
}

/// The time of a file tells when it was last used; it is not written at every use.
fn note_use(file: &File) -> io::Result<()> {
    let now = SystemTime::now();
    let used = file.metadata()?.modified()?;
    if now.duration_since(used).is_ok_and(|unused| unused > USE_PRECISION) {
        // Only how long it is kept depends on it.
        let _ = file.set_modified(now);
    }
    Ok(())
}

fn is_unused_for(file: &Path, time: std::time::Duration) -> bool {
    let used = fs::metadata(file).and_then(|metadata| metadata.modified());
    used.is_ok_and(|used| used.elapsed().is_ok_and(|unused| unused > time))
}

fn failed(path: &Path, error: io::Error) -> StoreError {
    StoreError { path: path.to_path_buf(), kind: StoreErrorKind::from_io(error) }
}
