//! Reading files that anybody may have written: regular files only, so that no FIFO, device or socket is waited
//! for; with a bound on what is held in memory; digests in pieces. What the bytes mean is told elsewhere.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use fewer_core::{Digest, DigestBuilder, DigestStream, Domain};

/// The largest file that is read as a whole: reports, sources, settings, classes and jars are far smaller.
pub const LARGEST: u64 = 128 << 20;

/// How much is held of a file whose digest is wanted.
const PIECE: usize = 256 << 10;

const IRREGULAR: Domain = Domain::new("file.irregular");

/// A regular file, or a link to one. Anything else is an error, and is not waited for.
pub fn open(path: &Path) -> io::Result<File> {
    regular(&fs::metadata(path)?)?;
    // What is there may have been replaced meanwhile; without waiting, even a FIFO can be looked at.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// All bytes of a regular file of at most [`LARGEST`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, LARGEST)
}

/// All bytes of a regular file that is not larger than this.
pub fn read_at_most(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(size.min(largest) as usize);
    // It may grow while it is read.
    if size <= largest {
        file.take(largest + 1).read_to_end(&mut bytes)?;
    }
    if size.max(bytes.len() as u64) > largest {
        let problem = format!("it is larger than {} MB, which is more than is read", largest >> 20);
        return Err(io::Error::new(ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// The text of a regular file of at most [`LARGEST`].
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let bytes = read(path)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// The digest of a regular file's bytes, however large it is.
pub fn digest(domain: Domain, path: &Path) -> io::Result<Digest> {
    digest_of(domain, open(path)?)
}

/// The digest of what is left of a file.
pub fn digest_of(domain: Domain, file: File) -> io::Result<Digest> {
    let size = file.metadata()?.len();
    digest_of_stream(domain, file, size)
}

/// The digest of what is left of something to read, which as a rule is not more than this.
pub fn digest_of_stream(domain: Domain, mut from: impl Read, size: u64) -> io::Result<Digest> {
    let mut stream = DigestStream::new(domain);
    let mut piece = vec![0; (size as usize).clamp(1, PIECE)];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(stream.finish()),
            Ok(read) => stream.push(&piece[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What stands for whatever is at a path: the digest of its bytes, or of what is there instead of a file that can be
/// read. `None` if nothing is there.
pub fn digest_of_anything(domain: Domain, path: &Path) -> Option<Digest> {
    match digest(domain, path) {
        Ok(digest) => Some(digest),
        Err(_) => fs::symlink_metadata(path).is_ok().then(|| digest_of_irregular(path)),
    }
}

/// The first bytes of a regular file.
pub fn beginning(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(most);
    open(path)?.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether there is something that is not read as a whole, whatever it holds: no regular file, or a very large one.
pub fn is_unreadable(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::FileTooLarge | ErrorKind::InvalidInput | ErrorKind::IsADirectory)
}

/// What stands for a path that has no content: where it leads, if it is a link, and what is there.
pub fn digest_of_irregular(path: &Path) -> Digest {
    let mut digest = DigestBuilder::new(IRREGULAR);
    let target = fs::read_link(path).unwrap_or_default();
    digest.bytes(target.as_os_str().as_encoded_bytes());
    digest.text(fs::metadata(path).map_or("nothing", |metadata| kind(&metadata))).finish()
}

fn regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let problem = format!("it is {}, not a regular file", kind(metadata));
    let is_directory = metadata.is_dir();
    Err(io::Error::new(if is_directory { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput }, problem))
}

fn kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    match () {
        () if kind.is_file() => "a regular file",
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a FIFO",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const DOMAIN: Domain = Domain::new("test");

    #[test]
    fn a_fifo_and_a_device_are_refused_without_waiting() {
        let directory = tempfile::tempdir().unwrap();
        let (fifo, zero) = (directory.path().join("fifo"), directory.path().join("zero"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
        symlink("/dev/zero", &zero).unwrap();
        assert_eq!(read(&fifo).unwrap_err().to_string(), "it is a FIFO, not a regular file");
        assert_eq!(digest(DOMAIN, &zero).unwrap_err().to_string(), "it is a device, not a regular file");
        assert_eq!(beginning(&zero, 16).unwrap_err().to_string(), "it is a device, not a regular file");
        assert_ne!(digest_of_irregular(&fifo), digest_of_irregular(&zero));
        assert_eq!(digest_of_anything(DOMAIN, &fifo), Some(digest_of_irregular(&fifo)));
        assert_eq!(digest_of_anything(DOMAIN, &directory.path().join("nothing")), None);
        let error = read(&fifo).unwrap_err();
        assert!(is_unreadable(&error), "{error:?}");
    }

    #[test]
    fn a_file_beyond_the_bound_is_refused_and_has_a_digest() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("large");
        fs::write(&path, vec![7; 2 * PIECE + 1]).unwrap();
        let problem = read_at_most(&path, PIECE as u64).unwrap_err();
        assert_eq!(problem.kind(), ErrorKind::FileTooLarge);
        let all = read(&path).unwrap();
        assert_eq!(digest(DOMAIN, &path).unwrap(), Digest::of(DOMAIN, &all));
        assert_eq!(read_at_most(&path, all.len() as u64).unwrap().len(), all.len());
    }
}
