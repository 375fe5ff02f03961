//! Starting builds and tests, timeouts, parallelism, reading results. It emits [`Event`]s and prints nothing;
//! which tests run and what is remembered of them is decided elsewhere.
//!
//! A run of GoogleTest programs:
//!
//! ```no_run
//! use std::num::NonZeroUsize;
//! use std::time::Duration;
//! use fewer_runners::{Cancel, Event, Job, RunOptions, TestProgram, googletest, run};
//!
//! let cancel = Cancel::new();
//! let program = TestProgram::new("unit/core_test", "build/unit/core_test", "build/unit");
//! let listed = googletest::list(&program, Duration::from_secs(60), &cancel)?;
//! let tests = listed.iter().map(|test| googletest::SelectedTest::new(&test.name, None)).collect();
//! let selection = googletest::Selection::new(program, tests);
//! let options = RunOptions { workers: NonZeroUsize::new(4).unwrap(), cancel, ..RunOptions::default() };
//! let jobs = googletest::plan_shards(vec![selection], options.workers).into_iter().map(Job::Shard).collect();
//! let end = run(jobs, &options, &mut |event| match event {
//!     Event::TestFinished(result) => { /* record result.test and result.outcome */ }
//!     Event::TestStarted { .. } | Event::TestEnded { .. } => {}
//!     Event::ProcessFailed(_) | Event::Indivisible(_) => {}
//! });
//! assert!(end.success());
//! # Ok::<(), googletest::ListError>(())
//! ```

pub mod build;
mod cancel;
pub mod cargo;
pub mod command;
pub mod ctest;
mod event;
pub mod googletest;
pub mod java;
mod junit;
mod lines;
mod process;
mod program;
mod transcript;
mod workers;

pub use cancel::Cancel;
pub use event::{CaseResult, Event, Indivisible, ProcessFailure, RunEnd, TestResult};
pub use program::{Claims, TestProgram, is_takeover_variable};
pub use workers::{Job, RunOptions, run};
