//! A temporary directory that is locked as long as its maker lives. Whoever makes one beside it removes those whose maker is
//! gone: never through a link, and never what is another user's.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

/// Another may take a new directory for an abandoned one before it is locked.
const ATTEMPTS: usize = 100;

/// Those of this process, for an end that drops nothing.
static HELD: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

#[derive(Debug)]
pub struct HeldDirectory {
    directory: TempDir,
    /// Locked.
    _held: File,
    /// Removed with the last that is in it.
    parent: Option<PathBuf>,
}

impl HeldDirectory {
    /// One whose name begins with `prefix`, for this user alone.
    pub fn new_in(parent: &Path, prefix: &str) -> io::Result<HeldDirectory> {
        remove_abandoned(parent, prefix);
        for _ in 0..ATTEMPTS {
            let private = Permissions::from_mode(0o700);
            let made = tempfile::Builder::new().prefix(prefix).permissions(private).tempdir_in(parent);
            let directory = match made {
                Ok(directory) => directory,
                // The last user of the parent has just removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound && is_users(parent) => {
                    make_private(parent)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some(held) = lock(directory.path()) else { continue };
            let is_there = fs::symlink_metadata(directory.path())
                .is_ok_and(|found| held.metadata().is_ok_and(|held| held.ino() == found.ino()));
            if is_there {
                let parent = is_users(parent).then(|| parent.to_path_buf());
                all_held(|all| all.push(directory.path().to_path_buf()));
                return Ok(HeldDirectory { directory, _held: held, parent });
            }
        }
        Err(io::Error::other(format!("new directories in {} are removed at once", parent.display())))
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for HeldDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.directory.path());
        all_held(|all| all.retain(|path| path != self.directory.path()));
        if let Some(parent) = &self.parent {
            // Not if there is anything in it.
            let _ = fs::remove_dir(parent);
        }
    }
}

/// Whatever this process holds. What is still being written there may stay, for the next start.
pub(crate) fn remove_held() {
    all_held(|all| {
        for directory in all.iter() {
            let _ = fs::remove_dir_all(directory);
        }
    });
}

fn all_held(change: impl FnOnce(&mut Vec<PathBuf>)) {
    change(&mut HELD.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
}

/// Where this user's temporary directories are; `None` if somebody else was there before.
pub(crate) fn directory_of_user() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let directory = std::path::absolute(std::env::temp_dir()).ok()?.join(format!("fewer-{user}"));
    make_private(&directory).ok()?;
    let found = fs::symlink_metadata(&directory).ok()?;
    let is_private = found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0;
    is_private.then_some(directory)
}

/// Removes what begins with `prefix` and has no maker any more.
pub(crate) fn remove_abandoned(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes())
            && let Some(_held) = lock(&entry.path())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// `None` if it is held, is no directory, or is another user's.
fn lock(path: &Path) -> Option<File> {
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let directory = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let is_own = directory.metadata().ok()?.uid() == rustix::process::geteuid().as_raw();
    (is_own && flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok()).then_some(directory)
}

fn make_private(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn is_users(directory: &Path) -> bool {
    directory
        .file_name()
        .is_some_and(|name| name.to_str() == Some(&format!("fewer-{}", rustix::process::geteuid().as_raw())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_held_stays_and_what_nobody_holds_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let held = HeldDirectory::new_in(parent.path(), "fewer-").unwrap();
        fs::write(held.path().join("file"), "").unwrap();
        fs::create_dir_all(parent.path().join("fewer-abandoned/with/more")).unwrap();
        fs::create_dir(parent.path().join("other")).unwrap();
        let another = HeldDirectory::new_in(parent.path(), "fewer-").unwrap();
        assert!(held.path().join("file").exists());
        assert_eq!(another.path().metadata().unwrap().mode() & 0o777, 0o700);
        assert!(!parent.path().join("fewer-abandoned").exists());
        drop((held, another));
        let left: Vec<_> =
            fs::read_dir(parent.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["other"]);
    }

    #[test]
    fn links_files_and_what_is_another_users_are_left_alone() {
        let (parent, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join("file"), "").unwrap();
        symlink(elsewhere.path(), parent.path().join("link")).unwrap();
        fs::write(parent.path().join("plain"), "").unwrap();
        fs::create_dir(parent.path().join("abandoned")).unwrap();
        symlink(elsewhere.path(), parent.path().join("abandoned/link")).unwrap();
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            fs::create_dir(parent.path().join("strange")).unwrap();
            std::os::unix::fs::chown(parent.path().join("strange"), Some(12345), None).unwrap();
        }
        remove_abandoned(parent.path(), "");
        assert!(elsewhere.path().join("file").exists());
        assert!(parent.path().join("link").is_symlink() && parent.path().join("plain").is_file());
        assert!(!parent.path().join("abandoned").exists());
        assert_eq!(parent.path().join("strange").exists(), is_root);
    }

    #[test]
    fn many_that_begin_at_once_do_not_remove_each_others() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let held = HeldDirectory::new_in(parent.path(), "").unwrap();
                        fs::write(held.path().join("file"), "").unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
