//! Cached content by kind and digest. What the bytes mean is the business of whoever stores them.

use std::collections::HashMap;
use std::time::Duration;

use fewer_core::Digest;
use jiff::Timestamp;
use rusqlite::blob::{Blob, ZeroBlob};
use rusqlite::{Connection, OptionalExtension, ToSql, params};

use crate::column::{Key, MacBytes, Moment};
use crate::error::{StoreError, StoreErrorKind};
use crate::owner::Record;
use crate::seal::{Mac, Seal};
use crate::store::Store;

/// How long a blob that no state refers to is kept after it was last stored or read. Within this time whoever
/// used it records a state with it, or does not.
pub(crate) const UNREFERENCED_LIFE: Duration = Duration::from_secs(24 * 3600);
/// How exactly it is known when a blob was last used: it is not written at every use.
pub(crate) const USE_PRECISION: Duration = Duration::from_secs(12 * 3600);
/// Content of this size is written into room made for it: as a parameter it would be copied twice on its way.
const LARGE: usize = 1 << 20;

impl Store {
    /// The blobs of a kind that are there, by key. A key without a blob is not in the result.
    pub fn blobs(&self, kind: &str, keys: &[Digest]) -> Result<HashMap<Digest, Vec<u8>>, StoreError> {
        self.used(kind, keys, |connection, found| {
            let (mut handle, mut blobs) = (None, HashMap::with_capacity(found.len()));
            for row in found {
                let content = content(connection, row.id, &mut handle)?;
                if self.owner.vouches(
                    Record::Blob(row.id),
                    row.mac,
                    self.owner.seal.blob(kind, row.key, &content),
                ) {
                    blobs.insert(row.key, content);
                }
            }
            Ok(blobs)
        })
    }

    /// Whether there is a blob of the kind under each of the keys. They then count as used.
    pub fn has_blobs(&self, kind: &str, keys: &[Digest]) -> Result<bool, StoreError> {
        self.used(kind, keys, |_, found| Ok(found.len() == keys.len()))
    }

    /// Finds the rows of blobs, and notes that they are used.
    fn used<T>(
        &self,
        kind: &str,
        keys: &[Digest],
        read: impl Fn(&Connection, &[BlobRow]) -> Result<T, StoreErrorKind>,
    ) -> Result<T, StoreError> {
        let mut outdated = Vec::new();
        let result = self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT blob.id, blob_use.used_at, blob.mac
                 FROM blob LEFT JOIN blob_use ON blob_use.blob = blob.id
                 WHERE blob.kind = ? AND blob.key = ?",
            )?;
            let fresh = fresh_since();
            let mut rows = Vec::with_capacity(keys.len());
            for &key in keys {
                let found = statement
                    .query_row(params![kind, Key(key)], |row| {
                        let used_at: Option<Moment> = row.get(1)?;
                        let mac: MacBytes = row.get(2)?;
                        Ok((BlobRow { key, id: row.get(0)?, mac: mac.0 }, used_at))
                    })
                    .optional()?;
                if let Some((row, used_at)) = found {
                    if used_at.is_none_or(|used_at| used_at < fresh) {
                        outdated.push(row.id);
                    }
                    rows.push(row);
                }
            }
            read(connection, &rows)
        })?;
        if !outdated.is_empty() {
            // Only how long they are kept depends on it: a store that cannot be written now is still read.
            let _ = self.write(|connection| touch(connection, &outdated));
        }
        Ok(result)
    }

    /// Stores blobs of a kind, all or none. What is there with the same content is left as it
    /// is, and counts as used; anything else was written by another, and loses its place.
    pub fn put_blobs(&self, kind: &str, blobs: &[(Digest, Vec<u8>)]) -> Result<(), StoreError> {
        if blobs.is_empty() {
            return Ok(());
        }
        self.write(|connection| {
            let mut find = connection.prepare_cached(
                "SELECT id FROM blob WHERE kind = ? AND key = ? AND mac = ? AND content = ?",
            )?;
            let mut ids = Vec::with_capacity(blobs.len());
            for (key, content) in blobs {
                let mac = MacBytes(self.owner.seal.blob(kind, *key, content));
                let found =
                    find.query_row(params![kind, Key(*key), mac, content], |row| row.get(0)).optional()?;
                ids.push(match found {
                    Some(id) => id,
                    None => put(connection, &self.owner.seal, kind, *key, content)?,
                });
            }
            touch(connection, &ids)
        })
    }

    /// Stores blobs of a kind, all or none, in place of what is there under the same keys: for what is kept under
    /// another key than the digest of its content. On the disk with the next thing that must be there: until then
    /// nothing refers to it, and whoever asks for it can make it again.
    pub fn replace_blobs(&self, kind: &str, blobs: &[(Digest, Vec<u8>)]) -> Result<(), StoreError> {
        if blobs.is_empty() {
            return Ok(());
        }
        self.write_without_waiting(|connection| {
            let put =
                |(key, content): &(Digest, Vec<u8>)| put(connection, &self.owner.seal, kind, *key, content);
            let ids = blobs.iter().map(put).collect::<Result<Vec<i64>, StoreErrorKind>>()?;
            touch(connection, &ids)
        })
    }
}

/// Where a blob is, and who is said to have written it.
struct BlobRow {
    key: Digest,
    id: i64,
    mac: Mac,
}

/// The content of a row, which may be large: as a column it would be copied once more. One handle serves for many.
fn content<'c>(
    connection: &'c Connection,
    id: i64,
    handle: &mut Option<Blob<'c>>,
) -> Result<Vec<u8>, StoreErrorKind> {
    let blob = match handle {
        Some(blob) => {
            blob.reopen(id)?;
            blob
        }
        None => handle.insert(connection.blob_open("main", "blob", "content", id, true)?),
    };
    let mut content = vec![0; blob.len()];
    blob.read_at_exact(&mut content, 0)?;
    Ok(content)
}

/// Writes one blob, in place of another with the same key; gives its row.
fn put(
    connection: &Connection,
    seal: &Seal,
    kind: &str,
    key: Digest,
    content: &[u8],
) -> Result<i64, StoreErrorKind> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO blob (kind, key, stored_at, mac, content) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (kind, key) DO UPDATE SET stored_at = excluded.stored_at, mac = excluded.mac,
            content = excluded.content
         RETURNING id",
    )?;
    let is_large = content.len() >= LARGE;
    let mac = MacBytes(seal.blob(kind, key, content));
    let room = ZeroBlob(content.len() as u64);
    let value: &dyn ToSql = if is_large { &room } else { &content };
    let id = statement.query_row(params![kind, Key(key), Moment::now(), mac, value], |row| row.get(0))?;
    if is_large {
        connection.blob_open("main", "blob", "content", id, false)?.write_all_at(content, 0)?;
    }
    Ok(id)
}

/// The moment before which a use has to be written again.
fn fresh_since() -> Moment {
    Moment(Timestamp::now().saturating_sub(USE_PRECISION).unwrap_or(Timestamp::MIN))
}

fn touch(connection: &Connection, ids: &[i64]) -> Result<(), StoreErrorKind> {
    let now = Moment::now();
    // The blob may have been dropped since it was read.
    let mut statement = connection.prepare_cached(
        "INSERT INTO blob_use (blob, used_at) SELECT id, ? FROM blob WHERE id = ?
         ON CONFLICT (blob) DO UPDATE SET used_at = excluded.used_at",
    )?;
    for id in ids {
        statement.execute(params![now, id])?;
    }
    Ok(())
}
