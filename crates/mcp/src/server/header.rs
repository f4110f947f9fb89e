//! The HTTP headers that repeat fields of a request (2026-07-28, Streamable HTTP, "Request Metadata"): a server must
//! refuse a request whose headers differ from its body.

use super::{LEGACY_VERSIONS, RpcError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pipewright_record::Fields;
use serde_json::value::RawValue;

/// The name of a header in lower case, and its value.
pub type Header = (String, String);

/// MCP's code for headers that are missing or differ from the body.
const HEADER_MISMATCH: i64 = -32020;

/// Whether the header alone puts a request into the modern era. A request without the header has version 2025-03-26.
pub(super) fn names_modern_version(headers: &[Header]) -> bool {
    value(headers, "mcp-protocol-version").is_ok_and(|version| version.is_some_and(|it| !LEGACY_VERSIONS.contains(&it)))
}

/// Checks the headers for the version, the method, and the name of the tool or resource against the body.
pub(super) fn check_standard(
    headers: &[Header],
    version: &str,
    method: &str,
    name: Option<&str>,
) -> Result<(), RpcError> {
    for (header, expected) in [("mcp-protocol-version", version), ("mcp-method", method)] {
        match value(headers, header)? {
            Some(found) if found == expected => {}
            found => return Err(mismatch(header, found, expected)),
        }
    }
    let Some(name) = name else { return Ok(()) };
    let found = value(headers, "mcp-name")?;
    match found.and_then(decoded) {
        Some(decoded) if decoded == name => Ok(()),
        _ => Err(mismatch("mcp-name", found, name)),
    }
}

/// Checks the `Mcp-Param-*` headers against the arguments that a tool's schema marks with `x-mcp-header`.
pub(super) fn check_parameters(headers: &[Header], schema: &str, arguments: Option<&RawValue>) -> Result<(), RpcError> {
    // Few schemas contain the mark.
    if !schema.contains("x-mcp-header") {
        return Ok(());
    }
    check_properties(headers, schema, arguments)
}

/// Marked properties are found through `properties` only, at any depth.
fn check_properties(headers: &[Header], schema: &str, arguments: Option<&RawValue>) -> Result<(), RpcError> {
    let properties = Fields::read(schema).ok().and_then(|schema| Fields::read(schema.get("properties")?.get()).ok());
    let Some(properties) = properties else { return Ok(()) };
    let arguments = arguments.and_then(|arguments| Fields::read(arguments.get()).ok());
    for (name, property) in properties.iter() {
        let argument = arguments.as_ref().and_then(|arguments| arguments.get(name));
        let argument = argument.filter(|argument| argument.get() != "null");
        let mark = Fields::read(property.get()).ok().and_then(|property| property.get("x-mcp-header"));
        if let Some(mark) = mark.and_then(|mark| serde_json::from_str::<String>(mark.get()).ok()) {
            let header = format!("mcp-param-{}", mark.to_ascii_lowercase());
            check_parameter(&header, value(headers, &header)?, argument)?;
        }
        check_properties(headers, property.get(), argument)?;
    }
    Ok(())
}

fn check_parameter(header: &str, found: Option<&str>, argument: Option<&RawValue>) -> Result<(), RpcError> {
    let expected = argument
        .map(|argument| serde_json::from_str::<String>(argument.get()).unwrap_or_else(|_| argument.get().to_owned()));
    let is_same = match (&expected, found.map(decoded)) {
        (None, None) => true,
        (Some(expected), Some(Some(found))) => found == *expected || is_same_number(&found, expected),
        _ => false,
    };
    if is_same { Ok(()) } else { Err(mismatch(header, found, expected.as_deref().unwrap_or("nothing"))) }
}

/// 42 and 42.0 are the same integer.
fn is_same_number(one: &str, other: &str) -> bool {
    matches!((one.parse::<f64>(), other.parse::<f64>()), (Ok(one), Ok(other)) if one == other)
}

/// A header's value. A repeated header is refused, since two readers could use different values.
fn value<'a>(headers: &'a [Header], name: &str) -> Result<Option<&'a str>, RpcError> {
    let mut values = headers.iter().filter(|(key, _)| key == name).map(|(_, value)| value.trim());
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(RpcError::new(HEADER_MISMATCH, format!("the header {name} is repeated"))),
    }
}

/// Decodes `=?base64?...?=`, which stands for text that a header cannot carry.
fn decoded(value: &str) -> Option<String> {
    let Some(encoded) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(value.to_owned());
    };
    STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

fn mismatch(header: &str, found: Option<&str>, expected: &str) -> RpcError {
    let found = found.map_or("is missing".to_owned(), |found| format!("is {found:?}"));
    RpcError::new(HEADER_MISMATCH, format!("the header {header} {found}, but the body has {expected:?}"))
}
