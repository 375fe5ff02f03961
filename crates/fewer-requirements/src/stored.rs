//! Requirements as fewer keeps them: a line that names the format, a line of JSON about the tests, then names and
//! rows as varying-length numbers, and a digest of it all. Where the files are is the command's business.

use fewer_core::reduction::{MatrixBuilder, Names, RequirementKind, Suite};
use fewer_core::{Digest, Domain, TestId};
use serde::{Deserialize, Serialize};

const MAGIC: &[u8] = b"fewer-requirements/1\n";
const FAMILY: &[u8] = b"fewer-requirements/";
const CONTENT: Domain = Domain::new("requirements.stored");

/// A suite with where it comes from.
#[derive(Clone, PartialEq, Debug)]
pub struct Stored {
    pub source: Source,
    pub suite: Suite,
}

/// Where requirements come from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Source {
    /// The commit that was checked out, if the project is in git.
    pub commit: Option<String>,
    /// Whether the working tree differed from it.
    pub dirty: bool,
    /// When it was written. Example: `2026-11-15T20:15:04Z`.
    pub at: String,
    /// The files or programs. Example: `lcov coverage.info`.
    pub from: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    kind: RequirementKind,
    #[serde(flatten)]
    source: Source,
    requirements: u32,
    entries: usize,
    tests: Vec<HeaderTest>,
}

#[derive(Serialize, Deserialize)]
struct HeaderTest {
    id: TestId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration_s: Option<f64>,
}

impl Stored {
    pub fn encode(&self) -> Vec<u8> {
        let suite = &self.suite;
        let header = Header {
            kind: suite.kind,
            source: self.source.clone(),
            requirements: suite.matrix.requirements() as u32,
            entries: suite.matrix.entries(),
            tests: suite
                .tests
                .iter()
                .zip(&suite.durations)
                .map(|(id, &duration_s)| HeaderTest { id: id.clone(), duration_s })
                .collect(),
        };
        let mut bytes = MAGIC.to_vec();
        serde_json::to_writer(&mut bytes, &header).expect("a header is plain data");
        bytes.push(b'\n');
        for index in 0..suite.matrix.requirements() {
            let name = suite.requirement(index);
            put(&mut bytes, name.len() as u64);
            bytes.extend_from_slice(name.as_bytes());
        }
        for test in 0..suite.matrix.tests() {
            let row = suite.matrix.row(test);
            put(&mut bytes, row.len() as u64);
            let mut next = 0;
            for &requirement in row {
                put(&mut bytes, u64::from(requirement - next));
                next = requirement + 1;
            }
        }
        let digest = digest(&bytes);
        bytes.extend_from_slice(&digest.to_bytes());
        bytes
    }

    /// The inverse of [`Stored::encode`], or what is wrong with the bytes.
    pub fn decode(bytes: &[u8]) -> Result<Stored, String> {
        if !bytes.starts_with(MAGIC) {
            return Err(if bytes.starts_with(FAMILY) {
                "it was written by a newer fewer; update fewer, or import the requirements again".to_string()
            } else {
                "it holds no requirements".to_string()
            });
        }
        let damaged = || "it is damaged; import or collect the requirements again".to_string();
        let (body, trailer) = bytes.split_at_checked(bytes.len().saturating_sub(16)).ok_or_else(damaged)?;
        if trailer != digest(body).to_bytes() {
            return Err(damaged());
        }
        let rest = body.get(MAGIC.len()..).ok_or_else(damaged)?;
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
        let header: Header = serde_json::from_slice(&rest[..end]).map_err(|_| damaged())?;
        body_of(header, &rest[end + 1..]).ok_or_else(damaged)
    }
}

fn body_of(header: Header, mut bytes: &[u8]) -> Option<Stored> {
    // Nothing takes less than a byte: larger numbers are not asked memory for.
    if header.requirements as usize > bytes.len() || header.entries > bytes.len() {
        return None;
    }
    let mut requirements = Names::default();
    for _ in 0..header.requirements {
        let length = usize::try_from(get(&mut bytes)?).ok()?;
        let (name, rest) = bytes.split_at_checked(length)?;
        requirements.push(std::str::from_utf8(name).ok()?);
        bytes = rest;
    }
    let mut matrix = MatrixBuilder::with_capacity(header.requirements, header.tests.len(), header.entries);
    let mut row = Vec::new();
    for _ in &header.tests {
        row.clear();
        let mut next = 0u64;
        for _ in 0..get(&mut bytes)? {
            let requirement = next.checked_add(get(&mut bytes)?)?;
            row.push(
                u32::try_from(requirement).ok().filter(|&requirement| requirement < header.requirements)?,
            );
            next = requirement + 1;
        }
        matrix.test(&mut row);
    }
    let (tests, durations): (Vec<TestId>, Vec<Option<f64>>) =
        header.tests.into_iter().map(|test| (test.id, test.duration_s)).unzip();
    if !tests.is_sorted() || !bytes.is_empty() {
        return None;
    }
    let suite = Suite { kind: header.kind, tests, durations, requirements, matrix: matrix.finish() };
    Some(Stored { source: header.source, suite })
}

fn digest(bytes: &[u8]) -> Digest {
    Digest::of(CONTENT, bytes)
}

/// Seven bits a byte, the least first.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
