@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Data about the scripts of a game's nodes, determined once for each script.

const About := preload("agent_about.gd")

static var _ui_action := RegEx.create_from_string("[\"'](ui_\\w+)[\"']")
static var _known := {}

## The data about a node's script; null for a node without one.
static func about(of: Node) -> RefCounted:
	var script: Script = of.get_script()
	if script == null:
		return null
	var known: RefCounted = _known.get(script)
	if known == null:
		known = _ask(script, of)
		_known[script] = known
	return known

## The class_name of the script (or of one it extends), or else the engine's class.
static func type_of(of: Node) -> String:
	var known := about(of)
	return of.get_class() if known == null or known.type == "" else known.type

## Whether a node is of a type: an engine class (its own or an inherited one), or the class_name of its script or of one that this extends.
static func is_a(of: Node, type: String) -> bool:
	if of.is_class(type):
		return true
	var script: Script = of.get_script()
	while script != null:
		if script.get_global_name() == type:
			return true
		script = script.get_base_script()
	return false

static func _ask(script: Script, of: Node) -> RefCounted:
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
