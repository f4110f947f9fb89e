@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## list_actions: the game's controls, the actions of its input map, and the actions that its hooks declare.

const Controls := preload("agent_controls.gd")
const Scripts := preload("agent_scripts.gd")
const Touch := preload("agent_touch.gd")

## A longer list of items is truncated, and the rest is counted.
const MAX_ITEMS := 50
const MOUSE := {MOUSE_BUTTON_LEFT: "left", MOUSE_BUTTON_RIGHT: "right", MOUSE_BUTTON_MIDDLE: "middle"}

var _session: Node

func _init(session: Node) -> void:
	_session = session

func list_actions(_args: Dictionary) -> Dictionary:
	var can := []
	var cannot := []
	var modals: Array = _session.reach.modals()
	for node: Node in _session.tree.all(_session.get_tree().root):
		var action := _action(node)
		if action.is_empty():
			continue
		var reason := _reason(node, modals)
		if reason == "":
			can.append(action)
		elif reason != "hidden" or node.get_window().visible and (node is BaseButton or node is LineEdit or node is TextEdit):
			action["reason"] = reason
			cannot.append(action)
	var keys := input_keys()
	for name: String in keys:
		can.append({"cmd": "press_action", "args": {"action": name}, "keys": keys[name]})
	for action: Dictionary in _session.hook.actions():
		(cannot if action.has("reason") else can).append(action)
	var commands: Dictionary = _session.hook.commands()
	for name: String in commands:
		commands[name].erase("node")
		if commands[name]["args"] == null:
			commands[name].erase("args")
	return {"actions": can, "unavailable": cannot, "commands": commands}

## The action of a node; empty if there is none.
func _action(node: Node) -> Dictionary:
	var action := {"cmd": "", "args": {"path": String(node.get_path())}}
	var text: Variant = _session.tree.text_of(node)
	if Controls.holder(node) != null or node is Tree:
		action["cmd"] = "select"
		action["needs"] = ["item"]
		_add_items(node, action)
	elif node is LineEdit or node is TextEdit:
		action["cmd"] = "fill"
		action["needs"] = ["text"]
	elif node is ColorPickerButton or node is ColorPicker:
		action["cmd"] = "set_value"
		action["needs"] = ["value"]
		action["value"] = "#" + node.color.to_html()
	elif node is BaseButton:
		action["cmd"] = "press_button"
		if node.toggle_mode:
			action["pressed"] = node.button_pressed
	elif node is Slider or node is SpinBox or node is ScrollBar:
		action["cmd"] = "set_value"
		action.merge({"needs": ["value"], "min": node.min_value, "max": node.max_value, "step": node.step, "value": node.value})
	elif _session.reach.is_draggable(node):
		action = {"cmd": "drag", "args": {"from": String(node.get_path())}, "needs": ["to"]}
	elif _session.reach.takes_clicks(node):
		action["cmd"] = "click"
	# The text field of a spin box belongs to the spin box.
	if action["cmd"] == "" or node is LineEdit and node.get_parent() is SpinBox:
		return {}
	if node is BaseButton or node is Control and node.tooltip_text != "":
		action["text"] = Controls.label(node, text)
	return action

## Why a player cannot use a node now; empty if a player can.
func _reason(node: Node, modals: Array) -> String:
	if not _session.selector.is_visible(node):
		return "hidden"
	if _session.selector.is_in_state(node, "disabled"):
		return "disabled"
	if not node.can_process():
		return "paused"
	return "covered_by" if _session.reach.modal_over(node, modals) != null else ""

func _add_items(node: Node, action: Dictionary) -> void:
	var items := Controls.choices(node)
	action["items"] = items.slice(0, MAX_ITEMS)
	if items.size() > MAX_ITEMS:
		action["more"] = items.size() - MAX_ITEMS

## The keys of each action of the input map, by its name. Of the engine's own ui_* actions, only those that a script of the game names.
func input_keys() -> Dictionary:
	var named := {}
	for node: Node in _session.tree.all(_session.get_tree().root):
		var script := Scripts.about(node)
		if script != null:
			named.merge(script.ui_actions)
	var out := {}
	for action in InputMap.get_actions():
		if not action.begins_with("ui_") or named.has(String(action)):
			out[String(action)] = InputMap.action_get_events(action).map(_key)
	return out

## The name of a key or button, as press_key and similar commands accept it.
func _key(event: InputEvent) -> String:
	if event is InputEventKey:
		return OS.get_keycode_string(event.get_keycode_with_modifiers() if event.keycode != 0 else event.get_physical_keycode_with_modifiers())
	if event is InputEventMouseButton:
		return "Mouse %s" % MOUSE.get(event.button_index, event.button_index)
	if event is InputEventJoypadButton:
		return "Joypad %s" % Touch.BUTTONS.find_key(event.button_index)
	if event is InputEventJoypadMotion:
		return "Joypad %s %s" % [Touch.AXES.find_key(event.axis), "+" if event.axis_value > 0 else "-"]
	return event.as_text()
