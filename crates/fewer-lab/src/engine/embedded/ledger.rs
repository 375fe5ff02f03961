//! Which stages are done in a work directory, and of what: a run that was stopped goes on after the last of them, and
//! another history or another experiment starts where it differs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::Stage;
use crate::error::LabError;

const FORMAT: &str = "fewer-simulate-work/2";
const FILE: &str = "stages.json";

/// The record of a work directory.
pub struct Ledger {
    directory: PathBuf,
    content: Content,
}

#[derive(Serialize, Deserialize)]
struct Content {
    format: String,
    stages: BTreeMap<Stage, Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    /// What the stage was done of.
    of: String,
    result: serde_json::Value,
}

impl Ledger {
    /// Opens a work directory, or makes one. One that is somebody else's is refused.
    pub fn open(directory: &Path) -> Result<Ledger, LabError> {
        fs::create_dir_all(directory).map_err(LabError::io("create", directory))?;
        let path = directory.join(FILE);
        let content = match fs::read(&path) {
            Ok(text) => {
                serde_json::from_slice(&text).ok().filter(|content: &Content| content.format == FORMAT)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let mut entries = fs::read_dir(directory).map_err(LabError::io("read", directory))?;
                if entries.next().is_some() {
                    let problem =
                        "it is not empty and holds no work of an earlier run; name another directory for it";
                    return Err(LabError::Input {
                        path: directory.to_path_buf(),
                        problem: problem.to_string(),
                    });
                }
                None
            }
            Err(error) => return Err(LabError::io("read", &path)(error)),
        };
        let content =
            content.unwrap_or_else(|| Content { format: FORMAT.to_string(), stages: BTreeMap::new() });
        let ledger = Ledger { directory: directory.to_path_buf(), content };
        ledger.save()?;
        Ok(ledger)
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The result of a stage, if it was done of the same.
    pub fn result<T: DeserializeOwned>(&self, stage: Stage, of: &str) -> Option<T> {
        let entry = self.content.stages.get(&stage).filter(|entry| entry.of == of)?;
        serde_json::from_value(entry.result.clone()).ok()
    }

    /// Notes that a stage is done, and that later ones have to be done again.
    pub fn record(&mut self, stage: Stage, of: &str, result: &impl Serialize) -> Result<(), LabError> {
        let result = serde_json::to_value(result).expect("results of stages are plain data");
        self.content.stages.retain(|&other, _| other < stage);
        self.content.stages.insert(stage, Entry { of: of.to_string(), result });
        self.save()
    }

    fn save(&self) -> Result<(), LabError> {
        let path = self.directory.join(FILE);
        let new = self.directory.join("stages.json.new");
        let text = serde_json::to_vec_pretty(&self.content).expect("a ledger is plain data");
        fs::write(&new, text).map_err(LabError::io("write", &new))?;
        fs::rename(&new, &path).map_err(LabError::io("write", &path))
    }
}
