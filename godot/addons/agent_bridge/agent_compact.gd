@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## get_tree with the view "agent": everything that a player sees and can use, one line per node with its short name, role, state, label, value and
## items. Containers that only lay out their children are left out.

const Actions := preload("agent_actions.gd")
const Controls := preload("agent_controls.gd")
const Scripts := preload("agent_scripts.gd")
const Walk := preload("agent_tree.gd")
const Values := preload("agent_values.gd")

const MAX_ITEMS := 20
## The longest text in characters; a longer one is truncated.
const MAX_TEXT := 500
## The ARIA role if there is one. The first matching class counts.
const ROLES := {"LinkButton": "link", "CheckBox": "checkbox", "CheckButton": "checkbox", "OptionButton": "combobox", "MenuButton": "menu",
	"ColorPickerButton": "color", "BaseButton": "button", "SpinBox": "spinbutton", "Slider": "slider", "ScrollBar": "scrollbar", "Range": "progressbar",
	"LineEdit": "textbox", "TextEdit": "textbox", "ItemList": "listbox", "Tree": "tree", "TabContainer": "tablist", "TabBar": "tablist",
	"MenuBar": "menubar", "PopupMenu": "menu", "ColorPicker": "color", "Label": "label", "RichTextLabel": "label", "Label3D": "label",
	"AcceptDialog": "dialog", "Window": "window"}
const BUTTONS := ["link", "checkbox", "radio", "button", "menu"]
## Roles that are named by the label before them, and whose text is their value.
const FIELDS := ["combobox", "color", "spinbutton", "slider", "scrollbar", "progressbar", "textbox", "listbox", "tree", "tablist"]

## Control characters, line and paragraph separators, and direction marks.
static var _awkward := RegEx.create_from_string("[\\x00-\\x1f\\x7f-\\x9f\\x{200e}\\x{200f}\\x{2028}-\\x{202e}\\x{2066}-\\x{2069}]+")

## Before these, a label is a title, not a caption.
const TITLED := ["listbox", "tree", "tablist"]

var _session: Node
# The state of the current walk:
var _lines: PackedStringArray
var _modals: Array
var _max_nodes: int
var _max_depth: int
var _is_truncated: bool

func _init(session: Node) -> void:
	_session = session

func view(root: Node, options: Dictionary) -> Dictionary:
	_lines = PackedStringArray()
	_modals = _session.reach.modals()
	_max_nodes = maxi(options.get("max_nodes", Walk.DEFAULT_NODES), 1)
	_max_depth = clampi(options.get("depth", Walk.DEFAULT_DEPTH), 0, Walk.DEEPEST)
	_is_truncated = false
	if _session.selector.is_visible(root):
		_walk(root, 0, 0, "")
	var out := {"tree": Array(_lines), "input": Actions.new(_session).input_keys(), "actions": _session.hook.actions()}
	for name: String in ["input", "actions"]:
		if out[name].is_empty():
			out.erase(name)
	return out.merged({"nodes": _lines.size(), "truncated": _is_truncated})

## `caption` is the label before it.
func _walk(node: Node, depth: int, indent: int, caption: String) -> void:
	if "visible" in node and not node.visible and (node is CanvasItem or node is Node3D or node is Window or node is CanvasLayer):
		return
	var is_covered: bool = not _modals.is_empty() and _session.reach.modal_over(node, _modals) != null
	var line := "" if is_covered else _line(node, caption)
	if line != "":
		if _lines.size() >= _max_nodes:
			_is_truncated = true
			return
		_lines.append("  ".repeat(indent) + line)
		indent += 1
	if node is SpinBox:
		return
	var children: Array[Node] = _session.tree.children_of(node)
	if depth >= _max_depth:
		_is_truncated = _is_truncated or not children.is_empty()
		return
	var before := ""
	for i in children.size():
		var child := children[i]
		if node is Container and child is Label and child.visible and i + 1 < children.size() and _takes_caption(children[i + 1], _session.tree.text_of(child)):
			before = _session.tree.text_of(child)
			continue
		_walk(child, depth + 1, indent, before)
		before = ""

