//! What the contract suite is made of: its cases, the compilers that build them, and the programs that come
//! out. What the cases expect is written in `testdata/cpp/contract`, never here.

pub mod analysis;
pub mod case;
pub mod program;
pub mod toolchain;
pub mod workshop;
