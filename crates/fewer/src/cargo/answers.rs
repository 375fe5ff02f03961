//! What cargo and rustc tell when they are asked about a project: in its directory they start what its files name (compilers,
//! wrappers, toolchains). A command that starts nothing of the project takes what they told at the last run.

use std::path::PathBuf;

use anyhow::bail;
use fewer_runners::cargo::{Cargo, Configuration, Packages};
use serde::{Deserialize, Serialize};

use super::built::BUILD_FIRST;
use crate::records::ANSWERS_FILE;
use crate::session::{Session, Starts};

#[derive(PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// Where they were asked.
    directory: PathBuf,
    pub packages: Packages,
    /// The compiler's description of itself.
    pub version: String,
    /// Where the compiler's own libraries are.
    pub libraries: PathBuf,
    pub configuration: Configuration,
}

impl Answers {
    /// Asked, or as it was told last.
    pub fn of(session: &Session<'_>, cargo: &Cargo) -> anyhow::Result<Answers> {
        let kept = || -> Option<Answers> { serde_json::from_slice(&session.kept(ANSWERS_FILE)?).ok() };
        match session.starts {
            Starts::Project => {
                let answers = Answers::asked(cargo)?;
                if kept().as_ref() != Some(&answers) {
                    session.keep(ANSWERS_FILE, &serde_json::to_vec(&answers)?)?;
                }
                Ok(answers)
            }
            Starts::Nothing => match kept() {
                Some(kept) if kept.directory == cargo.directory => Ok(kept),
                Some(_) => bail!("what cargo told about its build is of another directory: {BUILD_FIRST}"),
                None => bail!("what cargo told of the packages here is not known: {BUILD_FIRST}"),
            },
        }
    }

    fn asked(cargo: &Cargo) -> anyhow::Result<Answers> {
        let packages = cargo.packages()?;
        let (version, libraries) = cargo.compiler()?;
        let configuration = Configuration::read(cargo, &version)?;
        Ok(Answers { directory: cargo.directory.clone(), packages, version, libraries, configuration })
    }
}
