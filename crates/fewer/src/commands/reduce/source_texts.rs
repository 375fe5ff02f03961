//! What the lines say that were counted. A comment moves lines and leaves the code, and so the fingerprints of tests,
//! as they are; what was counted before it is then of other lines.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use fewer_core::{Digest, DigestBuilder, Domain};

const LINE: Domain = Domain::new("reduce.line");
const LINES: Domain = Domain::new("reduce.lines");

/// The sources of a project; every file is read once.
pub struct SourceTexts {
    root: PathBuf,
    files: Mutex<HashMap<String, Arc<[Digest]>>>,
}

impl SourceTexts {
    /// Of the project in that directory.
    pub fn below(root: PathBuf) -> SourceTexts {
        SourceTexts { root, files: Mutex::default() }
    }

    /// What these lines say, by file. A line that is not there says nothing.
    pub fn digest(&self, lines: &BTreeMap<String, Vec<u64>>) -> String {
        let mut digest = DigestBuilder::new(LINES);
        for (file, numbers) in lines {
            let texts = self.of(file);
            digest.text(file).number(numbers.len() as u64);
            for number in numbers {
                let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
                digest.digest(texts.get(index).copied().unwrap_or(Digest(0)));
            }
        }
        digest.finish().to_string()
    }

    fn of(&self, file: &str) -> Arc<[Digest]> {
        let mut files = self.files.lock().expect("no thread panics while it reads a file");
        let texts = files.entry(file.to_string()).or_insert_with(|| {
            let text = fewer_files::read(&self.root.join(file)).unwrap_or_default();
            text.split(|&byte| byte == b'\n').map(|line| Digest::of(LINE, line)).collect()
        });
        texts.clone()
    }
}
