@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The commands that change a game in ways that a player cannot. They exist only in a game that was started with --allow-edit.

const Answer := preload("agent_answer.gd")
const Decode := preload("agent_decode.gd")
const Values := preload("agent_values.gd")

const NAMES := {"set_property": true, "call": true, "change_scene": true, "evaluate": true}
## Types in one row are interchangeable.
const ALIKE := [[TYPE_BOOL, TYPE_INT, TYPE_FLOAT], [TYPE_STRING, TYPE_STRING_NAME, TYPE_NODE_PATH]]

var _session: Node
var _look: RefCounted

func _init(session: Node, look: RefCounted) -> void:
	_session = session
	_look = look

static func not_allowed(name: String) -> Dictionary:
	return Answer.fail("NOT_ALLOWED", "%s is not allowed: it can change anything in the game" % name, "start godot-bridge with --allow-edit")

func set_property(args: Dictionary) -> Dictionary:
	var before: Dictionary = _look.get_property(args)
	if Answer.is_failure(before):
		return before
	var node: Node = _session.selector.one(args["path"])
	var property: String = args["property"]
	var type: int = typeof(before["value"]) if ":" in property else _declared_type(node, property)
	var fitting: Variant = _fit(args["value"], type)
	if fitting == null:
		return _does_not_fit("%s of %s" % [property, node.get_path()], type, args["value"])
	var errors: int = _session.events.errors.script_errors
	node.set_indexed(NodePath(property), fitting[0])
	if _session.events.errors.script_errors > errors:
		return _session.hook.failed("set_property", errors)
	var after: Dictionary = _look.get_property(args)
	if not Answer.is_failure(after) and _is_same(after["value"], before["value"]) and not _is_same(after["value"], fitting[0]):
		return Answer.fail("GAME_ERROR", "%s of %s kept its value %s" % [property, node.get_path(), Values.text(after["value"])],
			"it cannot be written, or the game or engine refuses this value", after)
	return after

func call_method(args: Dictionary, command: RefCounted) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	var method: String = args["method"]
	if not node.has_method(method):
		return Answer.fail("INVALID_ARGS", "%s has no method %s" % [node.get_path(), method], "methods are those of its class and its script")
	var arguments: Array = args.get("args", []).duplicate()
	var problem: Variant = _fit_arguments(node, method, arguments)
	if problem != null:
		return problem
	return await _result(Callable(node, method).bindv(arguments), command)

func evaluate(args: Dictionary, command: RefCounted) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"]) if args.has("path") else _session.get_tree().current_scene
	if node is Dictionary:
		return node
	if node == null:
		return Answer.fail("NODE_NOT_FOUND", "there is no current scene to evaluate on", "name a node with path")
	var expression := Expression.new()
	if expression.parse(args["expression"]) != OK:
		return Answer.fail("INVALID_ARGS", "the expression cannot be parsed: %s" % expression.get_error_text(),
			"it is one expression of Godot's class Expression, such as get_child_count() + 1; it has no statements and no assignments")
	var result: Dictionary = await _result(expression.execute.bind([], node, false), command)
	if expression.has_execute_failed() and not Answer.is_failure(result):
		return Answer.fail("GAME_ERROR", "the expression failed: %s" % expression.get_error_text().strip_edges(),
			"names in it are members of %s and built-in functions" % node.get_path())
	return result

func change_scene(args: Dictionary, command: RefCounted) -> Dictionary:
	var file: String = args["file"]
	if not file.begins_with("res://") and not file.begins_with("uid://") or not ResourceLoader.exists(file):
		return Answer.fail("INVALID_ARGS", "there is no file %s in the game" % file, "file is the path of a scene, such as res://main.tscn")
	var tree: SceneTree = _session.get_tree()
	var old: int = 0 if tree.current_scene == null else tree.current_scene.get_instance_id()
	var error := tree.change_scene_to_file(file)
	if error != OK:
		return Answer.fail("GAME_ERROR", "%s cannot be loaded: %s" % [file, error_string(error)], "the reason is in the engine_error event")
	while not command.done and (tree.current_scene == null or tree.current_scene.get_instance_id() == old or not tree.current_scene.is_node_ready()):
		await _session.ticked
	await _session.frames(1, command)
	return _look.get_state({})

## The result of `run`, also if it comes later; or the failure if a script fails in it.
func _result(run: Callable, command: RefCounted) -> Dictionary:
	var errors: int = _session.events.errors.script_errors
	var results := []
	_collect(run, results)
	# Later errors may come from other scripts.
	if _session.events.errors.script_errors > errors:
		return _session.hook.failed(command.name, errors)
	while results.is_empty() and not command.done:
		await _session.ticked
	return {} if results.is_empty() else {"value": results[0], "type": Values.type_name(results[0])}

func _collect(run: Callable, results: Array) -> void:
	results.append(await run.call())

## Converts the arguments to the types that the method declares; or returns the failure.
func _fit_arguments(node: Node, method: String, arguments: Array) -> Variant:
	var methods := node.get_method_list().filter(func(about: Dictionary) -> bool: return about["name"] == method)
	if methods.is_empty():
		return null
	var declared: Array = methods[0]["args"]
	var fewest: int = declared.size() - methods[0]["default_args"].size()
	var is_open: bool = methods[0]["flags"] & METHOD_FLAG_VARARG != 0
	if arguments.size() < fewest or arguments.size() > declared.size() and not is_open:
		var names: Array = declared.map(func(about: Dictionary) -> String: return about["name"])
		return Answer.fail("INVALID_ARGS", "%s takes %s arguments, not %d" % [method, declared.size() if fewest == declared.size() else
			"%d to %d" % [fewest, declared.size()], arguments.size()], "%s(%s)" % [method, ", ".join(names)])
	for i in mini(arguments.size(), declared.size()):
		var fitting: Variant = _fit(arguments[i], declared[i]["type"])
		if fitting == null:
			return _does_not_fit("argument %s of %s" % [declared[i]["name"], method], declared[i]["type"], arguments[i])
		arguments[i] = fitting[0]
	return null

func _declared_type(node: Node, property: String) -> int:
	for about in node.get_property_list():
		if about["name"] == property:
			return about["type"]
	return TYPE_NIL

## A value converted to a type, in an array; null if that is not possible. Vectors and the like may be plain arrays.
func _fit(value: Variant, type: int) -> Variant:
	if type == TYPE_NIL or typeof(value) == type or value == null and type == TYPE_OBJECT:
		return [value]
	if ALIKE.any(func(row: Array) -> bool: return typeof(value) in row and type in row):
		return [type_convert(value, type)]
	if value is Array:
		var decode := Decode.new(_session.get_tree())
		var made: Variant = decode.value({"$type": type_string(type), "value": value})
		return [made] if decode.problem == "" else null
	return null

func _does_not_fit(what: String, type: int, value: Variant) -> Dictionary:
	return Answer.fail("INVALID_ARGS", "%s must be of type %s, not %s" % [what, type_string(type), Values.text(value)],
		"the addon's README says how values of each type are written", {"type": type_string(type)})

func _is_same(a: Variant, b: Variant) -> bool:
	return is_equal_approx(a, b) if a is float and b is float else Values.same(a, b)
