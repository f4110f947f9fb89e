@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The keyboard, and the input map's actions.

const Answer := preload("agent_answer.gd")

## Characters that are keys rather than letters.
const CONTROL := {"\n": KEY_ENTER, "\t": KEY_TAB, "\b": KEY_BACKSPACE}
## Alternative names of keys.
const ALSO := {"return": "Enter", "esc": "Escape", "del": "Delete", "arrowleft": "Left", "arrowright": "Right", "arrowup": "Up",
	"arrowdown": "Down", "spacebar": "Space", "pgup": "PageUp", "pgdown": "PageDown", "control": "Ctrl", "cmd": "Meta"}

var _session: Node

func _init(session: Node) -> void:
	_session = session

func type_text(args: Dictionary, command: RefCounted) -> Dictionary:
	var out := {}
	var into: Node = null
	if args.has("path"):
		var node: Variant = _session.selector.one(args["path"])
		if node is Dictionary:
			return node
		var problem: Variant = await focus(node, command)
		if problem != null:
			return problem
		into = node
		out["path"] = String(node.get_path())
	else:
		into = _focused()
		# A missing focus is not a failure, because a game may read letters in its _input.
		out["path"] = null if into == null else String(into.get_path())
	type(args["text"])
	await _session.ticked
	if not command.done and is_instance_valid(into) and _session.tree.text_of(into) != null:
		out["text"] = _session.tree.text_of(into)
	return out

## Types letters into the control that has the focus.
func type(text: String) -> void:
	for character in text:
		var code: int = CONTROL.get(character, character.to_upper().unicode_at(0))
		var letter := 0 if CONTROL.has(character) else character.unicode_at(0)
		for down: bool in [true, false]:
			_session.devices.key(code, letter, down)

func press_key(args: Dictionary, command: RefCounted) -> Dictionary:
	var keys: Variant = codes(args["key"])
	if keys is Dictionary:
		return keys
	press_all(keys)
	var names: Array = keys.map(_name)
	names.reverse()
	await _session.devices.release_after(maxi(args.get("frames", 1), 1), names, command)
	return {"key": args["key"]}

func key_down(args: Dictionary) -> Dictionary:
	var keys: Variant = codes(args["key"])
	if keys is Dictionary:
		return keys
	press_all(keys)
	return {"key": args["key"]}

func key_up(args: Dictionary) -> Dictionary:
	var keys: Variant = codes(args["key"])
	if keys is Dictionary:
		return keys
	if not keys.any(func(code: int) -> bool: return _session.devices.is_pressed(_name(code))):
		return Answer.fail("INVALID_ARGS", "%s is not pressed" % args["key"], "key_down presses it")
	release_all(keys)
	return {"key": args["key"]}

func press_action(args: Dictionary, command: RefCounted) -> Dictionary:
	var problem: Variant = _press_action(args)
	if problem != null:
		return problem
	await _session.devices.release_after(maxi(args.get("frames", 1), 1), ["action " + args["action"]], command)
	return {"action": args["action"]}

func action_down(args: Dictionary) -> Dictionary:
	var problem: Variant = _press_action(args)
	return {"action": args["action"]} if problem == null else problem

func action_up(args: Dictionary) -> Dictionary:
	if not _session.devices.release("action " + args["action"]):
		return Answer.fail("INVALID_ARGS", "the action %s is not pressed" % args["action"], "action_down presses it")
	return {"action": args["action"]}

## The key codes of a name such as "Ctrl+S", modifiers first; or the failure.
func codes(names: String) -> Variant:
	# In "Ctrl++", the last plus is the key.
	var last := "+" if names == "+" or names.ends_with("++") else names.get_slice("+", names.get_slice_count("+") - 1)
	var parts := names.left(names.length() - last.length()).split("+", false)
	parts.append(last)
	var out := []
	for part in parts:
		var code := _code(part)
		if code == KEY_NONE:
			return Answer.fail("INVALID_ARGS", "there is no key %s" % (names if part == "" else part),
				"keys are named like A, 7, +, Enter, Escape, Left, F1, Ctrl+S")
		out.append(code)
	return out

