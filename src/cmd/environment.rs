//! Values from the environment in arguments and files, so that secrets can stay out of them.

use super::usage;
use pipewright_io::report::Failure;

/// Replaces `${NAME}` and `${NAME:-default}` from the environment.
///
/// # Errors
/// The name of a variable that is not set.
pub fn expand(text: &str) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else { break };
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        out.push_str(before);
        match (std::env::var(name), otherwise) {
            (Ok(value), _) => out.push_str(&value),
            (Err(_), Some(otherwise)) => out.push_str(otherwise),
            (Err(_), None) => return Err(format!("${{{name}}} is not set in the environment")),
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// Reads a header, `Name: value`, whose value may have variables. `option` is for messages.
///
/// # Errors
/// [`usage`], without the value.
pub fn header(option: &str, text: &str) -> Result<(String, String), Failure> {
    let wrong = |why: &str| usage(format_args!("{option}: {why}"));
    let (name, value) = text.split_once(':').ok_or_else(|| wrong("expected 'Name: value'"))?;
    Ok((name.trim().to_owned(), expand(value.trim()).map_err(|why| wrong(&why))?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced() {
        assert_eq!(expand("a ${PATH} b").unwrap(), format!("a {} b", std::env::var("PATH").unwrap()));
        assert_eq!(expand("${NO_SUCH_VARIABLE:-x}${NO_SUCH_VARIABLE:-}$y${").unwrap(), "x$y${");
        assert!(expand("${NO_SUCH_VARIABLE}").unwrap_err().contains("NO_SUCH_VARIABLE"));
    }
}
