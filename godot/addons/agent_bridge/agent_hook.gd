@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The game's own commands, fields and actions, which its nodes provide with agent_* methods. There is no registration; nodes are detected
## as they enter the tree.

const Answer := preload("agent_answer.gd")
const Scripts := preload("agent_scripts.gd")

var _tree: RefCounted
var _events: RefCounted
var _root: Node
var _offering := {}

func _init(root: Node, tree: RefCounted, events: RefCounted) -> void:
	_root = root
	_tree = tree
	_events = events

## Handles a node that enters the tree, before its _ready: sets its agent_mode, and stores which methods it has.
func notice(node: Node) -> void:
	if node.get_script() == null:
		return
	if Scripts.about(node).variables.has("agent_mode"):
		node.set("agent_mode", true)
	if node.has_method("agent_commands") or node.has_method("agent_actions"):
		_offering[node.get_instance_id()] = true

## The currently declared commands: name to declaration, each with the `node` that executes it. Of duplicates, the first in tree order counts.
func commands() -> Dictionary:
	var out := {}
	for node in _nodes("agent_commands"):
		var declared: Variant = node.call("agent_commands")
		if not declared is Dictionary:
			continue
		for name: Variant in declared:
			if (name is String or name is StringName) and not out.has(String(name)):
				var about: Dictionary = declared[name] if declared[name] is Dictionary else {}
				out[String(name)] = {"about": str(about.get("about", "")), "args": about.get("args"), "node": node}
	return out

## Executes a command of the game; returns its data, or the failure. Waits if the game does.
func carry_out(name: String, declared: Dictionary, args: Dictionary) -> Variant:
	var node: Node = declared["node"]
	if not node.has_method("agent_command"):
		return Answer.fail("GAME_ERROR", "%s declares %s, but has no agent_command" % [node.get_path(), name], "add agent_command(name, args)")
	if declared["args"] is Dictionary:
		var invalid: Variant = Answer.check(name, declared["args"], args)
		if invalid != null:
			return invalid
	var before: int = _events.errors.hook_errors
	var answer: Variant = await node.call("agent_command", name, args)
	if answer == null or answer is Dictionary and answer.is_empty():
		# A function in which a script fails returns null, or the empty value of its declared type.
		return failed(name, before) if _events.errors.hook_errors > before else {}
	if not answer is Dictionary:
		return Answer.fail("GAME_ERROR", "%s answered %s, not a Dictionary" % [name, str(answer).left(200)],
			"agent_command returns a Dictionary: its data, or error and code")
	if answer.has("error") and not answer.has("code") and answer["error"] is String:
		answer = answer.merged({"code": "GAME_ERROR"})
	return answer

## The failure of a call in which a script failed, since the engine continues with null.
func failed(name: String, before: int) -> Dictionary:
	var text: String = _events.errors.last_script_error if _events.errors.script_errors > before else "it returned nothing"
	return Answer.fail("GAME_ERROR", "%s failed: %s" % [name, text], "the engine_error among the events says where", {"script_error": text})

## The actions that the game declares; those with a `reason` are unavailable.
func actions() -> Array:
	var out := []
	for node in _nodes("agent_actions"):
		var listed: Variant = node.call("agent_actions")
		if listed is Array:
			out.append_array(listed.filter(func(action: Variant) -> bool: return action is Dictionary and action.has("cmd")))
	return out

## The nodes with a method, in tree order. A script that was attached to an existing node is not detected; a walk would find it.
func _nodes(method: String) -> Array[Node]:
	var out: Array[Node] = []
	for id: int in _offering.keys():
		var node := instance_from_id(id) as Node if is_instance_id_valid(id) else null
		if node == null:
			_offering.erase(id)
		elif node.is_inside_tree() and node.has_method(method):
			out.append(node)
	out.sort_custom(func(a: Node, b: Node) -> bool: return b.is_greater_than(a))
	return out

## Walks the tree for scripts that were attached to existing nodes.
func look_again() -> void:
	for node in _tree.all(_root):
		notice(node)
