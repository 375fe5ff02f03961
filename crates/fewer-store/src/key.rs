//! The owner's key, by which records are known to be one's own. It lies in the user's state directory, never in a project:
//! what a checkout or an archive brings along cannot hold a record that it vouches for.

use std::env;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use fewer_core::KEY_VARIABLE;
use rustix::fs::OFlags;

const KEY_BYTES: usize = 32;
/// What people choose must not be guessed.
const SHORTEST_TEXT: usize = 32;
const DERIVED: &str = "fewer 2026-11 owner key from a text";

/// 32 secret bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnerKey([u8; KEY_BYTES]);

/// Why no key can be used, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct KeyError(String);

impl OwnerKey {
    /// The user's key, which is made where there is none yet.
    pub fn of_user() -> Result<OwnerKey, KeyError> {
        match OwnerKey::known()? {
            Some(key) => Ok(key),
            None => make(&key_file()?),
        }
    }

    /// The user's key; `None` where none was made yet. Makes nothing.
    pub fn known() -> Result<Option<OwnerKey>, KeyError> {
        match env::var_os(KEY_VARIABLE) {
            Some(text) => OwnerKey::from_text(&text.to_string_lossy()).map(Some),
            None => read(&key_file()?),
        }
    }

    /// The key that a text stands for: 64 hexadecimal digits are the key itself, as in the user's file.
    pub fn from_text(text: &str) -> Result<OwnerKey, KeyError> {
        let text = text.trim();
        if text.chars().count() < SHORTEST_TEXT {
            return Err(KeyError(format!(
                "{KEY_VARIABLE} has fewer than {SHORTEST_TEXT} characters, which could be guessed: give it a secret of at least \
                 so many, or unset it"
            )));
        }
        Ok(from_hexadecimal(text).unwrap_or_else(|| OwnerKey(blake3::derive_key(DERIVED, text.as_bytes()))))
    }

    /// A key that nobody has and that is never kept: nothing recorded before is known by it.
    pub fn passing() -> io::Result<OwnerKey> {
        let mut bytes = [0; KEY_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(OwnerKey(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    fn to_hexadecimal(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Never shown.
impl fmt::Debug for OwnerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnerKey")
    }
}

fn from_hexadecimal(text: &str) -> Option<OwnerKey> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let byte = |pair: &[u8; 2]| {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()
    };
    let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
    bytes.try_into().ok().map(OwnerKey)
}

/// Example: `~/.local/state/fewer/key`.
fn key_file() -> Result<PathBuf, KeyError> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    state.map(|state| state.join("fewer/key")).ok_or_else(|| {
        KeyError(format!(
            "there is no place for the key of your records: set HOME, XDG_STATE_HOME or {KEY_VARIABLE}"
        ))
    })
}

fn read(path: &Path) -> Result<Option<OwnerKey>, KeyError> {
    let opened =
        OpenOptions::new().read(true).custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK)).open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(path, &error.to_string())),
    };
    let directory = path.parent().unwrap_or(path);
    let of_directory = fs::metadata(directory).map_err(|error| unusable(directory, &error.to_string()))?;
    check(directory, &of_directory, 0o022)?;
    let metadata = file.metadata().map_err(|error| unusable(path, &error.to_string()))?;
    if !metadata.is_file() {
        return Err(unusable(path, "it is not a file"));
    }
    check(path, &metadata, 0o077)?;
    let mut text = String::new();
    let length = (&mut file).take(4096).read_to_string(&mut text);
    length.map_err(|error| unusable(path, &error.to_string()))?;
    from_hexadecimal(text.trim())
        .map(Some)
        .ok_or_else(|| unusable(path, "it does not hold 64 hexadecimal digits"))
}

/// An error where it is another's, or open to others beyond what a mode forbids.
fn check(path: &Path, metadata: &fs::Metadata, forbidden: u32) -> Result<(), KeyError> {
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(unusable(path, "it is another user's"));
    }
    if metadata.mode() & forbidden != 0 {
        let path = path.display();
        return Err(KeyError(format!(
            "the key of your records cannot be used: others have access to {path}. If nobody used it, 'chmod go-rwx {path}'; else \
             remove it, and a new one is made"
        )));
    }
    Ok(())
}

/// Under another name first: whoever finds the key finds all of it. Of two processes one makes it.
fn make(path: &Path) -> Result<OwnerKey, KeyError> {
    let write = || -> io::Result<OwnerKey> {
        let directory = path.parent().unwrap_or(path);
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let key = OwnerKey::passing()?;
        let private = Permissions::from_mode(0o600);
        let mut file = tempfile::Builder::new().permissions(private).tempfile_in(directory)?;
        file.write_all(format!("{}\n", key.to_hexadecimal()).as_bytes())?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path)?;
        Ok(key)
    };
    match write() {
        Ok(key) => Ok(key),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read(path)?.ok_or_else(|| unusable(path, "it was removed while it was read"))
        }
        Err(error) => Err(unusable(path, &error.to_string())),
    }
}

fn unusable(path: &Path, why: &str) -> KeyError {
    KeyError(format!(
        "the key of your records, {}, cannot be used: {why}. Remove it (a new one is made), or set {KEY_VARIABLE}",
        path.display()
    ))
}

/// Flags as the standard library takes them.
pub(crate) fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A place for a key whose directory is not there yet.
    fn place() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state/fewer/key");
        (directory, path)
    }

    #[test]
    fn a_key_is_made_once_for_its_owner_alone() {
        let (_directory, path) = place();
        assert_eq!(read(&path).unwrap(), None);
        let key = make(&path).unwrap();
        assert_eq!(make(&path).unwrap(), key);
        assert_eq!(read(&path).unwrap(), Some(key.clone()));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(OwnerKey::from_text(&fs::read_to_string(&path).unwrap()).unwrap(), key);
        assert_ne!(OwnerKey::passing().unwrap(), key);
    }

    #[test]
    fn a_key_that_others_can_read_or_write_or_that_is_a_link_is_refused() {
        for mode in [0o640, 0o604, 0o620, 0o602] {
            let (_directory, path) = place();
            make(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let refusal = read(&path).unwrap_err().to_string();
            assert!(
                refusal.contains("others have access to") && refusal.contains("chmod go-rwx"),
                "{refusal}"
            );
        }
        let (_directory, path) = place();
        make(&path).unwrap();
        fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o777)).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("others have access"));
        let (_directory, path) = place();
        make(&path).unwrap();
        fs::rename(&path, path.with_file_name("elsewhere")).unwrap();
        symlink("elsewhere", &path).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("cannot be used"));
        fs::remove_file(&path).unwrap();
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.unwrap().write_all(b"cafe").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("64 hexadecimal digits"));
    }

    #[test]
    fn a_text_that_could_be_guessed_is_no_key() {
        assert!(OwnerKey::from_text("secret").unwrap_err().to_string().contains("fewer than 32 characters"));
        let text = "0123456789abcdef".repeat(4);
        assert_eq!(OwnerKey::from_text(&text).unwrap().to_hexadecimal(), text);
        let (one, other) = (OwnerKey::from_text(&"x".repeat(32)), OwnerKey::from_text(&"y".repeat(32)));
        assert_ne!(one.unwrap(), other.unwrap());
        assert_eq!(format!("{:?}", OwnerKey::passing().unwrap()), "OwnerKey");
    }
}
