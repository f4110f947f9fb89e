@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The scene tree as text: the relevant fields of each node, found by walking the tree, without registration.
##
## Each field is converted to JSON at once. So a node's description can be stored and compared with a later one, although the game changes or
## frees the objects meanwhile.

const Controls := preload("agent_controls.gd")
const Found := preload("agent_found.gd")
const Values := preload("agent_values.gd")
const Place := preload("agent_place.gd")
const Scripts := preload("agent_scripts.gd")

## The character that a player sees for each letter of a password.
const SECRET := "•"
const DEFAULT_NODES := 5000
## Each level is an object in an array, and many JSON readers accept at most 128 levels of nesting.
const DEFAULT_DEPTH := 40
const MAX_ITEMS := 500
## The walk is recursive, and the engine allows scripts a call depth of 1024.
const DEEPEST := 200
const DEEPEST_GATHERED := 800
const ALL := {"rect": true, "groups": true, "vars": true, "class": true, "process": true}
const OWN := ["name", "type", "path", "children", "more"]

## The bridge's own node, which walks leave out.
var _own: Node
var _classes := {}
# The state of the current walk:
var _found: RefCounted
var _parts: PackedStringArray
var _with_text: bool
var _max_nodes: int
var _max_depth: int
var _extra := {}
var _without: Array[String] = []
var _only: Variant = null

func _init(own: Node) -> void:
	_own = own

## Walks from `root` down. `options`: depth, max_nodes, fields, as in get_tree. Its text is created only on request.
func walk(root: Node, options: Dictionary, with_text := true) -> RefCounted:
	_with_text = with_text
	_found = Found.new()
	_parts = PackedStringArray()
	_max_nodes = maxi(options.get("max_nodes", DEFAULT_NODES), 1)
	_max_depth = clampi(options.get("depth", DEFAULT_DEPTH), 0, DEEPEST)
	_choose(options.get("fields", []))
	_walk(root, String(root.get_path()), 0)
	_found.text = "".join(_parts)
	return _found

## One node's fields; `"all"` for all of them.
func node(of: Node, fields: Variant) -> Dictionary:
	_choose(fields)
	return _fields(of, String(of.get_path()))

## The children that are shown: includes open popups, and the internal children of nodes that are useless without them (the OK button of a dialog,
## the text field of a spin box).
func children_of(of: Node) -> Array[Node]:
	var is_whole := of is AcceptDialog or of is SpinBox
	var children := of.get_children(is_whole)
	if not is_whole and of.get_child_count(true) > children.size():
		children.assign(of.get_children(true).filter(func(child: Node) -> bool: return child in children or child is Window and child.visible))
	if of == _own.get_parent():
		children.erase(_own)
	return children

## All nodes of a walk, in tree order. Not find_children(), which is slower and also returns the internals of the engine's controls.
func all(from: Node) -> Array[Node]:
	var out: Array[Node] = [from]
	_gather(from, out, 0)
	return out

func _gather(of: Node, out: Array[Node], depth: int) -> void:
	for child in children_of(of):
		out.append(child)
		if child.get_child_count(true) > 0 and depth < DEEPEST_GATHERED:
			_gather(child, out, depth + 1)

## Whether it is the bridge's own node, or below it.
func is_own(of: Node) -> bool:
	return of == _own or _own.is_ancestor_of(of)

## The text that a node of any kind shows; null if it has none.
func text_of(of: Node) -> Variant:
	if of is LineEdit and of.secret:
		return SECRET.repeat(of.text.length())
	if of is LineEdit or of is TextEdit:
		return of.text
	if _has_text(of.get_class()):
		return Controls.translated(of, of.get("text"))
	return Controls.translated(of, of.title) if of is Window else null

## A field that a walk shows although the node has no property of this name; null if there is none.
func shown(of: Node, field: String) -> Variant:
	match field:
		"pressed": return of.button_pressed if of is BaseButton and of.toggle_mode else null
		"selected": return Controls.selected(of)
		"items": return Controls.items(of, MAX_ITEMS)
		"text": return text_of(of)
		"tooltip": return Controls.tooltip(of) if of is Control else null
		"visible_in_tree": return of.is_visible_in_tree() if of is CanvasItem or of is Node3D else null
		"rect": return Place.rect_in_window(of)
		"type": return Scripts.type_of(of)
	return null

## What is wrong with the `fields` of a command, in words; empty if they are valid.
static func wrong_fields(fields: Variant) -> String:
	if fields is String and fields == "all":
		return ""
	if not fields is Array or not fields.all(func(field: Variant) -> bool: return field is String):
		return "fields must be a list of names, or \"all\""
	var any := false
	for field: String in fields:
		any = any or field == "="
		if not any and not field.begins_with("-") and not field in ALL and field != "all":
			return "there is no field %s to add" % field
	return ""

func _choose(fields: Variant) -> void:
	_extra = {}
	_without = []
	_only = null
	if fields is String and fields == "all":
		_extra = ALL
		return
	for field: String in fields:
		if field == "all":
			_extra.merge(ALL)
		elif field == "=":
			_only = {"name": true, "path": true, "more": true}
		elif field.begins_with("-"):
			_without.append(field.substr(1))
		else:
			_extra[field] = true
			if _only != null:
				_only[field] = true

