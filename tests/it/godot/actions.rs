//! `list_actions`: the available actions of all kinds of controls; and reading the fields of get_tree by name.

use super::Game;
use serde_json::{Value, json};

pub const CONTROLS: &str = r##"extends Control
signal happened(what: String)
var cells: Array:
	get: return [$Tree.get_root().get_child(2).is_checked(1), $Tree.get_root().get_child(3).get_range(1)]
func place(control: Control, title: String, at: Vector2, extent := Vector2(120, 30)) -> Control:
	control.name = title
	control.position = at
	control.size = extent
	add_child(control)
	return control
func tell(what: String) -> Callable:
	return func(...given: Array) -> void: happened.emit(" ".join([what] + given.map(func(value: Variant) -> String: return str(value))))
func _ready():
	mouse_filter = MOUSE_FILTER_IGNORE
	InputMap.add_action("jump")
	for code in [KEY_SPACE, KEY_J]:
		var key := InputEventKey.new()
		key.physical_keycode = code
		key.ctrl_pressed = code == KEY_J
		InputMap.action_add_event("jump", key)
	var pad := InputEventJoypadButton.new()
	pad.button_index = JOY_BUTTON_A
	InputMap.action_add_event("jump", pad)
	lists()
	fields()
	var area := Area2D.new()
	area.name = "Area"
	area.position = Vector2(600, 450)
	var shape := CollisionShape2D.new()
	shape.shape = CircleShape2D.new()
	area.add_child(shape)
	add_child(area)
	area.input_event.connect(func(_viewport, event, _shape):
		if event is InputEventMouseButton and event.pressed:
			happened.emit("area"))
	var deaf := Area2D.new()
	deaf.name = "Deaf"
	add_child(deaf)
	place(Panel.new(), "Plain", Vector2(430, 320))
	place(Panel.new(), "Panel", Vector2(430, 280)).gui_input.connect(func(event):
		if event is InputEventMouseButton and event.pressed:
			happened.emit("panel"))
func lists():
	var choice: OptionButton = place(OptionButton.new(), "Choice", Vector2(580, 0))
	for i in 60:
		choice.add_item("level %d" % i)
	choice.set_item_disabled(2, true)
	choice.item_selected.connect(tell("choice"))
	var menu: MenuButton = place(MenuButton.new(), "Menu", Vector2(580, 40))
	menu.text = "Menu"
	var popup := menu.get_popup()
	popup.add_item("Open")
	popup.add_separator()
	popup.add_check_item("Grid")
	popup.id_pressed.connect(tell("menu"))
	var recent := PopupMenu.new()
	for item in ["a.txt", "b.txt"]:
		recent.add_item(item)
	recent.id_pressed.connect(tell("recent"))
	popup.add_submenu_node_item("Recent", recent)
	var bar: MenuBar = place(MenuBar.new(), "Bar", Vector2(580, 80), Vector2(200, 30))
	for title in ["File", "Edit"]:
		var under := PopupMenu.new()
		under.name = title
		under.add_item("New " + title)
		under.add_item("Undo")
		under.id_pressed.connect(tell(title))
		bar.add_child(under)
	var list: ItemList = place(ItemList.new(), "List", Vector2(0, 0), Vector2(150, 100))
	for i in 30:
		list.add_item("item %d" % i)
	list.add_item("item 3")
	list.set_item_disabled(4, true)
	list.item_selected.connect(tell("list"))
	list.item_activated.connect(tell("list activated"))
	var several: ItemList = place(ItemList.new(), "Several", Vector2(160, 0), Vector2(150, 100))
	several.select_mode = ItemList.SELECT_MULTI
	for i in 3:
		several.add_item("m %d" % i)
	several.select(0)
	several.select(1, false)
	trees()
	var tabs: TabContainer = place(TabContainer.new(), "Tabs", Vector2(0, 160), Vector2(200, 100))
	for title in ["First", "Second", "Third"]:
		var page := Label.new()
		page.name = title
		page.text = title + " page"
		tabs.add_child(page)
	tabs.set_tab_disabled(2, true)
	tabs.tab_changed.connect(tell("tabs"))
	var tab_bar: TabBar = place(TabBar.new(), "TabBar", Vector2(220, 160), Vector2(100, 30))
	tab_bar.clip_tabs = true
	for title in ["Aaaaa", "Bbbbb", "Ccccc", "Ddddd"]:
		tab_bar.add_tab(title)
	tab_bar.tab_changed.connect(tell("tab bar"))
