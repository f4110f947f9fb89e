//! `fill` and `set_value`: texts, numbers, toggles, colours and the cells of a tree.

use super::Game;
use super::actions::{CONTROLS, happened};
use serde_json::{Value, json};

/// Executes a command; returns its data and the events of the game.
fn act(game: &mut Game, command: &str, arguments: Value) -> (Value, Vec<String>) {
    let answer = game.ask(command, arguments);
    assert_eq!(answer["ok"], true, "{command}: {answer}");
    (answer["data"].clone(), happened(&answer))
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_text_replaces_the_old_one() {
    let (mut game, _folder) = Game::play(CONTROLS);
    for (path, text, shown, noticed) in [
        ("#Line", "Ada L", "Ada L", "line Ada L"),
        ("#Line", "", "", "line "),
        ("#Text", "if x:\n\ty", "if x:\n\ty", "text"),
        ("#Text", "", "", "text"),
        ("#Spin", "7", "7 kg", "spin 7.0"),
    ] {
        let (data, events) = act(&mut game, "fill", json!({"path": path, "text": text}));
        assert_eq!((&data["text"], events.last().unwrap().as_str()), (&json!(shown), noticed), "{path}: {events:?}");
    }
    for (path, text, code, reason) in [
        ("#Fixed", "x", "NOT_ACTIONABLE", json!("disabled")),
        ("#Slider", "x", "NOT_ACTIONABLE", json!("not_a_control")),
        ("#Line", "two\nlines", "INVALID_ARGS", Value::Null),
    ] {
        let (refused, answer) = game.refusal("fill", json!({"path": path, "text": text}));
        assert_eq!((refused.as_str(), &answer["details"]["reason"]), (code, &reason), "{answer}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_file_name_is_entered_in_a_file_dialog() {
    let (mut game, _folder) = Game::play(CONTROLS);
    game.data("press_button", json!({"path": "#Save"}));
    assert_eq!(act(&mut game, "fill", json!({"path": "#Files", "text": "a.sav"})).0["text"], "a.sav");
    let answer = game.ask("press_button", json!({"path": "#Files Button:text(\"Save\")"}));
    assert_eq!(happened(&answer), ["file user://a.sav"]);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_value_is_set_with_the_same_signals_as_by_a_player() {
    let (mut game, _folder) = Game::play(CONTROLS);
    for (path, value, field, noticed) in [
        ("#Slider", json!(0.37), "value", vec!["drag started", "slider 0.37", "drag ended true"]),
        ("#Spin", json!(42), "value", vec!["spin 42.0"]),
        ("#Scroll", json!(42), "value", vec!["scroll 42.0"]),
        ("#Check", json!(true), "pressed", vec!["check true"]),
        ("#Check", json!(true), "pressed", vec![]),
        ("#Check", json!(false), "pressed", vec!["check false"]),
        ("#Colour", json!("#ff8000"), "value", vec!["colour (1.0, 0.502, 0.0, 1.0)"]),
    ] {
        let (data, events) = act(&mut game, "set_value", json!({"path": path, "value": value}));
        let expected = if path == "#Colour" { json!("#ff8000ff") } else { value };
        assert_eq!(data[field].as_f64(), expected.as_f64(), "{path}: {data}");
        assert_eq!(data[field].as_bool(), expected.as_bool(), "{path}: {data}");
        assert_eq!(events, noticed, "{path}");
    }
    let (_, events) = act(&mut game, "set_value", json!({"path": "#Upright", "value": 77}));
    assert_eq!(events.last().unwrap(), "upright 77.0", "a pixel is more than a step");
    for (path, value, code) in [
        ("#Slider", json!(2), "INVALID_ARGS"),
        ("#Slider", json!("x"), "INVALID_ARGS"),
        ("#Check", json!(1), "INVALID_ARGS"),
        ("#Colour", json!("no colour"), "INVALID_ARGS"),
        ("#Progress", json!(1), "NOT_ACTIONABLE"),
        ("#Tree", json!(1), "INVALID_ARGS"),
    ] {
        assert_eq!(game.refusal("set_value", json!({"path": path, "value": value})).0, code, "{path} {value}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_cells_of_a_tree_are_edited() {
    let (mut game, _folder) = Game::play(CONTROLS);
    for (command, item, key, value, edited) in [
        ("fill", "Armour/Sword", "text", json!("99"), "edited Sword 1"),
        ("set_value", "Weapons/Sword", "value", json!("8"), "edited Sword 1"),
        ("set_value", "Flag", "value", json!(true), "edited Flag 1"),
        ("set_value", "Amount", "value", json!(6), "edited Amount 1"),
    ] {
        let arguments = json!({"path": "#Tree", "item": item, "column": 1, key: value});
        let (_, events) = act(&mut game, command, arguments);
        assert_eq!(
            events.iter().filter(|event| event.starts_with("edited")).collect::<Vec<_>>(),
            [edited],
            "{events:?}"
        );
    }
    let items = game.data("get_property", json!({"path": "#Tree", "property": "items"}))["value"].take();
    assert!(items[1] == "Weapons/Sword | 8" && items[4] == "Armour/Sword | 99", "{items}");
    let cells = game.data("get_property", json!({"path": "/root/Main", "property": "cells"}))["value"].take();
    assert_eq!(cells, json!([true, 6.0]));
    let (code, answer) = game.refusal("fill", json!({"path": "#Tree", "item": "Flag", "text": "x"}));
    assert_eq!((code.as_str(), &answer["details"]["reason"]), ("NOT_ACTIONABLE", &json!("disabled")));
    let wrong = json!({"path": "#Tree", "item": "Flag", "column": 1, "value": 3});
    assert_eq!(game.refusal("set_value", wrong).0, "INVALID_ARGS");
}
