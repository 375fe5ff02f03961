//! The commands, one file each: options in, exit code out.

pub mod affected;
mod affected_cargo;
mod affected_java;
pub mod doctor;
pub mod forget;
pub mod gc;
pub mod history;
pub mod init;
pub mod manual;
pub mod reduce;
pub mod run;
pub mod select;
pub mod status;
pub mod why;