func trees():
	var tree: Tree = place(Tree.new(), "Tree", Vector2(320, 0), Vector2(250, 150))
	tree.columns = 2
	tree.hide_root = true
	var top := tree.create_item()
	for title in ["Weapons", "Armour"]:
		var group := tree.create_item(top)
		group.set_text(0, title)
		for part in ["Sword", "Shield"]:
			var item := tree.create_item(group)
			item.set_text(0, part)
			item.set_text(1, "7")
			item.set_editable(1, true)
		group.collapsed = title == "Armour"
	var flag := tree.create_item(top)
	flag.set_text(0, "Flag")
	flag.set_cell_mode(1, TreeItem.CELL_MODE_CHECK)
	flag.set_editable(1, true)
	var amount := tree.create_item(top)
	amount.set_text(0, "Amount")
	amount.set_cell_mode(1, TreeItem.CELL_MODE_RANGE)
	amount.set_range_config(1, 0, 10, 1)
	amount.set_editable(1, true)
	tree.item_selected.connect(func(): happened.emit("tree " + tree.get_selected().get_text(0)))
	tree.item_edited.connect(func(): happened.emit("edited %s %d" % [tree.get_edited().get_text(0), tree.get_edited_column()]))
func fields():
	var slider: HSlider = place(HSlider.new(), "Slider", Vector2(0, 280))
	slider.max_value = 1
	slider.step = 0.01
	slider.value_changed.connect(tell("slider"))
	slider.drag_started.connect(tell("drag started"))
	slider.drag_ended.connect(tell("drag ended"))
	place(VSlider.new(), "Upright", Vector2(700, 280), Vector2(20, 120)).value_changed.connect(tell("upright"))
	var spin: SpinBox = place(SpinBox.new(), "Spin", Vector2(140, 280))
	spin.suffix = "kg"
	spin.value_changed.connect(tell("spin"))
	place(HScrollBar.new(), "Scroll", Vector2(280, 280)).value_changed.connect(tell("scroll"))
	place(ProgressBar.new(), "Progress", Vector2(280, 300))
	var check: CheckBox = place(CheckBox.new(), "Check", Vector2(0, 320))
	check.text = "Music"
	check.toggled.connect(tell("check"))
	place(ColorPickerButton.new(), "Colour", Vector2(140, 320)).color_changed.connect(tell("colour"))
	place(Button.new(), "IconOnly", Vector2(280, 320)).tooltip_text = "Save the game"
	var line: LineEdit = place(LineEdit.new(), "Line", Vector2(0, 360))
	line.text = "old"
	line.text_changed.connect(tell("line"))
	var text: TextEdit = place(TextEdit.new(), "Text", Vector2(140, 360), Vector2(150, 60))
	text.text = "old\ntext"
	text.text_changed.connect(tell("text"))
	place(LineEdit.new(), "Fixed", Vector2(0, 400)).editable = false
	var rich: RichTextLabel = place(RichTextLabel.new(), "Rich", Vector2(430, 360))
	rich.bbcode_enabled = true
	rich.append_text("[b]Bold[/b] words")
	place(LinkButton.new(), "Link", Vector2(300, 360)).text = "Home page"
	var files := FileDialog.new()
	files.name = "Files"
	files.access = FileDialog.ACCESS_USERDATA
	files.file_selected.connect(tell("file"))
	add_child(files)
	place(Button.new(), "Save", Vector2(0, 440)).pressed.connect(files.popup_centered.bind(Vector2i(600, 400)))
func _process(_delta: float):
	if Input.is_action_just_pressed("ui_left"):
		happened.emit("left")
"##;

/// The events of the game of [`CONTROLS`], from its signal `happened`.
pub fn happened(answer: &Value) -> Vec<String> {
    let events = answer["events"].as_array().unwrap().iter().filter(|event| event["type"] == "happened");
    events.map(|event| event["what"].as_str().unwrap().to_owned()).collect()
}

