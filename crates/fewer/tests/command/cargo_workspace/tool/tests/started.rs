//! A test that starts the program of its package.

#[test]
fn prints() {
    let program = std::env::var_os("CARGO_BIN_EXE_tool").expect("cargo tells where the program is");
    assert_eq!(std::process::Command::new(program).output().unwrap().stdout, b"8\n");
    assert!(std::env::var_os("CARGO").is_some());
}
