//! A game in another language than that of its texts in the project: what counts is what the player reads.

use super::{Game, bridge, small_game};
use serde_json::json;

const GAME: &str = r#"extends Control
func put(control: Node, named: String, at: Vector2, parent: Node = self) -> Node:
	control.name = named
	if control is Control:
		control.position = at
	parent.add_child(control)
	return control
func _ready():
	for mode in 3:
		var button: Button = put(Button.new(), "Mode%d" % mode, Vector2(10 + mode * 150, 10))
		button.text = "START"
		button.tooltip_text = "HARD"
		button.auto_translate_mode = mode
	var level: OptionButton = put(OptionButton.new(), "Level", Vector2(10, 60))
	for item in ["EASY", "HARD", "START"]:
		level.add_item(item)
	level.get_popup().set_item_auto_translate_mode(2, AUTO_TRANSLATE_MODE_DISABLED)
	var list: ItemList = put(ItemList.new(), "List", Vector2(10, 110))
	list.size = Vector2(150, 100)
	list.add_item("EASY")
	list.add_item("HARD")
	var tree: Tree = put(Tree.new(), "Tree", Vector2(170, 110))
	tree.size = Vector2(150, 100)
	tree.columns = 2
	var root := tree.create_item()
	root.set_text(0, "START")
	root.set_text(1, "START")
	root.set_auto_translate_mode(1, AUTO_TRANSLATE_MODE_DISABLED)
	tree.create_item(root).set_text(0, "HARD")
	var tabs: TabContainer = put(TabContainer.new(), "Tabs", Vector2(330, 110))
	tabs.size = Vector2(300, 100)
	for tab in ["EASY", "HARD"]:
		put(Control.new(), tab, Vector2.ZERO, tabs)
	var bar: MenuBar = put(MenuBar.new(), "Bar", Vector2(10, 220))
	for menu in ["START", "HARD"]:
		put(PopupMenu.new(), menu, Vector2.ZERO, bar).add_item("EASY")
	var field: LineEdit = put(LineEdit.new(), "Field", Vector2(10, 270))
	field.text = "START"
	field.placeholder_text = "EASY"
	put(RichTextLabel.new(), "Rich", Vector2(10, 320)).text = "HARD"
	var row: HBoxContainer = put(HBoxContainer.new(), "Row", Vector2(10, 360))
	put(Label.new(), "Caption", Vector2.ZERO, row).text = "EASY"
	put(HSlider.new(), "Slider", Vector2.ZERO, row).custom_minimum_size.x = 100
	var window := Window.new()
	window.title = "HARD"
	window.position = Vector2i(600, 400)
	put(window, "Window", Vector2.ZERO)
"#;

const GERMAN: &str = "msgid \"\"\nmsgstr \"Language: de\\n\"\n\nmsgid \"START\"\nmsgstr \"Neues Spiel beginnen\"\n\n\
                      msgid \"EASY\"\nmsgstr \"Einfach\"\n\nmsgid \"HARD\"\nmsgstr \"Schwierig\"\n";

fn german() -> (Game, tempfile::TempDir) {
    let folder = small_game(GAME);
    let file = folder.path().join("project.godot");
    let project = std::fs::read_to_string(&file).unwrap();
    let settings =
        "\n[internationalization]\n\nlocale/translations=PackedStringArray(\"res://german.po\")\nlocale/test=\"de\"\n";
    std::fs::write(&file, project + settings).unwrap();
    std::fs::write(folder.path().join("german.po"), GERMAN).unwrap();
    (Game::start(&mut bridge(folder.path())), folder)
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_tree_has_the_texts_that_the_player_reads() {
    let (mut game, _folder) = german();
    let seen = game.data("get_tree", json!({"view": "agent"}))["tree"].take();
    let lines: Vec<&str> = seen.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let expected = [
        "@1 button Neues Spiel beginnen",
        "@2 button Neues Spiel beginnen",
        "@3 button START",
        "@4 combobox Level = Einfach [Einfach; Schwierig; START]",
        "@5 listbox List [Einfach; Schwierig]",
        "@6 tree Tree [Neues Spiel beginnen | START; Neues Spiel beginnen/Schwierig]",
        "@7 tablist Tabs = Einfach [Einfach; Schwierig]",
        "@8 menubar Bar [Neues Spiel beginnen/Einfach; Schwierig/Einfach]",
        "@9 textbox Einfach = START",
        "@10 label Schwierig",
        "@11 slider(0..100 step 1) Einfach = 0",
        "@12 window Schwierig",
    ];
    assert_eq!(lines, expected);
    for (path, field, shown) in [
        ("#Mode0", "text", json!("Neues Spiel beginnen")),
        ("#Mode2", "text", json!("START")),
        ("#Mode0", "tooltip", json!("Schwierig")),
        ("#Mode2", "tooltip", json!("HARD")),
        ("#Level", "items", json!(["Einfach", "Schwierig", "START"])),
        ("#Window", "title", json!("Schwierig")),
        ("#Field", "text", json!("START")),
    ] {
        assert_eq!(game.data("get_node", json!({"path": path}))[field], shown, "{path} {field}");
    }
    assert_eq!(game.data("get_property", json!({"path": "#Mode0", "property": "text"}))["value"], "START");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn commands_take_the_texts_that_the_player_reads() {
    let (mut game, _folder) = german();
    let found =
        |game: &mut Game, text: &str| game.data("find", json!({"selector": format!("Button:text(\"{text}\")")}));
    assert_eq!(found(&mut game, "Neues Spiel beginnen")["matches"], json!(["/root/Main/Mode0", "/root/Main/Mode1"]));
    assert_eq!(found(&mut game, "START")["matches"], json!(["/root/Main/Mode2"]));
    for (path, item, selected) in [
        ("#Level", "Schwierig", json!(1)),
        ("#Level", "START", json!(2)),
        ("#List", "Schwierig", json!([1])),
        ("#Tree", "Neues Spiel beginnen/Schwierig", json!(["Neues Spiel beginnen/Schwierig"])),
        ("#Tabs", "Schwierig", json!(1)),
        ("#Bar", "Schwierig/Einfach", json!(null)),
    ] {
        let chosen = game.data("select", json!({"path": path, "item": item}));
        assert_eq!(chosen["selected"], selected, "{path} {item}: {chosen}");
    }
    assert_eq!(game.refusal("select", json!({"path": "#List", "item": "EASY"})).0, "INVALID_ARGS");
    game.data("expect", json!({"path": "#Mode0", "text": "Neues Spiel beginnen"}));
    game.data("expect", json!({"path": "#Rich", "text": "/^Schw/"}));
    let (code, failed) = game.refusal("expect", json!({"path": "#Mode0", "text": "START", "timeout": 0.1}));
    assert_eq!((code.as_str(), &failed["details"]["found"]), ("EXPECTATION_FAILED", &json!("Neues Spiel beginnen")));
    let actions = game.data("list_actions", json!({}))["actions"].take();
    assert!(actions[0]["text"] == "Neues Spiel beginnen" && actions[2]["text"] == "START", "{actions}");
}