## The line of a node; empty if there is nothing to see or do.
func _line(node: Node, caption: String) -> String:
	var role := _role(node)
	var said := _said(node)
	if role == "" and said == "" or node == _session.get_tree().root:
		return ""
	# Without BBCode tags, and including text that scripts appended.
	var text: Variant = node.get_parsed_text() if node is RichTextLabel else _session.tree.text_of(node)
	var name := caption
	if name == "" and role in ["label", "window", "dialog"]:
		name = str(text)
	elif name == "" and role != "":
		name = Controls.label(node, text if role in BUTTONS else "")
	if role == "label" and name.strip_edges() == "" and said == "":
		return ""
	var out: String = _session.selector.refs.of(node) + " " + (role if role != "" else Scripts.type_of(node)) + _marks(node)
	if name != "":
		out += " " + _name(name)
	return out + _value(node, role, text) + _items(node) + said

func _role(node: Node) -> String:
	if node is CheckBox and node.button_group != null:
		return "radio"
	for type: String in ROLES:
		if node.is_class(type):
			return ROLES[type]
	var is_object: bool = node is Control or node is CollisionObject2D or node is CollisionObject3D
	var reach: RefCounted = _session.reach
	return "object" if is_object and (reach.takes_clicks(node) or reach.is_draggable(node) or reach.is_drop_target(node)) else ""

## Whether the label before a field is its only label.
func _takes_caption(node: Node, caption: String) -> bool:
	var is_unnamed: bool = node is Control and node.visible and node.tooltip_text == "" and Controls.translated(node, node.accessibility_name) in ["", caption]
	return is_unnamed and (_role(node) in FIELDS and not _role(node) in TITLED or node is Button and node.toggle_mode and node.text == "")

## Its marks, such as "(disabled,checked)".
func _marks(node: Node) -> String:
	var marks := PackedStringArray()
	if _session.selector.is_in_state(node, "disabled"):
		marks.append("disabled")
	if node is BaseButton and node.toggle_mode and node.button_pressed and not node is OptionButton and not node is MenuButton:
		marks.append("checked")
	if node is Control and node.has_focus():
		marks.append("focused")
	if _session.reach.is_draggable(node):
		marks.append("draggable")
	if _session.reach.is_drop_target(node):
		marks.append("takes drops")
	if node is Slider or node is SpinBox:
		marks.append("%s..%s step %s" % [_number(node.min_value), _number(node.max_value), _number(node.step)])
	return "" if marks.is_empty() else "(%s)" % ",".join(marks)

func _value(node: Node, role: String, text: Variant) -> String:
	if node is Range:
		return " = " + _number(node.value)
	if role == "color":
		return " = #" + node.color.to_html()
	if role == "combobox" or role == "textbox":
		return " = " + _plain(str(text))
	var selected: Variant = Controls.selected(node)
	if selected == null or selected is Array and selected.is_empty():
		return ""
	if selected is int:
		selected = [selected]
	var labels: Array = selected.map(func(item: Variant) -> String:
		return item if item is String else Controls.text(node, item) if item >= 0 else "")
	return " = " + _plain("; ".join(labels))

## The available items: " [Easy; Hard]".
func _items(node: Node) -> String:
	if Controls.holder(node) == null and not node is Tree:
		return ""
	var items := Controls.choices(node)
	var more := "" if items.size() <= MAX_ITEMS else "; %d more" % (items.size() - MAX_ITEMS)
	return " [" + _plain("; ".join(PackedStringArray(items.slice(0, MAX_ITEMS)))) + more + "]"

## The fields of the game's hook: " crystal_id=0 color=red".
func _said(node: Node) -> String:
	var known := Scripts.about(node)
	var fields: Variant = node.call("agent_fields") if known != null and known.has_fields else null
	var out := ""
	if fields is Dictionary:
		for name: Variant in fields:
			if not name in Walk.OWN:
				var value: Variant = fields[name]
				out += " %s=%s" % [name, value if value is String and value.is_valid_identifier() else Values.text(value)]
	return _plain(out)

func _number(value: float) -> String:
	return str(int(value)) if value == floorf(value) and absf(value) < 1e15 else str(value)

## The text on one line, without characters that could look like another line or change the order of letters.
func _plain(text: String) -> String:
	var line := _awkward.sub(text, " ", true)
	return line if line.length() <= MAX_TEXT else line.left(MAX_TEXT) + "…"

## A label, in quotes if it could be mistaken for more than a label.
func _name(text: String) -> String:
	var line := _plain(text)
	var is_simple := not ["@", " = ", "[", "]", ";", "\"", "  "].any(func(mark: String) -> bool: return mark in line)
	return line if is_simple else Values.quote(line)
