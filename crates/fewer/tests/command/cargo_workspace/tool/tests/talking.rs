//! The same, but it prints something.

fn main() {
    println!("the volume is {}", engine::volume());
}
