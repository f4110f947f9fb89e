//! `select`: chooses an item of a menu, a list, a tree or of tabs.

use super::actions::{CONTROLS, happened};
use super::{Game, types};
use serde_json::{Value, json};

/// Selects an item; returns the answer's data and the events of the game.
fn select(game: &mut Game, path: &str, item: &Value) -> (Value, Vec<String>) {
    let answer = game.ask("select", json!({"path": path, "item": item}));
    assert_eq!(answer["ok"], true, "{path} {item}: {answer}");
    (answer["data"].clone(), happened(&answer))
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_item_is_chosen_as_a_player_chooses_it() {
    let (mut game, _folder) = Game::play(CONTROLS);
    for (path, item, expected) in [
        ("#Choice", json!("level 1"), "choice 1"),
        ("#Choice", json!("level 59"), "choice 59"),
        ("#Choice", json!(30), "choice 30"),
        ("#Menu", json!("Open"), "menu 0"),
        ("#Menu", json!("Grid"), "menu 2"),
        ("#Menu", json!("Recent/b.txt"), "recent 1"),
        ("#Menu", json!(["Recent", "a.txt"]), "recent 0"),
        ("#Menu", json!("a.txt"), "recent 0"),
        ("#Bar", json!("Edit/Undo"), "Edit 1"),
        ("#Bar", json!("New File"), "File 0"),
        ("#List", json!("item 25"), "list 25"),
        ("#List", json!("item 0"), "list 0"),
        ("#List", json!(30), "list 30"),
        ("#Tree", json!("Weapons/Shield"), "tree Shield"),
        ("#Tree", json!("Flag"), "tree Flag"),
        ("#Tree", json!(["Armour", "Sword"]), "tree Sword"),
        ("#Tree", json!("Armour/Shield | 7"), "tree Shield"),
        ("#Tabs", json!("Second"), "tabs 1"),
        ("#TabBar", json!("Ddddd"), "tab bar 3"),
    ] {
        assert_eq!(select(&mut game, path, &item).1, [expected], "{path} {item}");
    }
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_answer_contains_the_selected_items() {
    let (mut game, _folder) = Game::play(CONTROLS);
    let (choice, _) = select(&mut game, "#Choice", &json!("level 4"));
    assert_eq!(choice, json!({"path": "/root/Main/Choice", "item": "level 4", "selected": 4}));
    let (several, _) = select(&mut game, "#Several", &json!("m 2"));
    assert_eq!(several["selected"], json!([2]), "the only one, though several can be");
    let (tree, _) = select(&mut game, "#Tree", &json!("Weapons/Sword"));
    assert_eq!(tree["selected"], json!(["Weapons/Sword | 7"]));
    assert_eq!(game.data("get_node", json!({"path": "#Choice"}))["selected"], 4);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_item_of_an_open_popup_is_chosen_by_the_path_of_the_popup_or_its_button() {
    let (mut game, _folder) = Game::play(CONTROLS);
    for path in ["#Choice > PopupMenu", "#Choice"] {
        let opened = game.ask("press_button", json!({"path": "#Choice"}));
        assert!(!types(&opened).contains(&"item_selected") && happened(&opened).is_empty(), "{opened}");
        assert_eq!(select(&mut game, path, &json!("level 3")).1, ["choice 3"]);
        select(&mut game, "#Choice", &json!("level 1"));
    }
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn items_that_cannot_be_chosen_are_refused() {
    let (mut game, _folder) = Game::play(CONTROLS);
    for (path, item, code, reason) in [
        ("#Choice", json!("level 2"), "NOT_ACTIONABLE", json!("disabled")),
        ("#List", json!("item 4"), "NOT_ACTIONABLE", json!("disabled")),
        ("#Menu", json!(1), "NOT_ACTIONABLE", json!("disabled")),
        ("#Tabs", json!("Third"), "NOT_ACTIONABLE", json!("disabled")),
        ("#File", json!("Undo"), "NOT_ACTIONABLE", json!("hidden")),
        ("#Line", json!("x"), "NOT_ACTIONABLE", json!("not_a_control")),
        ("#List", json!("item 3"), "AMBIGUOUS", Value::Null),
        ("#Tree", json!("Sword"), "AMBIGUOUS", Value::Null),
        ("#Bar", json!("Undo"), "AMBIGUOUS", Value::Null),
        ("#Bar", json!("No such item"), "INVALID_ARGS", Value::Null),
        ("#Menu", json!(99), "INVALID_ARGS", Value::Null),
        ("#Menu", json!({}), "INVALID_ARGS", Value::Null),
    ] {
        let (refused, answer) = game.refusal("select", json!({"path": path, "item": item}));
        assert_eq!((refused.as_str(), &answer["details"]["reason"]), (code, &reason), "{path} {item}: {answer}");
        assert!(happened(&answer).is_empty(), "{answer}");
    }
    let (_, answer) = game.refusal("select", json!({"path": "#Bar", "item": "No such item"}));
    assert_eq!(answer["details"]["items"], json!(["File/New File", "File/Undo", "Edit/New Edit", "Edit/Undo"]));
    game.data("press_button", json!({"path": "#Save"}));
    let (_, answer) = game.refusal("select", json!({"path": "#List", "item": "item 1"}));
    assert_eq!(answer["details"]["covered_by"], "/root/Main/Files");
}
