@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## fill and set_value: set a text field, a slider, a toggle, a colour or the cell of a tree.

const Answer := preload("agent_answer.gd")
const Controls := preload("agent_controls.gd")
const Items := preload("agent_items.gd")
const Values := preload("agent_values.gd")

var _session: Node
var _keys: RefCounted
var _mouse: RefCounted
var _choose: RefCounted

func _init(session: Node, keys: RefCounted, mouse: RefCounted, choose: RefCounted) -> void:
	_session = session
	_keys = keys
	_mouse = mouse
	_choose = choose

func fill(args: Dictionary, command: RefCounted) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	if node is Tree:
		return await _cell(node, args, args["text"], command)
	var field: Node = node.get_line_edit() if node is SpinBox or node is FileDialog else node
	if not field is LineEdit and not field is TextEdit:
		return _session.reach.refusal(node, "not_a_control", "is not a text field", "select and set_value are for other controls")
	if field is LineEdit and _has_keys(args["text"]):
		return _one_line(node)
	var before: String = field.text
	var problem: Variant = await _replace(field, args["text"], node is SpinBox, command)
	if problem != null:
		return problem
	if not is_instance_valid(field):
		return {"path": args["path"]}
	if field.text == before and before != args["text"]:
		return _session.reach.refusal(node, "unchanged", "kept its text %s" % _session.tree.text_of(field), "it may accept only other texts, such as numbers or shorter texts")
	return {"path": args["path"], "text": _session.tree.text_of(field)}

func set_value(args: Dictionary, command: RefCounted) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	var value: Variant = args["value"]
	if node is Tree:
		return await _cell(node, args, value, command)
	if node is Slider or node is SpinBox or node is ScrollBar:
		return await _number(node, value, args["path"], command)
	if node is BaseButton and node.toggle_mode and not node is OptionButton and not node is ColorPickerButton:
		return await _toggle(node, value, args["path"], command)
	if node is ColorPicker or node is ColorPickerButton:
		return _colour(node, value, args["path"])
	return _session.reach.refusal(node, "not_a_control", "has no value that a player can set", "fill is for text fields, select for menus, lists and tabs")

## Replaces the text of a field; returns null, or the failure.
func _replace(field: Control, text: String, is_entered: bool, command: RefCounted) -> Variant:
	var problem: Variant = await _keys.focus(field, command)
	if problem != null:
		return problem
	field.select_all()
	if field is TextEdit:
		# Pasted, because a code editor would add brackets and indentation to typed text.
		if text != "":
			field.insert_text_at_caret(text)
		else:
			field.backspace()
	else:
		_keys.type((text if text != "" else "\b") + ("\n" if is_entered else ""))
	await _session.ticked
	return null

func _number(control: Range, value: Variant, path: String, command: RefCounted) -> Dictionary:
	if not value is int and not value is float or not is_finite(value):
		return _wrong(control, "takes a number", {"min": control.min_value, "max": control.max_value, "step": control.step})
	if value < control.min_value and not control.allow_lesser or value > control.max_value and not control.allow_greater:
		return _wrong(control, "takes numbers from %s to %s" % [control.min_value, control.max_value],
			{"min": control.min_value, "max": control.max_value, "step": control.step})
	var problem: Variant = null
	if control is SpinBox:
		problem = await _replace(control.get_line_edit(), str(value), true, command)
	elif control is Slider:
		problem = await _slide(control, value, command)
	else:
		problem = _session.reach.problem(control)
		if problem == null:
			control.value = value
	if problem != null:
		return problem
	return {"path": path, "value": control.value} if is_instance_valid(control) else {"path": path}

## Presses a slider at the position of the value, and releases it.
func _slide(slider: Slider, value: float, command: RefCounted) -> Variant:
	if not slider.editable:
		return _session.reach.refusal(slider, "disabled", "cannot be moved", "wait_for its state enabled")
	var span := slider.max_value - slider.min_value
	var ratio := (value - slider.min_value) / span if span > 0 else 0.0
	var grabber := slider.get_theme_icon("grabber").get_size()
	if slider is VSlider or slider.is_layout_rtl():
		ratio = 1.0 - ratio
	var axis := 1 if slider is VSlider else 0
	var point := slider.size / 2
	point[axis] = grabber[axis] / 2 + ratio * (slider.size[axis] - grabber[axis])
	var spot: Variant = await _session.aim.reach(slider, command, Rect2(point - Vector2.ONE, Vector2(2, 2)))
	if spot is Dictionary:
		return spot
	_session.devices.button(MOUSE_BUTTON_LEFT, true, spot[0], spot[1])
	await _session.ticked
	if is_instance_valid(slider):
		# One pixel may be more than one step.
		slider.value = value
	if is_instance_valid(spot[0]):
		_session.devices.button(MOUSE_BUTTON_LEFT, false, spot[0], spot[1])
	await _session.ticked
	return null

