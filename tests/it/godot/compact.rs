//! `get_tree` with the view "agent": what a player sees and can use, and short names.

use super::actions::CONTROLS;
use super::{Game, bridge, vault};
use serde_json::{Value, json};

fn lines(game: &mut Game, arguments: Value) -> Vec<String> {
    let mut arguments = arguments;
    arguments["view"] = json!("agent");
    let tree = game.data("get_tree", arguments)["tree"].take();
    tree.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

/// The line without its short name.
fn without_short_name(line: &str) -> &str {
    line.trim_start().split_once(' ').unwrap().1
}

fn short_name<'a>(lines: &'a [String], line: &str) -> &'a str {
    let found: Vec<_> = lines.iter().filter(|found| without_short_name(found) == line).collect();
    assert_eq!(found.len(), 1, "{line} in {lines:#?}");
    found[0].trim_start().split(' ').next().unwrap()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn each_control_is_one_line() {
    let (mut game, _folder) = Game::play(CONTROLS);
    let tree = lines(&mut game, json!({}));
    for line in [
        "menu Menu [Open; Grid; Recent/a.txt; Recent/b.txt]",
        "menubar Bar [File/New File; File/Undo; Edit/New Edit; Edit/Undo]",
        "listbox Several = m 0; m 1 [m 0; m 1; m 2]",
        "tablist Tabs = First [First; Second]",
        "label First page",
        "label Bold words",
        "slider(0..1 step 0.01) Slider = 0",
        "spinbutton(0..100 step 1) Spin = 0",
        "progressbar Progress = 0",
        "checkbox Music",
        "color Colour = #000000ff",
        "button Save the game",
        "textbox Line = old",
        "textbox Text = old text",
        "textbox(disabled) Fixed = ",
        "link Home page",
        "object Panel",
        "object Area",
        "button Save",
    ] {
        short_name(&tree, line);
    }
    let input = game.data("get_tree", json!({"view": "agent", "max_nodes": 1}))["input"].take();
    assert_eq!(input["jump"], json!(["Space", "Ctrl+J", "Joypad a"]));
    let unseen = ["Plain", "Deaf", "Second page", "Cancel"];
    assert!(tree.iter().all(|line| unseen.iter().all(|name| !line.ends_with(name))), "{tree:#?}");
    assert!(tree.iter().any(|line| line.contains("level 20; 39 more]")), "{tree:#?}");
    game.data("press_button", json!({"path": short_name(&tree, "button Save")}));
    let dialog = lines(&mut game, json!({}));
    assert_eq!(without_short_name(&dialog[0]), "dialog Save a File");
    assert!(dialog[1..].iter().all(|line| line.starts_with("  @")), "what lies behind it is left out: {dialog:#?}");
    game.end();
}

/// A button that is freed, and one that replaces it.
const CHANGES: &str = r#"extends Control
func add(title: String):
	var button := Button.new()
	button.name = "Only"
	button.text = title
	add_child(button)
	button.pressed.connect(func():
		button.free.call_deferred()
		add.call_deferred("Second"))
func _ready():
	add("First")
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_short_name_belongs_to_one_node() {
    let (mut game, _folder) = Game::play(CHANGES);
    let before = lines(&mut game, json!({}));
    let first = short_name(&before, "button First").to_owned();
    assert_eq!(lines(&mut game, json!({})), before, "it stays the same");
    assert_eq!(game.data("find", json!({"selector": first}))["matches"], json!(["/root/Main/Only"]));
    game.data("press_button", json!({"path": first}));
    assert_eq!(game.data("get_node", json!({"path": "/root/Main/Only"}))["text"], "Second");
    let second = lines(&mut game, json!({}));
    assert_ne!(short_name(&second, "button Second"), first, "at the same path, but another node");
    for gone in [&first, "@999", "@", "@1 Button"] {
        assert_eq!(game.refusal("press_button", json!({"path": gone})).0, "NODE_NOT_FOUND", "{gone}");
    }
    for (arguments, count) in [(json!({"view": "agent", "max_nodes": 1}), 1), (json!({"view": "agent", "depth": 0}), 0)]
    {
        let data = game.data("get_tree", arguments);
        assert_eq!((data["nodes"].as_u64(), data["tree"].as_array().unwrap().len()), (Some(count), count as usize));
    }
    for wrong in
        [json!({"view": "full"}), json!({"view": "agent", "since": 1}), json!({"view": "agent", "fields": "all"})]
    {
        assert_eq!(game.refusal("get_tree", wrong).0, "INVALID_ARGS");
    }
}

/// Fifty settings, each with a label before it.
const FORM: &str = r#"extends Control
func _ready():
	var form := VBoxContainer.new()
	form.name = "Form"
	add_child(form)
	for i in 50:
		var row := HBoxContainer.new()
		row.name = "Row%d" % i
		form.add_child(row)
		var label := Label.new()
		label.name = "Label"
		label.text = "Setting %d" % i
		row.add_child(label)
		var field: Control = [LineEdit, CheckBox, HSlider, OptionButton, SpinBox][i % 5].new()
		field.name = "Field"
		row.add_child(field)
		if field is OptionButton:
			for item in ["Low", "High"]:
				field.add_item(item)
"#;

/// The ratio of the length of the tree with `fields` to that of the view.
fn saved(game: &mut Game, fields: Value) -> f64 {
    let full = game.data("get_tree", json!({"fields": fields}))["tree"].to_string().len();
    let compact = game.data("get_tree", json!({"view": "agent"}))["tree"].to_string().len();
    full as f64 / compact as f64
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn it_is_far_shorter_than_the_full_tree() {
    let (mut game, _folder) = Game::play(FORM);
    let tree = lines(&mut game, json!({}));
    assert_eq!(
        (tree.len(), without_short_name(&tree[0])),
        (50, "textbox Setting 0 = "),
        "the label belongs to its field"
    );
    let form = (saved(&mut game, json!([])), saved(&mut game, json!("all")));
    assert!(form.0 >= 10.0 && form.1 >= 15.0, "{form:?}");
    game.end();
    // Most of the example game's view are fields of its own hook, and a long text.
    let mut game = Game::start(&mut bridge(&vault()));
    let vault = (saved(&mut game, json!([])), saved(&mut game, json!("all")));
    assert!(vault.0 >= 3.5 && vault.1 >= 6.5, "{vault:?}");
    game.end();
}
