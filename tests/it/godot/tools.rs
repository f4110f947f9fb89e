//! The listed tools of a Godot game are the commands that the addon declares.

use super::{Game, bridge, small_game};
use pipewright_games::godot::tools;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Keys of an object, or the strings of an array.
fn names(value: &Value) -> BTreeSet<&str> {
    match value {
        Value::Object(fields) => fields.keys().map(String::as_str).collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::new(),
    }
}

/// The JSON Schema type of an argument that the addon declares as `kind`; `None` if it may be anything.
fn type_of(kind: &str) -> Option<&str> {
    match kind {
        "int" => Some("integer"),
        "float" => Some("number"),
        "bool" => Some("boolean"),
        "string" | "array" | "object" => Some(kind),
        "any" | "value" => None,
        _ => panic!("the addon has a new kind of argument: {kind}"),
    }
}

#[test]
fn the_arguments_of_each_listed_tool_have_a_valid_schema() {
    for tool in tools() {
        let schema: Value = serde_json::from_str(tool.input_schema).unwrap();
        let (mut compiler, mut schemas) = (boon::Compiler::new(), boon::Schemas::new());
        compiler.add_resource("pipewright:/tool", schema.clone()).unwrap();
        let compiled = compiler.compile("pipewright:/tool", &mut schemas).unwrap_or_else(|error| panic!("{error:#}"));
        let is_taken = |arguments: &Value| schemas.validate(arguments, compiled).is_ok();
        assert_eq!(is_taken(&json!({})), names(&schema["required"]).is_empty(), "{}", tool.name);
        assert!(!is_taken(&json!([])), "{}", tool.name);
        let is_default_taken = |(name, about): (&String, &Value)| match &about["default"] {
            Value::Null => true,
            default => !is_taken(&json!({})) || is_taken(&json!({name: default})),
        };
        let mut properties = schema["properties"].as_object().into_iter().flatten();
        assert!(properties.all(is_default_taken), "{}", tool.name);
    }
}

/// A game in which every command exists.
fn play() -> (Game, tempfile::TempDir) {
    let folder = small_game("extends Control\n");
    (Game::start(bridge(folder.path()).arg("--allow-edit")), folder)
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_listed_tools_are_all_the_commands_that_the_addon_has() {
    let (mut game, _folder) = play();
    let hello = game.data("hello", json!({}));
    let listed: Vec<&str> = tools().map(|tool| tool.name).collect();
    assert_eq!(names(&hello["commands"]), listed.iter().copied().collect());
    assert_eq!(hello["commands"].as_array().unwrap().len(), listed.len(), "none is listed twice");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_listed_arguments_are_those_that_the_addon_declares() {
    let (mut game, _folder) = play();
    for tool in tools() {
        let schema: Value = serde_json::from_str(tool.input_schema).unwrap();
        let (code, answer) = game.refusal(tool.name, json!({"no such argument": 1}));
        assert_eq!(code, "INVALID_ARGS", "{answer}");
        let declared = answer["details"]["args"].as_object().unwrap();

        let mut listed = names(&schema["properties"]);
        // Every command takes a timeout, which the addon removes before it checks the others.
        listed.remove("timeout");
        assert_eq!(listed, declared.keys().map(String::as_str).collect(), "{}", tool.name);
        let required = declared.iter().filter(|(_, kind)| !kind.as_str().unwrap().ends_with('?'));
        assert_eq!(names(&schema["required"]), required.map(|(name, _)| name.as_str()).collect(), "{}", tool.name);
        for (name, kind) in declared {
            if let Some(kind) = type_of(kind.as_str().unwrap().trim_end_matches('?')) {
                assert_eq!(schema["properties"][name]["type"], kind, "{} of {}", name, tool.name);
            }
        }
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_call_without_a_required_argument_is_refused_and_one_with_the_required_alone_is_not() {
    let (mut game, _folder) = play();
    for tool in tools() {
        let schema: Value = serde_json::from_str(tool.input_schema).unwrap();
        let required = names(&schema["required"]);
        let argument = |name: &str| match &schema["properties"][name]["type"] {
            kind if kind == "integer" || kind == "number" => json!(1),
            _ => json!("/root"),
        };
        for missing in &required {
            let others = required.iter().filter(|name| *name != missing);
            let arguments: Value = others.map(|name| ((*name).to_owned(), argument(name))).collect();
            let (code, answer) = game.refusal(tool.name, arguments);
            assert_eq!(code, "INVALID_ARGS", "{answer}");
            assert_eq!(answer["error"], format!("{} needs the argument {missing}", tool.name));
        }
        // Some take one of several arguments, which a schema's `required` cannot express.
        if ["click", "expect", "wait_for", "quit"].contains(&tool.name) {
            continue;
        }
        let arguments: Value = required.iter().map(|name| ((*name).to_owned(), argument(name))).collect();
        let answer = game.ask(tool.name, arguments);
        let why = answer["error"].as_str().unwrap_or_default();
        assert!(!why.contains("needs the argument") && !why.contains("must be"), "{answer}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_listed_choices_are_those_that_the_addon_takes() {
    let (mut game, _folder) = play();
    let schema = |name: &str| -> Value {
        serde_json::from_str(tools().find(|tool| tool.name == name).unwrap().input_schema).unwrap()
    };
    let (_, answer) = game.refusal("wait_for", json!({"selector": "/root", "state": "x"}));
    let states = answer["hint"].as_str().unwrap().trim_start_matches("states are ");
    assert_eq!(names(&schema("wait_for")["properties"]["state"]["enum"]), states.split(", ").collect());
    for button in names(&schema("click")["properties"]["button"]["enum"]) {
        let place = game.data("click", json!({"position": [9, 9], "button": button}));
        assert_eq!(place["position"], json!([9.0, 9.0]));
    }
    let (code, _) = game.refusal("click", json!({"position": [9, 9], "button": "x"}));
    assert_eq!(code, "INVALID_ARGS");
}
