//! Functions that code calls without naming them: what the compiler's own operations become in the end.

/// What going on with an exception calls.
pub const RESUME: &[u8] = b"_Unwind_Resume";

/// Operations of memory and mathematics that have a function of the same name behind them.
const OPERATIONS: [(&str, &str); 33] = [
    ("memcpy", "memcpy"),
    ("memmove", "memmove"),
    ("memset", "memset"),
    ("sqrt", "sqrt"),
    ("sin", "sin"),
    ("cos", "cos"),
    ("tan", "tan"),
    ("asin", "asin"),
    ("acos", "acos"),
    ("atan", "atan"),
    ("sinh", "sinh"),
    ("cosh", "cosh"),
    ("tanh", "tanh"),
    ("atan2", "atan2"),
    ("pow", "pow"),
    ("exp", "exp"),
    ("exp2", "exp2"),
    ("exp10", "exp10"),
    ("log", "log"),
    ("log2", "log2"),
    ("log10", "log10"),
    ("fma", "fma"),
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("trunc", "trunc"),
    ("rint", "rint"),
    ("nearbyint", "nearbyint"),
    ("round", "round"),
    ("roundeven", "roundeven"),
    ("lround", "lround"),
    ("lrint", "lrint"),
    ("minnum", "fmin"),
    ("maxnum", "fmax"),
];

/// The function that a call of an operation may become. Example: `llvm.sin.f32` becomes `sinf`.
pub fn function_behind(name: &[u8]) -> Option<Vec<u8>> {
    let name = std::str::from_utf8(name.strip_prefix(b"llvm.")?).ok()?;
    let (operation, rest) = name.split_once('.')?;
    let (_, function) = OPERATIONS.iter().find(|(known, _)| *known == operation)?;
    if function.starts_with("mem") {
        return Some(function.as_bytes().to_vec());
    }
    let suffix = match rest.rsplit('.').next() {
        Some("f32") => "f",
        Some("f80" | "f128" | "ppcf128") => "l",
        Some(_) | None => "",
    };
    Some(format!("{function}{suffix}").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_lead_to_the_functions_they_become() {
        let behind =
            |name: &str| function_behind(name.as_bytes()).map(|name| String::from_utf8(name).unwrap());
        assert_eq!(behind("llvm.memcpy.p0i8.p0i8.i64").as_deref(), Some("memcpy"));
        assert_eq!(behind("llvm.memset.p0.i64").as_deref(), Some("memset"));
        assert_eq!(behind("llvm.sin.f32").as_deref(), Some("sinf"));
        assert_eq!(behind("llvm.pow.f64").as_deref(), Some("pow"));
        assert_eq!(behind("llvm.lifetime.start.p0"), None);
        assert_eq!(behind("memcpy"), None);
    }
}
