//! What the schemas say about values that several records share, and that the types of records have as text or as unparsed JSON.

use schemars::JsonSchema;
use serde_json::{Map, Value};

/// Any JSON value that the caller chooses. Answers have it unchanged, with every digit. Records about a call without an id have none.
#[derive(JsonSchema)]
#[schemars(rename = "id", with = "Value")]
pub struct Id;

/// By name. If left out, an empty object.
#[derive(JsonSchema)]
#[schemars(rename = "arguments", with = "Map<String, Value>")]
pub struct Arguments;

/// A gate's decision on a call. policy-check overwrites the caller's value. Without policy-check in front of it, hitl-gate shows the
/// value that it gets.
#[derive(JsonSchema)]
#[schemars(
    rename = "policy",
    with = "Value",
    extend(
        "if" = { "type": "object", "required": ["verdict"] },
        "then" = { "$ref": "#/$defs/decision" }
    )
)]
pub struct Policy;

/// Of the bytes of the arguments in the call; of `{}` if they are left out.
#[derive(JsonSchema)]
#[schemars(rename = "sha256", with = "str", extend("pattern" = "^[0-9a-f]{64}$"))]
pub struct Sha256;

// The definition also has what only readers accept, and is written by hand.
/// The element that a call acts on.
#[derive(JsonSchema)]
#[schemars(inline, with = "Value", extend("$ref" = "definitions.json#/$defs/target"))]
pub struct Target;

/// RFC 3339, in UTC, with microseconds.
#[derive(JsonSchema)]
#[schemars(
    rename = "time",
    with = "str",
    extend("pattern" = r"^-?[0-9]{4,6}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$")
)]
pub struct Time;

/// Random, and new for each question. An answer must have it.
#[derive(JsonSchema)]
#[schemars(rename = "nonce", with = "str")]
pub struct Nonce;
