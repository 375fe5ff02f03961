//! The bitcode reader against the real compilers: what its content covers and what it does not, which references it
//! finds, and what it makes of damaged files.

mod compilers;
mod content;
mod damage;
mod machine_code;
mod programs;
mod references;
