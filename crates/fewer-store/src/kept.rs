//! Large content that only saves work: each in a file of its own beside the database, read where it lies and written
//! once. Nothing recorded refers to it, so it may be lost, and whoever reads it checks that it is as it was written.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fewer_core::Digest;
use memmap2::Mmap;

use crate::blob::{UNREFERENCED_LIFE, USE_PRECISION};
use crate::error::{StoreError, StoreErrorKind};
use crate::store::Store;

impl Store {
    /// What was kept last under a key. A reader keeps what it has, whatever is kept meanwhile.
    pub fn kept(&self, key: Digest) -> Result<Option<Mmap>, StoreError> {
        let path = self.kept_directory().join(key.to_string());
        let content = || {
            let file = File::open(&path)?;
            note_use(&file)?;
            // SAFETY: the file is never written again under this name: another takes its place.
            unsafe { Mmap::map(&file) }
        };
        match content() {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, error)),
        }
    }

    /// Keeps content in place of what was kept under the key. After a power cut it may be gone, or damaged.
    pub fn keep(&self, key: Digest, content: &[u8]) -> Result<(), StoreError> {
        let directory = self.kept_directory();
        let write = || {
            fs::create_dir_all(&directory)?;
            let readable = Permissions::from_mode(0o666);
            let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(&directory)?;
            file.write_all(content)?;
            file.persist(directory.join(key.to_string()))?;
            Ok(())
        };
        write().map_err(|error| failed(&directory, error))
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
