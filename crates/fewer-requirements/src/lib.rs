//! Which test covers which statement or kills which mutant, read from what other tools write, matched to fewer's
//! own test ids and kept in a file form of its own. What is done with it is `fewer-core`'s business; running tests
//! to find it out is the command's.
//!
//! ```
//! use fewer_requirements::{Format, KnownTests};
//! let tracefile = b"TN:Lexer_SkipsBlanks\nSF:/p/src/lexer.cpp\nDA:7,1\nDA:8,0\nend_of_record\n";
//! let findings = Format::Lcov.parse("coverage.info".as_ref(), tracefile)?;
//! let known = KnownTests::new(["core_test::Lexer.SkipsBlanks".parse().unwrap()]);
//! let matched = findings.matched(|name| known.find(name).into_iter().collect());
//! assert_eq!(matched.suite.matrix.entries(), 1);
//! # Ok::<(), fewer_requirements::RequirementsError>(())
//! ```

mod cargo_mutants;
mod coverage_py;
mod error;
mod findings;
mod format;
mod gcov;
mod jacoco;
mod lcov;
mod own_code;
mod pit;
mod stored;
mod stryker;
mod table;
mod test_names;
mod xml;

pub use error::RequirementsError;
pub use findings::{Findings, Matched};
pub use format::Format;
pub use gcov::parse as parse_gcov;
pub use lcov::covered_lines;
pub use own_code::OwnCode;
pub use stored::{Source, Stored};
pub use test_names::KnownTests;
