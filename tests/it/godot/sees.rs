//! Reading the game: the tree and its differences, nodes, values that keep their types, selectors, and available actions.

use super::{Game, bridge, imported, named, nodes, small_game, types};
use serde_json::{Value, json};

/// Nodes of many kinds.
const ZOO: &str = r#"extends Control
signal hit(damage: int, by: Node)
@export var lives := 3
var _hidden_away := "secret"
func _ready():
	var label := Label.new()
	label.name = "Title"
	label.text = "Zoo \"1\"\n\u00e4"
	add_child(label)
	var hero: Node = load("res://hero.gd").new()
	hero.name = "Hero"
	hero.position = Vector2(3, 4.5)
	hero.add_to_group("enemies")
	add_child(hero)
	var boss: Node = load("res://boss.gd").new()
	boss.name = "Boss"
	boss.add_to_group("enemies")
	add_child(boss)
	var box := VBoxContainer.new()
	box.name = "Box"
	box.position = Vector2(100, 100)
	add_child(box)
	var go := _in(box, Button.new(), "Go")
	go.text = "Start"
	go.pressed.connect(_on_go)
	var stop := _in(box, Button.new(), "Stop")
	stop.text = "Stop"
	stop.disabled = true
	_in(box, CheckBox.new(), "Check").button_pressed = true
	var line := _in(box, LineEdit.new(), "Line")
	line.text = "typed"
	_in(box, LineEdit.new(), "Fixed").editable = false
	var choice := _in(box, OptionButton.new(), "Choice")
	for item in ["one", "two"]:
		choice.add_item(item)
	choice.selected = 1
	_in(box, HSlider.new(), "Slider").value = 40
	_in(box, ItemList.new(), "List").add_item("only")
	var tabs := _in(box, TabContainer.new(), "Tabs")
	_in(tabs, Control.new(), "First")
	_in(tabs, Control.new(), "Second")
	var menu := _in(self, PanelContainer.new(), "Menu")
	menu.hide()
	_in(menu, Button.new(), "Go").text = "Inside"
	var layer := CanvasLayer.new()
	layer.name = "Layer"
	add_child(layer)
	_in(layer, Button.new(), "Above").text = "Above"
func _in(parent: Node, child: Node, title: String) -> Node:
	child.name = title
	parent.add_child(child)
	return child
func _on_go():
	pass
"#;

/// Scripts with a class_name have to be imported.
fn zoo() -> Game {
    let made = small_game(ZOO);
    for (name, text) in [("hero.gd", HERO), ("boss.gd", "extends \"res://hero.gd\"\n")] {
        std::fs::write(made.path().join(name), text).unwrap();
    }
    Game::start(&mut bridge(&imported("zoo", made.path())))
}

const HERO: &str = r#"class_name Hero
extends Node2D
var hp := 7
func agent_fields():
	return {"team": "red", "actions": ["swap_to"]}
"#;