func _walk(of: Node, path: String, depth: int) -> void:
	var fields := _fields(of, path)
	_found.nodes[path] = fields
	var children := children_of(of)
	var names := PackedStringArray()
	_found.children[path] = names
	if _with_text:
		_parts.append(Values.object(fields).trim_suffix("}"))
	var shown := 0
	for child in children:
		if depth >= _max_depth or _found.nodes.size() >= _max_nodes:
			break
		_parts.append(",\"children\":[" if shown == 0 else ",")
		shown += 1
		names.append(child.name)
		_walk(child, path + "/" + child.name, depth + 1)
	_parts.append("]" if shown > 0 else "")
	if shown < children.size():
		_found.truncated = true
		fields["more"] = str(children.size() - shown)
		_parts.append(",\"more\":" + fields["more"])
	# Packed arrays are copied into a dictionary.
	_found.children[path] = names
	_parts.append("}")

func _fields(of: Node, path: String) -> Dictionary:
	var out := {"name": Values.quote(of.name), "type": "", "path": Values.quote(path)}
	var known := Scripts.about(of)
	var type := of.get_class()
	# A class name needs no escapes.
	out["type"] = "\"" + type + "\"" if known == null or known.type == "" else Values.quote(known.type)
	if _has_text(type):
		out["text"] = Values.text(text_of(of))
	if of is CanvasItem:
		_canvas_item(of, out)
	elif of is Node3D:
		out["visible"] = _bool(of.visible)
		if of.visible and not of.is_visible_in_tree():
			out["visible_in_tree"] = "false"
		out["position"] = Values.numbers(of.position)
	elif of is Window:
		out["visible"] = _bool(of.visible)
		out["title"] = Values.quote(text_of(of))
		if of is PopupMenu:
			_choice(of, out)
	elif of is CanvasLayer:
		out["visible"] = _bool(of.visible)
	if known != null and known.has_fields:
		_hook(of, out)
	if not _extra.is_empty():
		_extras(of, out, known)
	if not _without.is_empty() or _only != null:
		_filter(out)
	return out

func _canvas_item(of: CanvasItem, out: Dictionary) -> void:
	out["visible"] = _bool(of.visible)
	if of.visible and not of.is_visible_in_tree():
		out["visible_in_tree"] = "false"
	if of is Control and of.tooltip_text != "":
		out["tooltip"] = Values.quote(Controls.tooltip(of))
	if of is BaseButton:
		out["disabled"] = _bool(of.disabled)
		if of.toggle_mode:
			out["pressed"] = _bool(of.button_pressed)
		if of is OptionButton or of is MenuButton:
			_choice(of, out)
		out["actions"] = "[\"press\"]"
	elif of is Range:
		out["value"] = Values.number(of.value)
	elif of is LineEdit or of is TextEdit:
		out["editable"] = _bool(of.editable)
		out["actions"] = "[\"type\"]"
	elif of is Node2D:
		out["position"] = _point(of.position)
	elif of is ItemList or of is Tree or of is TabContainer or of is TabBar or of is MenuBar:
		_choice(of, out)

func _choice(of: Node, out: Dictionary) -> void:
	var selected: Variant = Controls.selected(of)
	if selected != null:
		out["selected"] = Values.text(selected)
	var items: Variant = Controls.items(of, MAX_ITEMS)
	if items != null:
		out["items"] = Values.text(items)

## The fields of the game's hook. They cannot replace the node's identity; their actions are added to ours.
func _hook(of: Node, out: Dictionary) -> void:
	var added: Variant = of.call("agent_fields")
	if not added is Dictionary:
		return
	for name: Variant in added:
		if not name is String and not name is StringName or name in OWN:
			continue
		if name == "actions" and out.has("actions") and added[name] is Array:
			var ours: String = out["actions"].trim_suffix("]")
			var theirs := Values.text(added[name]).trim_prefix("[")
			out["actions"] = ours + ("," if theirs != "]" else "") + theirs
		else:
			out[String(name)] = Values.text(added[name])

func _extras(of: Node, out: Dictionary, known: RefCounted) -> void:
	if _extra.has("rect"):
		var rect: Variant = Place.rect_in_window(of)
		if rect != null:
			out["rect"] = _rect(rect)
	if _extra.has("groups"):
		# Groups that begin with _ are the engine's own.
		var groups := of.get_groups()
		out["groups"] = "[]" if groups.is_empty() else Values.text(groups.filter(func(group: StringName) -> bool: return not group.begins_with("_")))
	if _extra.has("vars") and known != null:
		var vars := {}
		for name in known.variables:
			vars[name] = of.get(name)
		out["vars"] = Values.text(vars)
	if _extra.has("class"):
		out["class"] = "\"" + of.get_class() + "\""
	if _extra.has("process"):
		out["process"] = _bool(of.can_process())

func _filter(out: Dictionary) -> void:
	for field in _without:
		if not field in OWN:
			out.erase(field)
	if _only != null:
		for field: String in out.keys():
			if not _only.has(field):
				out.erase(field)

func _bool(value: bool) -> String:
	return "true" if value else "false"

func _point(at: Vector2) -> String:
	return "[" + Values.component(at.x) + "," + Values.component(at.y) + "]"

func _rect(area: Rect2) -> String:
	return "[" + Values.component(area.position.x) + "," + Values.component(area.position.y) + "," + Values.component(area.size.x) + "," + \
		Values.component(area.size.y) + "]"

func _has_text(type: String) -> bool:
	var known: Variant = _classes.get(type)
	if known == null:
		known = ClassDB.class_get_property_list(type).any(func(property: Dictionary) -> bool: return property["name"] == "text")
		_classes[type] = known
	return known
