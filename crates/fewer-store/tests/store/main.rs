//! The store as its users see it: real files, real processes, real lack of space. One binary, as every binary
//! links SQLite.

mod blobs;
mod gc;
mod kept;
mod opening;
mod outcomes;
mod owner;
mod processes;
mod project;
mod space;
mod states;
mod status;
