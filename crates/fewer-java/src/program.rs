//! A program: its classes, from either reader, with everything else its tests depend on, and how to look at it.
//! Joining them into a graph is done per level.

use std::sync::Arc;

use fewer_core::{Digest, Graph, TestId};
use serde::{Deserialize, Serialize};

use crate::class_graph::class_graph;
use crate::member_graph::member_graph;
use crate::summary::ClassSummary;
use crate::test_classes::test_classes;

/// A class and the module it belongs to.
#[derive(Clone, Debug)]
pub struct Class {
    pub module: Arc<str>,
    pub summary: Arc<ClassSummary>,
}

/// Which references count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Dependencies {
    /// FEST: hidden references too: names in strings, what is loaded by computed names, services, resources.
    #[default]
    Full,
    /// ClassSRTS: the class firewall, from what the code names as a class.
    Firewall,
}

/// What the elements are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Level {
    #[default]
    Class,
    /// Methods, fields and initialisers.
    Member,
}

/// What a call like `Class.forName(name)` can load when the name is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Reflection {
    /// Any class of the project.
    #[default]
    Everything,
    /// Only what is named by a string constant or a class literal somewhere in reach. Faster, and right where
    /// no name is put together from parts or read from outside.
    Named,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Options {
    pub dependencies: Dependencies,
    pub level: Level,
    pub reflection: Reflection,
}

/// Something that is not a class and that tests depend on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Input {
    /// As people know it: a path, `JDK`...
    pub name: String,
    pub digest: Digest,
    pub kind: InputKind,
    /// `None`: every module.
    pub module: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum InputKind {
    /// A file on the class path, or one that tests read: used by the classes whose string constants name it, by
    /// all tests of the module if none does.
    Resource,
    /// `META-INF/services/SERVICE`: used by whoever uses the service.
    Service { service: String, providers: Vec<String> },
    /// A build file, a lock file, the versions of the JDK and of dependencies: used by all tests of the module.
    Setting,
}

impl InputKind {
    /// What a file is, by its path and content.
    pub fn of_file(path: &str, content: &[u8]) -> InputKind {
        let Some((_, service)) = path.rsplit_once("META-INF/services/") else { return InputKind::Resource };
        let text = String::from_utf8_lossy(content);
        let providers = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or("").trim().to_string())
            .filter(|provider| !provider.is_empty())
            .collect();
        InputKind::Service { service: service.to_string(), providers }
    }
}

/// Classes and inputs of one state.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub classes: Vec<Class>,
    pub inputs: Vec<Input>,
}

/// A test of which nothing in its classes tells that it is one: somebody else knows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToldTest {
    pub id: TestId,
    /// Indexes of its classes; what is nested in them counts too.
    pub classes: Vec<u32>,
}

/// The graph of a program, and what could not be seen, in words.
#[derive(Clone, Debug)]
pub struct Analysed {
    pub graph: Graph,
    pub notes: Vec<String>,
}

impl Program {
    pub fn analyse(&self, options: Options) -> Analysed {
        self.analyse_told(options, &[])
    }

    /// With tests that cannot be seen beside those that can.
    pub fn analyse_told(&self, options: Options, told: &[ToldTest]) -> Analysed {
        let tests = test_classes(&self.classes, told);
        match options.level {
            Level::Class => class_graph(self, options, tests),
            Level::Member => member_graph(self, options, tests),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_services_file_names_its_service_and_providers() {
        let kind = InputKind::of_file(
            "core/src/main/resources/META-INF/services/p.Codec",
            b"# ours\np.Fast # quick\n\n p.Slow\n",
        );
        let providers = vec!["p.Fast".to_string(), "p.Slow".to_string()];
        assert_eq!(kind, InputKind::Service { service: "p.Codec".into(), providers });
        assert_eq!(InputKind::of_file("a/b.txt", b""), InputKind::Resource);
    }
}
