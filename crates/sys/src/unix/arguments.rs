//! Arguments of programs, which need not be text.

use memchr::memmem;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Whether the argument contains the text.
pub fn contains(argument: &OsStr, text: &str) -> bool {
    memmem::find(argument.as_bytes(), text.as_bytes()).is_some()
}

/// The argument with another text in place of each occurrence of `placeholder`.
pub fn replaced(argument: &OsStr, placeholder: &str, text: &str) -> OsString {
    let (mut rest, mut replaced) = (argument.as_bytes(), Vec::new());
    while let Some(at) = memmem::find(rest, placeholder.as_bytes()) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(text.as_bytes());
        rest = &rest[at + placeholder.len()..];
    }
    replaced.extend_from_slice(rest);
    OsString::from_vec(replaced)
}

/// The value of `--option=value`: what follows the first `=`, or all of an argument without one.
pub fn value(argument: &OsStr) -> &OsStr {
    let bytes = argument.as_bytes();
    OsStr::from_bytes(bytes.splitn(2, |byte| *byte == b'=').last().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_text_stays() {
        let argument = OsStr::from_bytes(b"--log=\xff/{id}.{id}");
        assert!(contains(argument, "{id}") && !contains(argument, "{}"));
        let replaced = replaced(argument, "{id}", "7");
        assert_eq!(replaced.as_bytes(), b"--log=\xff/7.7");
        assert_eq!(value(&replaced).as_bytes(), b"\xff/7.7");
        assert_eq!(value(OsStr::new("plain")), "plain");
    }
}
