@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast")
extends RefCounted
## The keyboard, and the input map's actions.

const Answer := preload("agent_answer.gd")
const Command := preload("agent_command.gd")
const Press := preload("agent_press.gd")

## Characters that are keys, not letters.
const CONTROL := {"\n": KEY_ENTER, "\t": KEY_TAB, "\b": KEY_BACKSPACE}
## Names that others use for keys.
const ALSO := {"return": "Enter", "esc": "Escape", "del": "Delete", "arrowleft": "Left", "arrowright": "Right", "arrowup": "Up",
	"arrowdown": "Down", "spacebar": "Space", "pgup": "PageUp", "pgdown": "PageDown", "control": "Ctrl", "cmd": "Meta"}

var _session: Node
var _press: Press

func _init(session: Node, press: Press) -> void:
	_session = session
	_press = press

func type_text(args: Dictionary) -> Dictionary:
	var out := {}
	var into: Node = null
	if args.has("path"):
		var node: Variant = _session.selector.one(args["path"])
		if node is Dictionary:
			return node
		var problem: Variant = _focus(node)
		if problem != null:
			return problem
		into = node
		out["path"] = String(node.get_path())
	else:
		into = _focused()
	var viewport: Viewport = into.get_viewport() if into != null else _session.get_tree().root
	for character: String in args["text"]:
		if is_instance_valid(viewport) and viewport.is_inside_tree():
			_type(viewport, character)
	if is_instance_valid(into) and _session.tree.text_of(into) != null:
		out["text"] = _session.tree.text_of(into)
	return out

func press_key(args: Dictionary, command: Command) -> Dictionary:
	var names: PackedStringArray = args["key"].split("+", false)
	for i in names.size():
		names[i] = ALSO.get(names[i].to_lower(), names[i])
	var key := OS.find_keycode_from_string("+".join(names))
	if key & KEY_CODE_MASK == 0:
		return Answer.fail("INVALID_ARGS", "there is no key %s" % args["key"], "keys are named like A, Enter, Escape, Left, F1, Ctrl+S")
	var event := InputEventKey.new()
	event.keycode = (key & KEY_CODE_MASK) as Key
	event.physical_keycode = event.keycode
	event.ctrl_pressed = key & KEY_MASK_CTRL != 0
	event.shift_pressed = key & KEY_MASK_SHIFT != 0
	event.alt_pressed = key & KEY_MASK_ALT != 0
	event.meta_pressed = key & KEY_MASK_META != 0
	if event.keycode < KEY_SPECIAL and not event.ctrl_pressed and not event.alt_pressed and not event.meta_pressed:
		var letter := char(event.keycode)
		event.unicode = (letter if event.shift_pressed else letter.to_lower()).unicode_at(0)
	await _hold(event, 1, command)
	return {"key": OS.get_keycode_string(key)}

func press_action(args: Dictionary, command: Command) -> Dictionary:
	if not InputMap.has_action(args["action"]):
		var actions: Array = InputMap.get_actions().map(func(action: StringName) -> String: return String(action))
		var own: Array = actions.filter(func(action: String) -> bool: return not action.begins_with("ui_"))
		return Answer.fail("INVALID_ARGS", "there is no action %s" % args["action"], "the game's own are: %s" % ", ".join(own), {"actions": actions})
	var event := InputEventAction.new()
	event.action = args["action"]
	event.strength = args.get("strength", 1.0)
	await _hold(event, maxi(args.get("frames", 1), 1), command)
	return {"action": args["action"]}

## Presses, holds for so many frames of both kinds, releases. The release comes even where the command has run out of time.
func _hold(event: InputEvent, count: int, command: Command) -> void:
	event.pressed = true
	_parse(event)
	# The engine takes an event in at the start of the next frame, so these are whole ones.
	await _session.frames(count, command)
	event = event.duplicate()
	event.pressed = false
	_parse(event)

## Buffered whatever the game has set, so that it takes effect at the start of a frame: "just pressed" is true for a whole one.
func _parse(event: InputEvent) -> void:
	var accumulating := Input.use_accumulated_input
	Input.use_accumulated_input = true
	Input.parse_input_event(event)
	Input.use_accumulated_input = accumulating

func _type(viewport: Viewport, character: String) -> void:
	var event := InputEventKey.new()
	event.keycode = CONTROL.get(character, OS.find_keycode_from_string(character))
	event.physical_keycode = event.keycode
	event.unicode = 0 if CONTROL.has(character) else character.unicode_at(0)
	event.pressed = true
	viewport.push_input(event, true)
	event = event.duplicate()
	event.pressed = false
	if viewport.is_inside_tree():
		viewport.push_input(event, true)

## Gives the focus to a control, ready to be typed into: null, or why it can't be.
func _focus(node: Node) -> Variant:
	if not node is Control or node.focus_mode == Control.FOCUS_NONE:
		return Answer.fail("NOT_ACTIONABLE", "%s takes no keys" % node.get_path(), "name a LineEdit or TextEdit, or leave path out",
			{"reason": "not_a_control"})
	var problem: Variant = _press.usable(node)
	if problem != null:
		return problem
	if (node is LineEdit or node is TextEdit) and not node.editable:
		return Answer.fail("NOT_ACTIONABLE", "%s can't be edited" % node.get_path(), "wait_for its state enabled", {"reason": "disabled"})
	node.grab_focus()
	if node is LineEdit:
		node.edit()
		node.caret_column = node.text.length()
	elif node is TextEdit:
		node.set_caret_line(node.get_line_count() - 1)
		node.set_caret_column(node.get_line(node.get_line_count() - 1).length())
	return null

## What has the focus: in the window on top, else in the game's own; null where nothing has.
func _focused() -> Control:
	var root: Window = _session.get_tree().root
	var windows := root.get_embedded_subwindows()
	windows.reverse()
	for window in windows:
		if window.has_focus() and window.gui_get_focus_owner() != null:
			return window.gui_get_focus_owner()
	return root.gui_get_focus_owner()
