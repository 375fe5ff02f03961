//! What the tests share: cases of the contract, jars from Maven's local repository, and trees compiled and run by
//! one Java process.

// Each test crate uses a part of it.
#![allow(dead_code)]

pub mod case;
pub mod jars;
pub mod programs;
pub mod trees;
