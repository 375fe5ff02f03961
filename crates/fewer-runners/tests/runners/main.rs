//! Everything the runners do, with real GoogleTest programs, real `ctest` and real processes.

mod build;
mod command;
mod ctest;
mod fixture;
mod listing;
mod processes;
mod sharding;
mod verdicts;
