//! The embedded database of fewer, `.fewer/store.sqlite`: recorded states, runs and outcomes, and cached content
//! by digest (summaries, listings). Beside it, in `.fewer/kept`, what only saves work.
//!
//! Owns the schema, its migrations, durability and what may be dropped. It decides nothing: `fewer-core` plans
//! over the records given here, and the command says what is stored and when.
//!
//! ```
//! use fewer_core::{Digest, Outcome, TestId, Verdict};
//! use fewer_store::{OwnerKey, RunEnd, RunInfo, StateRecord, Store};
//!
//! # let project = tempfile::tempdir()?;
//! let store = Store::open(&project.path().join(".fewer"), OwnerKey::passing()?)?;
//! let test = TestId::new("tests/core_test", "Lexer.SkipsBlanks");
//! let fingerprint = Digest(7);
//! let state = store.record_state(&StateRecord {
//!     commit: Some("0123456789abcdef".into()),
//!     dirty: false,
//!     worktree: Digest(1),
//!     manifest: Vec::new(),
//!     snapshot: [(test.clone(), fingerprint)].into(),
//! })?;
//! let run = store.begin_run(state, &RunInfo::now("build-host", "fewer run"))?;
//! let outcome = Outcome { verdict: Verdict::Passed, duration_s: 0.1, output_tail: String::new() };
//! store.record_outcomes(run, &[(test.clone(), fingerprint, outcome)])?;
//! store.finish_run(run, RunEnd::Completed)?;
//!
//! let records = store.records(&[(test.clone(), fingerprint)])?;
//! assert_eq!(records[&test].same_fingerprint[0].verdict, Verdict::Passed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blob;
mod chunk;
mod column;
mod creation;
mod directory;
mod error;
mod gc;
mod kept;
mod key;
mod owner;
mod patience;
mod record;
mod run;
mod schema;
mod seal;
mod state;
mod status;
mod store;

pub use error::{StoreError, StoreErrorKind};
pub use gc::{GcOptions, GcReport};
pub use key::{KeyError, OwnerKey};
pub use patience::Teller;
pub use run::{OUTPUT_TAIL_LIMIT, RunEnd, RunId, RunInfo};
pub use schema::SCHEMA_VERSION;
pub use state::{ManifestEntry, StateId, StateInfo, StateRecord};
pub use status::{FlakyTest, RunStatus, Status};
pub use store::Store;
