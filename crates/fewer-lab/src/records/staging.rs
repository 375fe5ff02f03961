//! A directory that appears as a whole or not at all: it is written beside its place and moved there when everything
//! is in it. What is dropped before is removed.

use std::fs;
use std::path::{Path, PathBuf};

use fewer_lifetime::HeldDirectory;

use crate::error::LabError;

/// An output directory in the making.
#[derive(Debug)]
pub struct Staging {
    output: PathBuf,
    holder: HeldDirectory,
    content: PathBuf,
}

impl Staging {
    /// For a directory that is not there yet.
    pub fn new(output: &Path) -> Result<Staging, LabError> {
        if output.symlink_metadata().is_ok() {
            return Err(LabError::OutputExists(output.to_path_buf()));
        }
        let parent = match output.parent() {
            Some(parent) if parent != Path::new("") => parent,
            Some(_) | None => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(LabError::io("create", parent))?;
        let holder = HeldDirectory::new_in(parent, ".fewer-simulate-");
        let holder = holder.map_err(LabError::io("write into", parent))?;
        // The holder is private; what is inside has the permissions that new directories have.
        let content = holder.path().join("content");
        fs::create_dir(&content).map_err(LabError::io("create", &content))?;
        Ok(Staging { output: output.to_path_buf(), holder, content })
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        &self.content
    }

    pub fn publish(self) -> Result<(), LabError> {
        let Staging { output, holder, content } = self;
        fs::rename(&content, &output).map_err(LabError::io("move the result to", &output))?;
        // Only an empty directory is left.
        drop(holder);
        Ok(())
    }
}
