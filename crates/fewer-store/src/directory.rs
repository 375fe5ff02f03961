//! The directory of the records, looked at before anything in it is opened: it must be the user's own, and hold nothing but
//! files and directories. What a checkout can bring along (links, for one) is refused, never followed.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, OFlags};

use crate::error::{StoreError, StoreErrorKind};
use crate::key::flags;

const IGNORE_FILE: &str = ".gitignore";
/// What others may not do with it.
const WRITABLE: u32 = 0o022;
const REACHABLE: u32 = 0o011;

/// The directory with its `.gitignore`, so that no store is ever committed; for the user alone, whatever the umask.
pub(crate) fn ensure(directory: &Path) -> Result<(), StoreError> {
    let failed = |error: io::Error| refused(directory, StoreErrorKind::from_io(error));
    if !examine(directory)? {
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    }
    rustix::fs::accessat(CWD, directory, Access::WRITE_OK, AtFlags::EACCESS)
        .map_err(|error| failed(error.into()))?;
    fs::set_permissions(directory, Permissions::from_mode(0o700)).map_err(failed)?;
    let ignore = directory.join(IGNORE_FILE);
    // Empty: its writer was killed. Anything else is the user's.
    if fs::symlink_metadata(&ignore).map_or(0, |metadata| metadata.len()) == 0 {
        open_private(&ignore).and_then(|mut file| file.write_all(b"*\n")).map_err(failed)?;
    }
    Ok(())
}

/// Whether the directory is there; an error where it, or something in it, may be of somebody else.
pub(crate) fn examine(directory: &Path) -> Result<bool, StoreError> {
    let metadata = match fs::symlink_metadata(directory) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(refused(directory, StoreErrorKind::from_io(error))),
    };
    if metadata.is_file() {
        return Err(refused(directory, StoreErrorKind::NotADirectory));
    }
    let is_reachable = metadata.mode() & REACHABLE != 0;
    if !metadata.is_dir() || metadata.mode() & WRITABLE != 0 {
        return Err(distrusted(directory, directory, &metadata));
    }
    require_own(directory, directory, &metadata)?;
    examine_below(directory, directory, is_reachable)?;
    Ok(true)
}

/// A file for the user alone, made where it is missing, never through a link, and with the content that it has.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK))
        .open(path)
}

/// Opens a file for reading, never through a link.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK)).open(path)
}

fn examine_below(top: &Path, directory: &Path, is_reachable: bool) -> Result<(), StoreError> {
    let failed = |error: io::Error| refused(top, StoreErrorKind::from_io(error));
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            // Another process is at work here.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error)),
        };
        let path = entry.path();
        let is_plain = metadata.is_file() || metadata.is_dir();
        if !is_plain || is_reachable && metadata.mode() & WRITABLE != 0 {
            return Err(distrusted(top, &path, &metadata));
        }
        require_own(top, &path, &metadata)?;
        if metadata.is_dir() {
            match examine_below(top, &path, is_reachable) {
                Err(StoreError { kind: StoreErrorKind::Io(error), .. })
                    if error.kind() == io::ErrorKind::NotFound => {}
                examined => examined?,
            }
        }
    }
    Ok(())
}

fn require_own(top: &Path, path: &Path, metadata: &Metadata) -> Result<(), StoreError> {
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() == user { Ok(()) } else { Err(distrusted(top, path, metadata)) }
}

fn distrusted(top: &Path, path: &Path, metadata: &Metadata) -> StoreError {
    let shown = top.display();
    let move_away = format!("look at what it is, then move it away: 'mv {shown} {shown}.old'");
    let (why, what_to_do) = if metadata.is_symlink() {
        ("is a link", move_away)
    } else if !metadata.is_file() && !metadata.is_dir() {
        ("is neither a file nor a directory", move_away)
    } else if metadata.mode() & WRITABLE != 0 {
        ("can be written by other users", format!("if nobody did, 'chmod -R go-rwx {shown}'"))
    } else {
        ("is another user's", format!("run fewer as that user, or move it away: 'mv {shown} {shown}.old'"))
    };
    refused(top, StoreErrorKind::Distrusted { why: format!("{} {why}", path.display()), what_to_do })
}

fn refused(directory: &Path, kind: StoreErrorKind) -> StoreError {
    StoreError { path: directory.to_path_buf(), kind }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn refusal(prepare: impl FnOnce(&Path)) -> String {
        let project = tempfile::tempdir().unwrap();
        let directory = project.path().join(".fewer");
        prepare(&directory);
        ensure(&directory).unwrap_err().to_string()
    }

    #[test]
    fn a_link_or_a_special_file_in_place_of_the_directory_or_in_it_is_refused() {
        let elsewhere = tempfile::tempdir().unwrap();
        let said = refusal(|directory| symlink(elsewhere.path(), directory).unwrap());
        assert!(said.contains(".fewer is a link") && said.contains("mv "), "{said}");
        for name in ["store.sqlite", "store.sqlite-wal", "store.lock", ".gitignore", "kept/0", "cargo/m"] {
            let target = elsewhere.path().join("absent");
            let said = refusal(|directory| {
                let link = directory.join(name);
                fs::create_dir_all(link.parent().unwrap()).unwrap();
                symlink(&target, link).unwrap();
            });
            assert!(said.contains(&format!("{name} is a link")), "{said}");
            assert!(!target.exists());
        }
        let said = refusal(|directory| {
            fs::create_dir(directory).unwrap();
            let path = directory.join("store.lock");
            rustix::fs::mknodat(CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        });
        assert!(said.contains("store.lock is neither a file nor a directory"), "{said}");
        let said = refusal(|directory| fs::write(directory, "in the way").unwrap());
        assert!(said.contains(".fewer is a file, not the directory"), "{said}");
    }

    #[test]
    fn what_others_can_write_is_refused_and_what_they_can_read_is_closed() {
        let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for mode in [0o777, 0o775, 0o757] {
            let said = refusal(|directory| {
                fs::create_dir(directory).unwrap();
                open(directory, mode);
            });
            assert!(
                said.contains("can be written by other users") && said.contains("chmod -R go-rwx"),
                "{said}"
            );
        }
        let said = refusal(|directory| {
            fs::create_dir(directory).unwrap();
            fs::write(directory.join("store.sqlite"), "").unwrap();
            open(&directory.join("store.sqlite"), 0o666);
            open(directory, 0o755);
        });
        assert!(said.contains("store.sqlite can be written by other users"), "{said}");
        let project = tempfile::tempdir().unwrap();
        let directory = project.path().join(".fewer");
        fs::create_dir(&directory).unwrap();
        open(&directory, 0o755);
        ensure(&directory).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&directory), mode(&directory.join(IGNORE_FILE))), (0o700, 0o600));
    }

    #[test]
    fn what_is_another_users_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let give_away = |path: &Path| std::os::unix::fs::chown(path, Some(65534), None).unwrap();
        let said = refusal(|directory| {
            fs::create_dir(directory).unwrap();
            give_away(directory);
        });
        assert!(
            said.contains(".fewer is another user's") && said.contains("run fewer as that user"),
            "{said}"
        );
        let said = refusal(|directory| {
            fs::create_dir(directory).unwrap();
            fs::write(directory.join("store.sqlite"), "").unwrap();
            give_away(&directory.join("store.sqlite"));
        });
        assert!(said.contains("store.sqlite is another user's"), "{said}");
    }
}
