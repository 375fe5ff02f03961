//! What Java files say, read once per blob: from the store where it is known, else from git, in parallel. What is new
//! goes to the store from time to time.

use std::collections::HashMap;
use std::sync::Arc;

use fewer_core::{Digest, DigestBuilder, Domain};
use fewer_git::{Blobs, HistoryError, ObjectHash, Repository};
use fewer_java::source_facts::SOURCE_FACTS_VERSION;
use fewer_java::{SourceFacts, SourceReader};
use rayon::prelude::*;

use crate::session::Session;

const FACTS: Domain = Domain::new("java.facts");
/// The kind under which the store keeps them.
const KIND: &str = "java-facts";
/// At most so many files are read again when the process is killed.
const KEEP_FILES: usize = 512;

pub struct FactsReader<'s> {
    session: &'s Session<'s>,
    blobs: Blobs,
    /// Not in the store yet.
    fresh: HashMap<Digest, Arc<SourceFacts>>,
    /// Files that were parsed.
    pub parsed: usize,
}

impl<'s> FactsReader<'s> {
    pub fn new(session: &'s Session<'s>, repository: &Repository) -> anyhow::Result<FactsReader<'s>> {
        Ok(FactsReader { session, blobs: repository.blobs()?, fresh: HashMap::new(), parsed: 0 })
    }

    /// What each of these blobs says.
    pub fn facts(&mut self, blobs: &[ObjectHash]) -> anyhow::Result<HashMap<ObjectHash, Arc<SourceFacts>>> {
        let mut known: HashMap<ObjectHash, Arc<SourceFacts>> = HashMap::with_capacity(blobs.len());
        let mut wanted: HashMap<Digest, ObjectHash> = HashMap::new();
        for &blob in blobs {
            match self.fresh.get(&key(blob)) {
                Some(facts) => drop(known.insert(blob, Arc::clone(facts))),
                None => drop(wanted.insert(key(blob), blob)),
            }
        }
        let keys: Vec<Digest> = wanted.keys().copied().collect();
        let stored = self.session.store().blobs(KIND, &keys)?;
        let decoded: Vec<(Digest, SourceFacts)> = stored
            .into_par_iter()
            .filter_map(|(key, content)| Some((key, SourceFacts::decode(&content)?)))
            .collect();
        for (key, facts) in decoded {
            known.extend(wanted.remove(&key).map(|blob| (blob, Arc::new(facts))));
        }
        let mut missing: Vec<ObjectHash> = wanted.into_values().collect();
        missing.sort_unstable();
        for some in missing.chunks(KEEP_FILES) {
            known.extend(self.parse(some)?);
        }
        Ok(known)
    }

    /// The content of a blob, which must be there.
    pub fn content(&mut self, blob: ObjectHash) -> anyhow::Result<Vec<u8>> {
        Ok(self.blobs.read(blob)?.ok_or_else(|| absent(blob))?)
    }

    /// Stores what is new.
    pub fn keep(&mut self) -> anyhow::Result<()> {
        let fresh: Vec<(Digest, Arc<SourceFacts>)> = self.fresh.drain().collect();
        let encoded: Vec<(Digest, Vec<u8>)> =
            fresh.into_par_iter().map(|(key, facts)| (key, facts.encode())).collect();
        Ok(self.session.store().put_blobs(KIND, &encoded)?)
    }

    fn parse(&mut self, blobs: &[ObjectHash]) -> anyhow::Result<Vec<(ObjectHash, Arc<SourceFacts>)>> {
        self.session.go_on()?;
        let mut contents = Vec::with_capacity(blobs.len());
        self.blobs.read_all(blobs, |blob, content| contents.push((blob, content)))?;
        if let Some((blob, _)) = contents.iter().find(|(_, content)| content.is_none()) {
            return Err(absent(*blob).into());
        }
        let facts: Vec<(ObjectHash, Arc<SourceFacts>)> = contents
            .into_par_iter()
            .map_init(SourceReader::new, |reader, (blob, content)| {
                (blob, Arc::new(reader.read(&content.unwrap_or_default())))
            })
            .collect();
        self.parsed += facts.len();
        self.fresh.extend(facts.iter().map(|(blob, facts)| (key(*blob), Arc::clone(facts))));
        if self.fresh.len() >= KEEP_FILES {
            self.keep()?;
        }
        Ok(facts)
    }
}

fn key(blob: ObjectHash) -> Digest {
    DigestBuilder::new(FACTS).number(SOURCE_FACTS_VERSION.into()).bytes(blob.as_bytes()).finish()
}

fn absent(blob: ObjectHash) -> HistoryError {
    HistoryError::MissingObject(blob.to_string())
}
