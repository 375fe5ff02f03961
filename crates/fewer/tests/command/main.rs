//! The real `fewer` on small real projects, built with the real tools in temporary copies.

mod affected;
mod budget;
mod build_systems;
mod documents;
mod evidence;
mod example;
mod failures;
mod history;
mod history_experiments;
mod interruption;
mod java;
mod java_compare;
mod java_run;
mod lifecycle;
mod projects;
mod reduce;
mod rust_nextest;
mod rust_run;
mod rust_workspace;
mod security;
mod setup;
mod simulate;
mod stale;
mod vanished;
mod verdicts;
mod workshop;