fn of_path<'a>(listed: &'a Value, list: &str, path: &str) -> Vec<&'a Value> {
    listed[list].as_array().unwrap().iter().filter(|entry| entry["args"]["path"] == path).collect()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn each_kind_of_control_is_listed_as_an_action() {
    let (mut game, _folder) = Game::play(CONTROLS);
    let listed = game.data("list_actions", json!({}));
    let only = |name: &str| {
        let found = of_path(&listed, "actions", &format!("/root/Main/{name}"));
        assert_eq!(found.len(), 1, "{name}: {listed}");
        found[0]
    };
    for (name, command, expected) in [
        ("Menu", "select", json!({"items": ["Open", "Grid", "Recent/a.txt", "Recent/b.txt"], "text": "Menu"})),
        ("Bar", "select", json!({"items": ["File/New File", "File/Undo", "Edit/New Edit", "Edit/Undo"]})),
        ("Several", "select", json!({"items": ["m 0", "m 1", "m 2"], "needs": ["item"]})),
        ("Tabs", "select", json!({"items": ["First", "Second"]})),
        ("TabBar", "select", json!({"items": ["Aaaaa", "Bbbbb", "Ccccc", "Ddddd"]})),
        ("Slider", "set_value", json!({"min": 0.0, "max": 1.0, "step": 0.01, "value": 0.0, "needs": ["value"]})),
        ("Spin", "set_value", json!({"max": 100.0})),
        ("Colour", "set_value", json!({"value": "#000000ff"})),
        ("Line", "fill", json!({"needs": ["text"]})),
        ("Text", "fill", json!({"needs": ["text"]})),
        ("Check", "press_button", json!({"text": "Music", "pressed": false})),
        ("IconOnly", "press_button", json!({"text": "Save the game"})),
        ("Link", "press_button", json!({"text": "Home page"})),
        ("Panel", "click", json!({})),
        ("Area", "click", json!({})),
    ] {
        let action = only(name);
        assert_eq!(action["cmd"], command, "{name}");
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(action[key], *value, "{key} of {name}");
        }
    }
    let tree =
        ["Weapons", "Weapons/Sword | 7", "Weapons/Shield | 7", "Armour", "Armour/Sword | 7", "Armour/Shield | 7"];
    assert_eq!(only("Tree")["items"].as_array().unwrap()[..6], tree.map(Value::from));
    let levels = only("Choice");
    assert_eq!((levels["items"].as_array().unwrap().len(), &levels["more"]), (50, &json!(9)), "59 can be chosen");
    for name in ["Deaf", "Plain", "Progress"] {
        assert!(of_path(&listed, "actions", &format!("/root/Main/{name}")).is_empty(), "{name}");
    }
    assert_eq!(of_path(&listed, "unavailable", "/root/Main/Fixed")[0]["reason"], "disabled");
    assert!(!listed.to_string().contains("/root/Main/Files"), "a closed dialog is no list of refusals: {listed}");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_actions_of_the_input_map_come_with_their_keys() {
    let (mut game, _folder) = Game::play(CONTROLS);
    let listed = game.data("list_actions", json!({}));
    let actions = listed["actions"].as_array().unwrap().iter().filter(|entry| entry["cmd"] == "press_action");
    let actions: Vec<_> = actions.map(|entry| (entry["args"]["action"].as_str().unwrap(), &entry["keys"])).collect();
    assert_eq!(actions[1], ("jump", &json!(["Space", "Ctrl+J", "Joypad a"])));
    assert_eq!((actions.len(), actions[0].0), (2, "ui_left"), "of the engine's own, those that a script names");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn fields_shown_in_the_tree_can_be_read_by_name() {
    let (mut game, _folder) = Game::play(CONTROLS);
    let mut ask = |path: &str, property: &str| game.data("get_property", json!({"path": path, "property": property}));
    assert_eq!(ask("#Check", "pressed"), json!({"value": false, "type": "bool"}));
    assert_eq!(ask("#Several", "selected"), json!({"value": [0, 1], "type": "Array"}));
    assert_eq!(ask("#Tabs", "selected")["value"], 0);
    assert_eq!(ask("#Several", "items")["value"], json!(["m 0", "m 1", "m 2"]));
    assert_eq!(ask("/root", "text")["value"], "Small");
    assert_eq!(ask("#IconOnly", "pressed")["type"], "Signal", "a plain button shows no such field");
    assert_eq!(game.refusal("get_property", json!({"path": "#Plain", "property": "items"})).0, "PROPERTY_NOT_FOUND");
    game.data(
        "wait_for",
        json!({"path": "#Check", "property": "pressed", "equals": true,
        "then": {"cmd": "press_button", "args": {"path": "#Check"}}}),
    );
    let found = game.data("find", json!({"selector": "CheckBox[pressed=true]"}));
    assert_eq!(found["matches"], json!(["/root/Main/Check"]));
    assert_eq!(game.data("find", json!({"selector": "TabContainer[selected=0]"}))["count"], 1);
}