fn tree(game: &mut Game, arguments: Value) -> Value {
    game.data("get_tree", arguments)["tree"].take()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn each_kind_of_node_shows_its_relevant_fields() {
    let mut game = zoo();
    let tree = tree(&mut game, json!({}));
    let shown = |name: &str, expected: Value| {
        let found = nodes(&tree, &|node| node["name"] == name)[0];
        let mut found = found.as_object().unwrap().clone();
        for field in ["children", "path", "name"] {
            found.remove(field);
        }
        assert_eq!(Value::Object(found), expected, "{name}");
    };
    shown("Title", json!({"type": "Label", "text": "Zoo \"1\"\n\u{e4}", "visible": true}));
    shown(
        "Hero",
        json!({"type": "Hero", "visible": true, "position": [3.0, 4.5], "team": "red", "actions": ["swap_to"]}),
    );
    // Its script has no class_name, but extends one that has.
    assert_eq!(named(&tree, "Boss")["type"], "Hero");
    let button = |text: &str, disabled: bool| json!({"type": "Button", "text": text, "visible": true, "disabled": disabled, "actions": ["press"]});
    shown("Go", button("Start", false));
    shown("Stop", button("Stop", true));
    shown(
        "Check",
        json!({"type": "CheckBox", "text": "", "visible": true, "disabled": false, "pressed": true, "actions": ["press"]}),
    );
    shown("Line", json!({"type": "LineEdit", "text": "typed", "visible": true, "editable": true, "actions": ["type"]}));
    assert_eq!(named(&tree, "Fixed")["editable"], false);
    let choice = named(&tree, "Choice");
    assert_eq!((&choice["selected"], &choice["items"]), (&json!(1), &json!(["one", "two"])));
    shown("Slider", json!({"type": "HSlider", "visible": true, "value": 40.0}));
    assert_eq!(named(&tree, "List")["items"], json!(["only"]));
    assert_eq!(named(&tree, "Tabs")["items"], json!(["First", "Second"]));
    // Nodes below a hidden one are themselves visible, but are not shown.
    assert_eq!(named(&tree, "Menu")["visible"], false);
    let inside = &named(&tree, "Menu")["children"][0];
    assert_eq!((&inside["visible"], &inside["visible_in_tree"]), (&json!(true), &json!(false)));
    assert_eq!(named(&tree, "Layer")["visible"], true);
    assert!(!tree.to_string().contains("AgentBridge"), "the bridge shows everything but itself");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn fields_can_be_added_omitted_and_selected() {
    let mut game = zoo();
    let plain = tree(&mut game, json!({"root": "#Hero"}));
    for field in ["rect", "groups", "vars", "class", "process"] {
        assert_eq!(plain.get(field), None, "{field}");
    }
    let all = tree(&mut game, json!({"fields": "all"}));
    let hero = named(&all, "Hero");
    assert_eq!(
        (&hero["groups"], &hero["vars"], &hero["class"]),
        (&json!(["enemies"]), &json!({"hp": 7}), &json!("Node2D"))
    );
    assert_eq!(hero["process"], true);
    assert_eq!(named(&all, "Main")["vars"], json!({"lives": 3, "_hidden_away": "secret"}));
    let rect = named(&all, "Stop")["rect"].as_array().unwrap();
    assert!(rect.len() == 4 && rect[0] == 100.0 && rect[1].as_f64().unwrap() > 100.0, "{rect:?}");
    let some = tree(&mut game, json!({"root": "#Hero", "fields": ["groups", "-position"]}));
    assert!(some.get("groups").is_some() && some.get("position").is_none() && some.get("team").is_some(), "{some}");
    let only = tree(&mut game, json!({"root": "#Title", "fields": ["=", "text"]}));
    assert_eq!(only, json!({"name": "Title", "path": "/root/Main/Title", "text": "Zoo \"1\"\n\u{e4}"}));
    for bad in [json!(5), json!([5]), json!({"text": true}), json!("no such word"), json!(["rekt"])] {
        assert_eq!(game.refusal("get_tree", json!({"fields": bad})).0, "INVALID_ARGS");
    }
    let got = game.data("get_node", json!({"path": "#Box"}));
    assert_eq!(got["children"], json!(["Go", "Stop", "Check", "Line", "Fixed", "Choice", "Slider", "List", "Tabs"]));
    assert!(got["rect"].is_array() && got["class"] == "VBoxContainer", "{got}");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_tree_is_truncated_on_request_and_marked_as_truncated() {
    let mut game = zoo();
    let whole = game.data("get_tree", json!({}));
    assert_eq!(whole["truncated"], false);
    let count = nodes(&whole["tree"], &|_| true).len();
    assert_eq!(whole["nodes"], count);
    let cut = game.data("get_tree", json!({"depth": 1}));
    assert_eq!((&cut["truncated"], &cut["nodes"]), (&json!(true), &json!(2)));
    let main = &cut["tree"]["children"][0];
    assert_eq!((&main["more"], main.get("children")), (&json!(6), None));
    let cut = game.data("get_tree", json!({"max_nodes": 4}));
    assert_eq!(nodes(&cut["tree"], &|_| true).len(), 4);
    assert_eq!((&cut["truncated"], &cut["nodes"]), (&json!(true), &json!(4)));
    let left_out: u64 =
        nodes(&cut["tree"], &|node| node.get("more").is_some()).iter().map(|node| node["more"].as_u64().unwrap()).sum();
    assert_eq!(left_out, 4, "Main's children but two: {cut}");
    let one = game.data("get_tree", json!({"root": "#Box > #Go", "depth": 0}));
    assert_eq!((&one["tree"]["path"], &one["truncated"]), (&json!("/root/Main/Box/Go"), &json!(false)));
    for bad in [json!({"depth": "1"}), json!({"depth": 1.5}), json!({"max_nodes": []}), json!({"deep": 1})] {
        assert_eq!(game.refusal("get_tree", bad).0, "INVALID_ARGS");
    }
    assert_eq!(game.refusal("get_tree", json!({"root": "#Nobody"})).0, "NODE_NOT_FOUND");
}

/// Many nodes, and commands that change a few of them.
const MANY: &str = r#"extends Control
func _ready():
	for i in 2000:
		var label := Label.new()
		label.name = "Label%d" % i
		label.text = str(i)
		add_child(label)
func agent_commands():
	return {"rename": {}, "swap_out": {}, "rearrange": {}, "nothing": {}, "replace": {}}
func agent_command(command: String, _args: Dictionary):
	match command:
		"rename":
			$Label7.text = "seven"
		"swap_out":
			$Label8.free()
			var panel := Panel.new()
			panel.name = "Panel"
			add_child(panel)
			move_child(panel, 3)
			var go := Button.new()
			go.name = "Go"
			panel.add_child(go)
		"rearrange":
			move_child($Label9, 0)
		"replace":
			$Label10.free()
			var other := Button.new()
			other.name = "Label10"
			add_child(other)
			move_child(other, 10)
	return {}
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_difference_contains_only_the_changes() {
    let (mut game, _folder) = Game::play(MANY);
    let whole = game.data("get_tree", json!({}));
    assert!(whole["nodes"] == 2002 && whole["truncated"] == false);
    let mut revision = whole["revision"].clone();
    let mut since = |game: &mut Game, command: &str| {
        game.data(command, json!({}));
        let found = game.data("get_tree", json!({"since": revision}));
        revision = found["revision"].clone();
        assert!(found.get("reset").is_none() && found.get("tree").is_none());
        found
    };
    let none = since(&mut game, "nothing");
    assert_eq!((&none["added"], &none["removed"], &none["changed"]), (&json!([]), &json!([]), &json!([])));
    let changed = since(&mut game, "rename");
    assert_eq!(changed["changed"], json!([{"path": "/root/Main/Label7", "text": "seven"}]));
    assert_eq!((&changed["added"], &changed["removed"]), (&json!([]), &json!([])));
    assert!(changed.to_string().len() * 10 <= whole.to_string().len());
    let swapped = since(&mut game, "swap_out");
    assert_eq!(swapped["removed"], json!(["/root/Main/Label8"]));
    let added = swapped["added"].as_array().unwrap();
    let places: Vec<_> = added.iter().map(|node| (&node["path"], &node["parent"], &node["index"])).collect();
    assert_eq!(
        places,
        [
            (&json!("/root/Main/Panel"), &json!("/root/Main"), &json!(3)),
            (&json!("/root/Main/Panel/Go"), &json!("/root/Main/Panel"), &json!(0))
        ]
    );
    assert_eq!((&added[1]["type"], &swapped["changed"]), (&json!("Button"), &json!([])));
    let replaced = since(&mut game, "replace");
    let fields = &replaced["changed"][0];
    assert!(fields["type"] == "Button" && fields["disabled"] == false, "{replaced}");
    let moved = since(&mut game, "rearrange");
    assert_eq!(moved["changed"].as_array().unwrap().len(), 1);
    assert_eq!(moved["changed"][0]["order"][0], "Label9");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_field_that_goes_away_is_null_in_the_difference() {
    let (mut game, _folder) = Game::play(
        "extends Control\nvar full := true\nfunc agent_fields():\n\treturn {\"load\": 3} if full else {}\nfunc agent_commands():\n\treturn {\"empty\": {}}\nfunc agent_command(_c, _a):\n\tfull = false\n\treturn {}\n",
    );
    let revision = game.data("get_tree", json!({}))["revision"].take();
    game.data("empty", json!({}));
    let changed = game.data("get_tree", json!({"since": revision}))["changed"].take();
    assert_eq!(changed, json!([{"path": "/root/Main", "load": null}]));
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_unknown_revision_gives_the_complete_tree() {
    let mut game = zoo();
    let first = game.data("get_tree", json!({}))["revision"].take();
    let of_other = game.data("get_tree", json!({"root": "#Box"}))["revision"].take();
    // A revision of another root, of other fields, one that never existed, and a forgotten one.
    for asked in [
        json!({"since": of_other}),
        json!({"since": first, "fields": ["rect"]}),
        json!({"since": 999_999}),
        json!({"since": -1}),
    ] {
        let whole = game.data("get_tree", asked.clone());
        assert!(whole["reset"] == true && whole["tree"]["name"] == "root", "{asked}: {whole}");
    }
    let whole = game.data("get_tree", json!({"since": first}));
    assert!(whole["reset"] == true, "only the last four are known");
    let last = whole["revision"].clone();
    assert!(game.data("get_tree", json!({"since": last}))["changed"] == json!([]));
    assert!(game.data("get_tree", json!({"since": last}))["changed"] == json!([]), "a revision may be asked for again");
    game.end();
}

/// Values of each kind.
const VALUES: &str = r#"extends Control
var tenth := 0.1
var sum := 0.1 + 0.2
var whole := 3.0
var tiny := PackedByteArray([1, 0, 0, 0, 0, 0, 0, 0]).decode_double(0)
var huge := 1.7976931348623157e308
var beyond := 9007199254740993
var big := 1e22
var up := INF
var down := -INF
var none := NAN
var minus := -0.0
var most := 9223372036854775807
var least := -9223372036854775807 - 1
var title := "a\"\\\u0007\n\u2028\U01F389"
var short := &"name"
var nothing = null
var place := Vector2(0.1, -2.5)
var cell := Vector2i(-3, 4)
var space := Vector3(1, 2, INF)
var tint := Color(0.5, 0.25, 1, 0.1)
var area := Rect2(1, 2, 3, 4)
var turn := Transform2D(0.0, Vector2(5, 6))
var way := NodePath("../Main:lives")
var nested := {"a": [1, 1.5, {"b": Vector2i(1, 2)}], &"c": null}
var keyed := {1: "one", Vector2i(0, 1): ["two"], "three": 3}
var typed := {"$type": "mine", "value": 1}
var bytes := PackedByteArray([0, 255])
var wide := PackedInt64Array([9223372036854775807])
var floats := PackedFloat32Array([0.1, INF])
var doubles := PackedFloat64Array([0.1])
var words := PackedStringArray(["a\"b"])
var path := PackedVector2Array([Vector2(1, 2), Vector2(3, 4)])
var colours := PackedColorArray([Color.RED])
var me := self
var orphan := Node2D.new()
var freed := Node.new()
var thing := RefCounted.new()
var drawn: Resource = load("res://main.gd")
var made := Gradient.new()
var call_me := _ready
var own: Array = [1]
var ring := {}
var deep: Array = []
var strict: Array[int] = [1, 2]
var broken: int:
	get:
		var nobody: Variant = null
		return nobody.size()
func _ready():
	freed.free()
	own.append(own)
	ring["self"] = ring
	var at := deep
	for i in 100:
		at.append([])
		at = at[0]
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn values_keep_their_types_and_digits() {
    let (mut game, _folder) = Game::play(VALUES);
    let mut value = |name: &str| {
        let mut data = game.data("get_property", json!({"path": "/root/Main", "property": name}));
        let kind = data["type"].as_str().unwrap_or_else(|| panic!("{name}: {data}")).to_owned();
        (data["value"].take(), kind)
    };
    for (name, number) in
        [("tenth", 0.1), ("sum", 0.1 + 0.2), ("whole", 3.0), ("tiny", 5e-324), ("huge", f64::MAX), ("big", 1e22)]
    {
        let (found, kind) = value(name);
        assert!(found.is_f64() && kind == "float", "{name}: {found}");
        assert_eq!(found.as_f64().unwrap().to_bits(), f64::to_bits(number), "{name}: {found}");
    }
    assert!(value("minus").0.as_f64().unwrap().is_sign_negative());
    for (name, number) in [("beyond", 9_007_199_254_740_993), ("most", i64::MAX), ("least", i64::MIN)] {
        assert_eq!(value(name), (json!(number), "int".to_owned()));
    }
    let of = |kind: &str, value: Value| json!({"$type": kind, "value": value});
    for (name, kind, plain) in [
        ("up", "float", json!("inf")),
        ("down", "float", json!("-inf")),
        ("none", "float", json!("nan")),
        ("cell", "Vector2i", json!([-3, 4])),
        ("space", "Vector3", json!([1.0, 2.0, of("float", json!("inf"))])),
        ("area", "Rect2", json!([1.0, 2.0, 3.0, 4.0])),
        ("turn", "Transform2D", json!([1.0, 0.0, 0.0, 1.0, 5.0, 6.0])),
        ("way", "NodePath", json!("../Main:lives")),
        ("bytes", "PackedByteArray", json!([0, 255])),
        ("wide", "PackedInt64Array", json!([i64::MAX])),
        ("doubles", "PackedFloat64Array", json!([0.1])),
        ("words", "PackedStringArray", json!(["a\"b"])),
        ("path", "PackedVector2Array", json!([[1.0, 2.0], [3.0, 4.0]])),
        ("colours", "PackedColorArray", json!([[1.0, 0.0, 0.0, 1.0]])),
    ] {
        assert_eq!(value(name), (of(kind, plain), kind.to_owned()), "{name}");
    }
    // A component has 32 bits: reading it as such gives the same value.
    let as_single = |found: &Value| found.as_f64().unwrap() as f32;
    let (place, tint, floats) = (value("place").0, value("tint").0, value("floats").0);
    assert_eq!((as_single(&place["value"][0]), as_single(&place["value"][1])), (0.1, -2.5));
    assert_eq!((as_single(&tint["value"][1]), as_single(&tint["value"][3])), (0.25, 0.1));
    assert_eq!((as_single(&floats["value"][0]), &floats["value"][1]), (0.1, &of("float", json!("inf"))));
    assert_eq!(value("title").0, "a\"\\\u{7}\n\u{2028}\u{1F389}");
    assert_eq!(value("short"), (json!("name"), "StringName".to_owned()));
    assert_eq!(value("nothing"), (json!(null), "Nil".to_owned()));
    assert_eq!(value("nested").0, json!({"a": [1, 1.5, {"b": of("Vector2i", json!([1, 2]))}], "c": null}));
    assert_eq!(
        value("keyed").0,
        of("Dictionary", json!([[1, "one"], [of("Vector2i", json!([0, 1])), ["two"]], ["three", 3]]))
    );
    assert_eq!(
        value("typed").0,
        of("Dictionary", json!([["$type", "mine"], ["value", 1]])),
        "not taken for one of ours"
    );
    assert_eq!(value("strict").0, json!([1, 2]));
    assert_eq!(value("me"), (json!({"$type": "Control", "path": "/root/Main"}), "Control".to_owned()));
    assert_eq!(value("orphan").0["path"], json!(null));
    assert_eq!(value("freed").0, json!(null));
    assert_eq!(value("thing").0["$type"], "RefCounted");
    assert_eq!(value("drawn").0, json!({"$type": "GDScript", "resource": "res://main.gd"}));
    assert_eq!(value("made").0, json!({"$type": "Gradient", "resource": null}));
    assert!(value("call_me").0["value"].as_str().unwrap().contains("_ready"));
    assert_eq!(value("own").0, json!([1, {"$type": "Array", "truncated": true}]));
    assert_eq!(value("ring").0, json!({"self": {"$type": "Dictionary", "truncated": true}}));
    let deep = value("deep").0.to_string();
    assert!(deep.contains("truncated") && deep.matches('[').count() <= 32, "{deep}");
    value("broken");
    assert_eq!(value("place:y").0, -2.5);
    assert_eq!(value("area:size:x").0, 3.0);
    game.data("get_node", json!({"path": "/root/Main"}));
    game.end();
}

/// The engine does not allow reading the type of a freed object.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_variable_with_a_freed_object_can_be_read() {
    let (mut game, _folder) = Game::play(VALUES);
    for (selector, count) in [("[freed]", 0), ("[freed=3]", 0), ("[freed!=3]", 0), ("[own=3]", 0), ("[me]", 1)] {
        let answer = game.ask("find", json!({"selector": selector}));
        assert!(answer["data"]["count"] == count && answer["events"] == json!([]), "{selector}: {answer}");
    }
    let waited = json!({"path": "/root/Main", "property": "freed", "equals": 3, "timeout": 0.2});
    let (code, answer) = game.refusal("wait_for", waited);
    assert!(code == "TIMEOUT" && answer["events"] == json!([]), "{answer}");
    let tree = game.data("get_tree", json!({"fields": ["vars"]}));
    assert_eq!(named(&tree["tree"], "Main")["vars"]["freed"], json!(null));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_missing_property_is_reported_with_similar_names() {
    let mut game = zoo();
    let (code, answer) = game.refusal("get_property", json!({"path": "#Title", "property": "txt"}));
    assert!(code == "PROPERTY_NOT_FOUND" && answer["hint"].as_str().unwrap().contains("text"), "{answer}");
    for bad in ["", ":x", "position:q", "lives:x", "position:", "no\nsuch"] {
        assert_eq!(
            game.refusal("get_property", json!({"path": "/root/Main", "property": bad})).0,
            "PROPERTY_NOT_FOUND",
            "{bad}"
        );
    }
    assert_eq!(game.refusal("get_property", json!({"path": "#Title"})).0, "INVALID_ARGS");
    assert_eq!(game.data("get_property", json!({"path": "/root/Main", "property": "lives"}))["value"], 3);
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn signals_are_listed_with_their_connections() {
    let mut game = zoo();
    let signals = game.data("get_signals", json!({"path": "/root/Main"}))["signals"].take();
    let hit = signals.as_array().unwrap().iter().find(|signal| signal["name"] == "hit").unwrap();
    assert_eq!(
        hit,
        &json!({"name": "hit", "args": [{"name": "damage", "type": "int"}, {"name": "by", "type": "Object"}], "connections": []})
    );
    let signals = game.data("get_signals", json!({"path": "#Box > #Go"}))["signals"].take();
    let pressed = signals.as_array().unwrap().iter().find(|signal| signal["name"] == "pressed").unwrap();
    // The bridge is also connected, but not shown.
    assert_eq!(
        pressed["connections"],
        json!([{"target": {"$type": "Control", "path": "/root/Main"}, "method": "_on_go"}])
    );
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn every_form_of_selector_finds_its_nodes() {
    let mut game = zoo();
    let box_go = "/root/Main/Box/Go";
    let menu_go = "/root/Main/Menu/Go";
    let above = "/root/Main/Layer/Above";
    for (selector, expected) in [
        ("/root/Main/Box/Go", vec![box_go]),
        ("/root", vec!["/root"]),
        ("#Go", vec![box_go, menu_go]),
        (
            "Button",
            vec![box_go, "/root/Main/Box/Stop", "/root/Main/Box/Check", "/root/Main/Box/Choice", menu_go, above],
        ),
        ("Hero", vec!["/root/Main/Hero", "/root/Main/Boss"]),
        ("Node2D", vec!["/root/Main/Hero", "/root/Main/Boss"]),
        (".enemies", vec!["/root/Main/Hero", "/root/Main/Boss"]),
        ("Hero.enemies#Boss", vec!["/root/Main/Boss"]),
        (":text(\"Start\")", vec![box_go]),
        (":text(/^St(art|op)$/)", vec![box_go, "/root/Main/Box/Stop"]),
        (":text(/a\\/b|Ins/)", vec![menu_go]),
        ("Button:text(\"Inside\"):hidden", vec![menu_go]),
        ("#Go:visible", vec![box_go]),
        ("Button:disabled", vec!["/root/Main/Box/Stop"]),
        ("LineEdit:enabled", vec!["/root/Main/Box/Line"]),
        ("LineEdit:focused", vec![]),
        ("[hp]", vec!["/root/Main/Hero", "/root/Main/Boss"]),
        ("[hp=7]", vec!["/root/Main/Hero", "/root/Main/Boss"]),
        ("[hp!=7]", vec![]),
        ("[team=red]#Hero", vec!["/root/Main/Hero"]),
        ("[team=\"red\"]#Hero", vec!["/root/Main/Hero"]),
        ("[position=[3, 4.5]]", vec!["/root/Main/Hero"]),
        ("[position:y=4.5]", vec!["/root/Main/Hero"]),
        ("Button[disabled=true]", vec!["/root/Main/Box/Stop"]),
        ("[value=40]", vec!["/root/Main/Box/Slider"]),
        ("#Box Button:nth(1)", vec!["/root/Main/Box/Stop"]),
        ("Button:nth(-1)", vec![above]),
        ("Button:nth(99)", vec![]),
        ("Control:nth(0) > Label", vec!["/root/Main/Title"]),
        ("#Main > Button", vec![]),
        ("#Main Button:text(\"Above\")", vec![above]),
        ("#Main > * > #Go", vec![box_go, menu_go]),
        ("#Main>#Menu>#Go", vec![menu_go]),
        ("/root/Main/Menu > Button", vec![menu_go]),
        ("/root/Main Button:text(\"Start\")", vec![box_go]),
        ("  #Go:nth(0)  ", vec![box_go]),
        ("NoSuchType", vec![]),
    ] {
        let found = game.data("find", json!({"selector": selector}));
        assert_eq!((&found["matches"], &found["count"]), (&json!(expected), &json!(expected.len())), "{selector}");
    }
    let some = game.data("find", json!({"selector": "Button", "limit": 2}));
    assert_eq!((some["matches"].as_array().unwrap().len(), &some["count"]), (2, &json!(6)));
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_selector_gives_one_node_or_the_reason_why_not() {
    let mut game = zoo();
    let (code, answer) = game.refusal("press_button", json!({"path": "#Go"}));
    assert_eq!((code.as_str(), &answer["details"]["count"]), ("AMBIGUOUS", &json!(2)));
    assert_eq!(answer["details"]["matches"], json!(["/root/Main/Box/Go", "/root/Main/Menu/Go"]));
    let (code, answer) = game.refusal("get_node", json!({"path": "/root/Main/Box/Stpo"}));
    assert!(code == "NODE_NOT_FOUND" && answer["details"]["near"][0] == "/root/Main/Box/Stop", "{answer}");
    assert!(answer["hint"].as_str().unwrap().contains("/root/Main/Box/Stop"), "{answer}");
    let (_, answer) = game.refusal("get_node", json!({"path": "#Slidr"}));
    assert_eq!(answer["details"]["near"][0], "/root/Main/Box/Slider");
    let (_, answer) = game.refusal("get_node", json!({"path": ":text(\"Satrt\")"}));
    assert_eq!(answer["code"], "NODE_NOT_FOUND");
    for bad in [
        "",
        " ",
        ">",
        "#",
        ".",
        "[",
        "[]",
        "[a",
        "[a=\"b]",
        ":nosuch",
        ":text(",
        ":text(\"a\"",
        ":text(/(/)",
        ":nth(x)",
        ":nth(0):visible",
        "Button >",
        "> Button",
        "A >> B",
        "Button]",
        "#Go)",
        "\"",
        "=",
        "!",
        "[a=1",
        ":text()",
    ] {
        let (code, answer) = game.refusal("find", json!({"selector": bad}));
        assert!(code == "INVALID_ARGS" && answer["events"] == json!([]), "{bad}: {answer}");
    }
    for nobody in [
        "/",
        "//",
        "/root/",
        "/nobody",
        "/root/Main/..",
        "/root//Main",
        "../Main",
        "/root/Main/Box/",
        "*:nth(1000)",
        "/root/\u{1F389}",
    ] {
        let answer = game.ask("find", json!({"selector": nobody}));
        assert!(answer["events"] == json!([]), "the engine doesn't complain: {nobody}: {answer}");
    }
}

/// The internals of the engine's own controls are shown only if the controls cannot be used without them.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_selector_finds_all_nodes_in_the_tree() {
    let (mut game, _folder) = Game::play(
        "extends Control\nfunc _ready():\n\tfor part in [ScrollContainer.new(), OptionButton.new(), TabContainer.new(), LineEdit.new(), ColorPickerButton.new(), MenuButton.new()]:\n\t\tadd_child(part)\nfunc agent_commands():\n\treturn {\"add\": {}}\nfunc agent_command(_c, _a):\n\tadd_child(SpinBox.new())\n\tadd_child(ConfirmationDialog.new())\n\treturn {}\n",
    );
    for _ in 0..2 {
        let tree = tree(&mut game, json!({}));
        let shown: Vec<_> = nodes(&tree, &|_| true).into_iter().map(|node| node["path"].clone()).collect();
        assert_eq!(game.data("find", json!({"selector": "*", "limit": 1000}))["matches"], json!(shown));
        game.data("add", json!({}));
    }
    assert_eq!(game.data("find", json!({"selector": "ConfirmationDialog:nth(0) Button"}))["count"], 2);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_tree_may_have_any_depth() {
    let (mut game, _folder) = Game::play(
        "extends Control\nfunc _ready():\n\tvar at: Node = self\n\tfor i in 1500:\n\t\tvar next := Node.new()\n\t\tnext.name = \"N%d\" % i\n\t\tat.add_child(next)\n\t\tat = next\n",
    );
    for (command, arguments) in
        [("get_tree", json!({})), ("find", json!({"selector": "#N700"})), ("list_actions", json!({}))]
    {
        let answer = game.ask(command, arguments);
        assert!(answer["ok"] == true && answer["events"] == json!([]), "{command}: {}", answer["events"]);
    }
    let tree = game.data("get_tree", json!({"root": "#N150"}));
    assert!(tree["truncated"] == true && tree["nodes"] == 41);
    game.end();
}

/// The bridge's own node is neither shown, nor found, nor accepted by its path.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_bridge_does_not_show_itself() {
    let mut game = zoo();
    assert_eq!(game.data("find", json!({"selector": "#AgentBridge"}))["count"], 0);
    assert_eq!(game.data("get_node", json!({"path": "/root"}))["children"], json!(["Main"]));
    for path in ["/root/AgentBridge", "/root/AgentBridge/Session"] {
        assert_eq!(game.refusal("get_node", json!({"path": path})).0, "NODE_NOT_FOUND", "{path}");
    }
    game.refusal("get_node", json!({"path": "/root/Main/../AgentBridge"}));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn unavailable_actions_are_listed_with_the_reason() {
    let mut game = zoo();
    let listed = game.data("list_actions", json!({}));
    let paths = |list: &Value| -> Vec<String> {
        let path = |action: &Value| {
            format!("{} {}", action["cmd"].as_str().unwrap(), action["args"]["path"].as_str().unwrap())
        };
        list.as_array().unwrap().iter().map(path).collect()
    };
    assert_eq!(
        paths(&listed["actions"]),
        [
            "press_button /root/Main/Box/Go",
            "press_button /root/Main/Box/Check",
            "fill /root/Main/Box/Line",
            "select /root/Main/Box/Choice",
            "set_value /root/Main/Box/Slider",
            "select /root/Main/Box/List",
            "select /root/Main/Box/Tabs",
            "press_button /root/Main/Layer/Above"
        ]
    );
    let unavailable = &listed["unavailable"];
    assert_eq!(
        paths(unavailable),
        ["press_button /root/Main/Box/Stop", "fill /root/Main/Box/Fixed", "press_button /root/Main/Menu/Go"]
    );
    let reasons: Vec<_> =
        unavailable.as_array().unwrap().iter().map(|action| action["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["disabled", "disabled", "hidden"]);
    game.end();
    let (mut game, _folder) = Game::play(
        "extends Control\nfunc agent_commands():\n\treturn {\"swap\": {\"args\": {\"from\": \"int\"}, \"about\": \"Swaps\"}}\nfunc agent_actions():\n\treturn [{\"cmd\": \"swap\", \"args\": {\"from\": 0}}, {\"cmd\": \"swap\", \"args\": {\"from\": 1}, \"reason\": \"locked\"}, 5, {}]\n",
    );
    let listed = game.data("list_actions", json!({}));
    assert_eq!(listed["actions"], json!([{"cmd": "swap", "args": {"from": 0}}]));
    assert_eq!(listed["unavailable"], json!([{"cmd": "swap", "args": {"from": 1}, "reason": "locked"}]));
    assert_eq!(listed["commands"]["swap"], json!({"about": "Swaps", "args": {"from": "int"}}));
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn freed_nodes_are_not_found_and_new_ones_are() {
    let (mut game, _folder) = Game::play(
        "extends Control\nfunc _ready():\n\tvar a := Button.new()\n\ta.name = \"A\"\n\tadd_child(a)\nfunc agent_commands():\n\treturn {\"turn\": {}, \"later\": {}}\nfunc agent_command(command, _a):\n\tif command == \"later\":\n\t\t$B.queue_free()\n\t\treturn {}\n\t$A.free()\n\tvar b := Button.new()\n\tb.name = \"B\"\n\tadd_child(b)\n\treturn {}\n",
    );
    game.data("press_button", json!({"path": "#A"}));
    game.data("turn", json!({}));
    assert_eq!(game.refusal("press_button", json!({"path": "#A"})).0, "NODE_NOT_FOUND");
    assert_eq!(
        types(&game.ask("press_button", json!({"path": "/root/Main/B"}))),
        ["button_down", "pressed", "button_up"]
    );
    game.data("later", json!({}));
    assert_eq!(game.refusal("get_node", json!({"path": "/root/Main/B"})).0, "NODE_NOT_FOUND");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn another_scene_is_read_like_the_first() {
    let folder = small_game(
        "extends Control\nfunc agent_commands():\n\treturn {\"leave\": {}}\nfunc agent_command(_c, _a):\n\tget_tree().change_scene_to_file(\"res://other.tscn\")\n\treturn {}\n",
    );
    let scene = "[gd_scene format=3]\n\n[ext_resource type=\"Script\" path=\"res://other.gd\" id=\"1\"]\n\n[node name=\"Other\" type=\"Control\"]\nscript = ExtResource(\"1\")\n\n[node name=\"Go\" type=\"Button\" parent=\".\"]\noffset_right = 90.0\noffset_bottom = 40.0\n";
    let script = "extends Control\nsignal won(by: String)\nfunc agent_commands():\n\treturn {\"win\": {}}\nfunc agent_command(_c, _a):\n\twon.emit(\"you\")\n\treturn {\"done\": true}\n";
    std::fs::write(folder.path().join("other.tscn"), scene).unwrap();
    std::fs::write(folder.path().join("other.gd"), script).unwrap();
    let mut game = Game::start(&mut bridge(folder.path()));
    let before = game.data("get_tree", json!({}));
    game.data("leave", json!({}));
    let state = game.data("get_state", json!({}));
    assert_eq!(
        state["scene"],
        json!({"name": "Other", "type": "Control", "path": "/root/Other", "file": "res://other.tscn"})
    );
    let found = game.data("get_tree", json!({"since": before["revision"]}));
    assert_eq!(found["removed"], json!(["/root/Main"]));
    assert_eq!(game.refusal("leave", json!({})).0, "UNKNOWN_COMMAND", "the node that declared it was freed");
    let won = game.ask("win", json!({}));
    assert_eq!(
        (types(&won), &won["events"][0]["by"], &won["events"][0]["node"]),
        (vec!["won"], &json!("you"), &json!("/root/Other"))
    );
    assert_eq!(types(&game.ask("press_button", json!({"path": "#Go"}))), ["button_down", "pressed", "button_up"]);
}

/// While no command comes, the bridge hardly checks anything; signals of another scene are still reported.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn signals_of_a_scene_that_loads_while_no_command_comes_are_reported() {
    let folder = small_game(
        "extends Control\nfunc agent_commands():\n\treturn {\"leave\": {}}\nfunc agent_command(_c, _a):\n\t_leave()\n\treturn {}\nfunc _leave():\n\tawait get_tree().create_timer(1.0).timeout\n\tget_tree().change_scene_to_file(\"res://other.tscn\")\n",
    );
    let scene = "[gd_scene format=3]\n\n[ext_resource type=\"Script\" path=\"res://other.gd\" id=\"1\"]\n\n[node name=\"Other\" type=\"Control\"]\nscript = ExtResource(\"1\")\n";
    let script = "extends Control\nsignal arrived\nfunc _ready():\n\tfor i in 3:\n\t\tawait get_tree().process_frame\n\tarrived.emit()\n";
    std::fs::write(folder.path().join("other.tscn"), scene).unwrap();
    std::fs::write(folder.path().join("other.gd"), script).unwrap();
    let mut game = Game::start(&mut bridge(folder.path()));
    game.data("leave", json!({}));
    std::thread::sleep(std::time::Duration::from_millis(2000));
    let waited = game.data("get_events", json!({}));
    assert_eq!(types(&waited), ["arrived"], "{waited}");
    game.end();
}
