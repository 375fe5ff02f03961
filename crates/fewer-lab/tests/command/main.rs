//! The real `fewer-lab`, as `fewer simulate` starts it.

mod desk;
mod kernels;
mod simulate;
mod spark;
