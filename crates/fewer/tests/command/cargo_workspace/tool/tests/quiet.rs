//! A program with a main function of its own, which looks at no argument and prints nothing.

fn main() {
    let words = std::fs::read_to_string("words.txt").unwrap();
    assert_eq!(engine::limit() + words.trim_end().parse::<u32>().unwrap(), 10);
}