## Presses keys one after another; a letter is typed with the modifiers before it.
func press_all(keys: Array) -> void:
	var is_shifted: bool = KEY_SHIFT in keys or _session.devices.is_pressed(_name(KEY_SHIFT))
	var is_command: bool = [KEY_CTRL, KEY_ALT, KEY_META].any(func(code: int) -> bool: return code in keys or _session.devices.is_pressed(_name(code)))
	for code: int in keys:
		var letter := 0
		if code < KEY_SPECIAL and not is_command:
			letter = (char(code) if is_shifted else char(code).to_lower()).unicode_at(0)
		_session.devices.key(code, letter, true)

## Releases keys, the last first.
func release_all(keys: Array) -> void:
	for i in range(keys.size() - 1, -1, -1):
		_session.devices.release(_name(keys[i]))

func _name(code: int) -> String:
	return "key %d" % code

func _code(name: String) -> int:
	if name.length() == 1:
		return name.to_upper().unicode_at(0)
	var code := OS.find_keycode_from_string(ALSO.get(name.to_lower(), name)) & KEY_CODE_MASK
	return code

func _press_action(args: Dictionary) -> Variant:
	if not InputMap.has_action(args["action"]):
		var actions: Array = InputMap.get_actions().map(func(action: StringName) -> String: return String(action))
		var own: Array = actions.filter(func(action: String) -> bool: return not action.begins_with("ui_"))
		return Answer.fail("INVALID_ARGS", "there is no action %s" % args["action"], "the game's own are: %s" % ", ".join(own), {"actions": actions})
	_session.devices.press("action " + args["action"], _event(args["action"], args.get("strength")))
	return null

## The event that presses an action: its first key or joypad button, for shortcuts and games that check keys. Without one, or with a
## strength, an event of the action itself.
func _event(action: StringName, strength: Variant) -> InputEvent:
	var bound: Array = InputMap.action_get_events(action).filter(
		func(event: InputEvent) -> bool: return event is InputEventKey or event is InputEventJoypadButton)
	if strength != null or bound.is_empty():
		var event := InputEventAction.new()
		event.action = action
		event.strength = strength if strength != null else 1.0
		event.pressed = true
		return event
	var pressed: InputEvent = bound[0].duplicate()
	pressed.device = maxi(pressed.device, 0)
	pressed.pressed = true
	if pressed is InputEventKey:
		pressed.keycode = pressed.keycode if pressed.keycode != KEY_NONE else pressed.physical_keycode
		pressed.physical_keycode = pressed.physical_keycode if pressed.physical_keycode != KEY_NONE else pressed.keycode
	return pressed

## Gives a control the focus for typing; returns null, or the failure. A text field is clicked, so that its window also receives the keys.
func focus(node: Node, command: RefCounted) -> Variant:
	if not node is Control or node.focus_mode == Control.FOCUS_NONE:
		return _session.reach.refusal(node, "not_a_control", "takes no keys", "name a LineEdit or TextEdit, or omit path")
	var problem: Variant = _session.reach.problem(node)
	if problem != null:
		return problem
	if (node is LineEdit or node is TextEdit) and not node.editable:
		return _session.reach.refusal(node, "disabled", "cannot be edited", "wait_for its state enabled")
	if node is LineEdit or node is TextEdit:
		var spot: Variant = await _session.aim.reach(node, command)
		if spot is Dictionary:
			return spot
		await _session.devices.click(spot)
		if command.done or not is_instance_valid(node) or not node.is_inside_tree():
			return Answer.fail("NODE_NOT_FOUND", "the field went away as it was clicked", "look at get_tree")
	elif not node.get_window().has_focus():
		node.get_window().grab_focus()
	node.grab_focus()
	if node is LineEdit:
		node.edit()
		node.caret_column = node.text.length()
	elif node is TextEdit:
		node.set_caret_line(node.get_line_count() - 1)
		node.set_caret_column(node.get_line(node.get_line_count() - 1).length())
	return null

## The control that has the focus, in the topmost window or else in the game's own; or null.
func _focused() -> Control:
	var top: Window = _session.devices.key_window()
	var windows := top.get_embedded_subwindows()
	windows.reverse()
	for window in windows:
		if window.has_focus() and window.gui_get_focus_owner() != null:
			return window.gui_get_focus_owner()
	return top.gui_get_focus_owner()
