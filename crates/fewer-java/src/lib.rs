//! Java, and other languages of the JVM from class files, to the graph of fewer.
//!
//! Two readers make class summaries: [`SourceReader`] with [`SourceProject`] from source, without a build, and
//! [`read_class_path`] from what a build left. A [`Program`] joins them with the inputs that are no classes into a
//! graph with its tests. It starts no process and knows no version control.

mod broken_source;
mod class_attributes;
mod class_code;
mod class_constants;
mod class_file;
mod class_graph;
mod class_loads;
pub mod class_path;
pub mod class_reader;
mod declarations;
mod java_lang;
mod member_graph;
mod member_world;
mod mention;
mod naming;
pub mod program;
pub mod source_facts;
mod source_mentions;
pub mod source_project;
pub mod source_reader;
mod source_summary;
pub mod summary;
mod syntax;
mod test_classes;
mod texts;
mod transliteration;

pub use class_path::{ClassPath, ClassPathError, ClassRoot, NoCache, SummaryCache, read_class_path};
pub use class_reader::read_class;
pub use program::{
    Analysed, Class, Dependencies, Input, InputKind, Level, Options, Program, Reflection, ToldTest,
};
pub use source_facts::SourceFacts;
pub use source_project::{SourceChange, SourceProject};
pub use source_reader::{SourceReader, read_source};
pub use summary::ClassSummary;
pub use test_classes::suspected_tests;
