@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## What is known of the scripts of a game's nodes, asked once of each.

class About extends RefCounted:
	var type := ""
	var has_fields := false
	var variables := PackedStringArray()
	## The engine's own input actions that its source names.
	var ui_actions := {}

static var _ui_action := RegEx.create_from_string("[\"'](ui_\\w+)[\"']")
static var _known := {}

## What is known of a node's script; null for a node without one.
static func about(of: Node) -> About:
	var script: Script = of.get_script()
	if script == null:
		return null
	var known: About = _known.get(script)
	if known == null:
		known = _ask(script, of)
		_known[script] = known
	return known

## The script's class_name (or that of one it extends), else the engine's class.
static func type_of(of: Node) -> String:
	var known := about(of)
	return of.get_class() if known == null or known.type == "" else known.type

## Whether it is of a type: an engine class it is or inherits, or the class_name of a script it has or extends.
static func is_a(of: Node, type: String) -> bool:
	if of.is_class(type):
		return true
	var script: Script = of.get_script()
	while script != null:
		if script.get_global_name() == type:
			return true
		script = script.get_base_script()
	return false

static func _ask(script: Script, of: Node) -> About:
	var known := About.new()
	known.has_fields = of.has_method("agent_fields")
	var base := script
	while base != null:
		if known.type == "":
			known.type = base.get_global_name()
		for found in _ui_action.search_all(base.source_code):
			known.ui_actions[found.get_string(1)] = true
		base = base.get_base_script()
	for property in script.get_script_property_list():
		if property["usage"] & PROPERTY_USAGE_SCRIPT_VARIABLE:
			known.variables.append(property["name"])
	return known