func _toggle(button: BaseButton, value: Variant, path: String, command: RefCounted) -> Dictionary:
	if not value is bool:
		return _wrong(button, "takes true or false", {})
	if button.button_pressed != value:
		var pressed: Dictionary = await _mouse.press_button({"path": path}, command)
		if pressed.get("pressed", value) != value:
			return _session.reach.refusal(button, "unchanged", "stayed %s" % ("on" if not value else "off"), "in a button group, press the button that is to be on")
		return pressed
	var problem: Variant = _session.reach.problem(button)
	return {"path": path, "pressed": value} if problem == null else problem

func _colour(control: Control, value: Variant, path: String) -> Dictionary:
	if not value is Color and not (value is String and Color.html_is_valid(value)):
		return _wrong(control, "takes a colour, such as \"#ff0000\" or \"#ff000080\"", {})
	var problem: Variant = _session.reach.problem(control)
	if problem != null:
		return problem
	var colour: Color = value if value is Color else Color.html(value)
	control.color = colour
	control.color_changed.emit(colour)
	return {"path": path, "value": "#" + colour.to_html()}

## Sets the cell of a tree: clicks a check box, or edits the text.
func _cell(tree: Tree, args: Dictionary, value: Variant, command: RefCounted) -> Dictionary:
	if not args.has("item"):
		return Answer.fail("INVALID_ARGS", "a cell of %s needs item, and column" % tree.get_path(), "{\"item\":\"Weapons/Sword\",\"column\":1}")
	var item: Variant = Items.find(tree, args["item"])
	if item is Dictionary:
		return item
	var row: TreeItem = item.row
	var column: int = args.get("column", 0)
	if column < 0 or column >= tree.columns:
		return _wrong(tree, "has the columns 0 to %d" % (tree.columns - 1), {})
	if value is String and _has_keys(value):
		return _one_line(tree)
	if value is float and not is_finite(value):
		return _wrong(tree, "takes finite numbers", {})
	var problem: Variant = _session.reach.problem(tree)
	if problem == null and not row.is_editable(column):
		problem = _session.reach.refusal(tree, "disabled", "has the item %s, whose column %d cannot be edited" % [item.paths[0], column], "name another column")
	var before: Variant = _in_cell(row, column)
	if problem == null and row.get_cell_mode(column) == TreeItem.CELL_MODE_CHECK:
		problem = await _check(tree, row, column, value, command)
	elif problem == null:
		problem = await _edit(tree, row, column, value, command)
	if problem != null or command.done or not is_instance_valid(row):
		return problem if problem != null else {"path": args["path"], "column": column}
	var now: Variant = _in_cell(row, column)
	if Values.same(now, before) and not Values.same(now, value):
		return _session.reach.refusal(tree, "unchanged", "has %s in column %d of %s, not %s" % [Values.text(now), column, item.paths[0], Values.text(value)],
			"the cell may accept only other values")
	return {"path": args["path"], "item": Controls.path_of(row), "column": column, "value": now}

func _check(tree: Tree, row: TreeItem, column: int, value: Variant, command: RefCounted) -> Variant:
	if not value is bool:
		return _wrong(tree, "takes true or false in column %d" % column, {})
	if row.is_checked(column) == value:
		return null
	var rect: Rect2 = await _choose.cell_rect(tree, row, column)
	var spot: Variant = await _session.aim.reach(tree, command, Rect2(rect.position, Vector2(rect.size.y, rect.size.y)))
	if spot is Dictionary:
		return spot
	await _session.devices.click(spot)
	return null

func _edit(tree: Tree, row: TreeItem, column: int, value: Variant, command: RefCounted) -> Variant:
	if row.get_cell_mode(column) == TreeItem.CELL_MODE_RANGE and not value is int and not value is float:
		return _wrong(tree, "takes a number in column %d" % column, {})
	if row.get_cell_mode(column) == TreeItem.CELL_MODE_STRING and not value is String:
		return _wrong(tree, "takes a text in column %d" % column, {})
	var problem: Variant = await _choose.select_cell(tree, row, column, command)
	if problem != null or command.done or not is_instance_valid(tree):
		return problem
	tree.edit_selected(true)
	await _session.ticked
	_keys.press_all([KEY_CTRL, KEY_A])
	_keys.release_all([KEY_CTRL, KEY_A])
	_keys.type((str(value) if str(value) != "" else "\b") + "\n")
	await _session.ticked
	return null

## The value of a cell: a text, a number, or whether it is checked.
func _in_cell(row: TreeItem, column: int) -> Variant:
	match row.get_cell_mode(column):
		TreeItem.CELL_MODE_CHECK: return row.is_checked(column)
		TreeItem.CELL_MODE_RANGE: return row.get_range(column)
	return row.get_text(column)

## Whether a text contains characters that act as keys in the field: a tab, a line feed, a backspace.
func _has_keys(text: String) -> bool:
	return ["\n", "\r", "\t", "\b"].any(func(key: String) -> bool: return key in text)

func _one_line(node: Node) -> Dictionary:
	return Answer.fail("INVALID_ARGS", "%s has one line and takes no tab or line feed" % node.get_path(), "press_key presses Tab and Enter")

func _wrong(node: Node, text: String, details: Dictionary) -> Dictionary:
	return Answer.fail("INVALID_ARGS", "%s %s" % [node.get_path(), text], "list_actions says what each control takes", details)
