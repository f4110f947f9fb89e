@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The commands that only read.

const Answer := preload("agent_answer.gd")
const Scripts := preload("agent_scripts.gd")
const Values := preload("agent_values.gd")
const Compact := preload("agent_compact.gd")
const Diff := preload("agent_diff.gd")
const Walk := preload("agent_tree.gd")

var _session: Node
var _diff := Diff.new()
var _compact: RefCounted

func _init(session: Node) -> void:
	_session = session
	_compact = Compact.new(session)

func get_tree_(args: Dictionary) -> Dictionary:
	var root: Variant = _session.selector.one(args.get("root", "/root"))
	if root is Dictionary:
		return root
	if args.has("view"):
		return _view(root, args)
	var wrong := Walk.wrong_fields(args.get("fields", []))
	if wrong != "":
		return Answer.fail("INVALID_ARGS", wrong, "\"all\", or some of %s; [\"-text\"] leaves out, [\"=\",\"text\"] gives only those" % ", ".join(Walk.ALL.keys()))
	var same := Values.text([root.get_instance_id(), args.get("depth"), args.get("max_nodes"), args.get("fields", [])])
	var old: RefCounted = _diff.find(args["since"], same) if args.has("since") else null
	var found: RefCounted = _session.tree.walk(root, args, old == null)
	var out := {}
	if old != null:
		out = _diff.between(old, found)
	else:
		out["tree"] = Values.raw(found.text)
		if args.has("since"):
			out["reset"] = true
	out["nodes"] = found.nodes.size()
	out["truncated"] = found.truncated
	out["revision"] = _diff.remember(same, found)
	return out

func _view(root: Node, args: Dictionary) -> Dictionary:
	if args["view"] != "agent" or args.has("fields") or args.has("since"):
		return Answer.fail("INVALID_ARGS", "view can only be \"agent\", without fields and since", "omit view for the tree with its fields")
	return _compact.view(root, args)

func get_node_(args: Dictionary) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	var out: Dictionary = _session.tree.node(node, "all")
	var names := PackedStringArray()
	for child: Node in _session.tree.children_of(node):
		names.append(Values.quote(child.name))
	out["children"] = "[" + ",".join(names) + "]"
	return {"": Values.raw(Values.object(out))}

func get_property(args: Dictionary) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	var names: PackedStringArray = args["property"].split(":")
	var value: Variant = null
	if names.size() == 1:
		value = _session.selector.value_of(node, names[0])
	if names.find("") >= 0 or value == null and not names[0] in node:
		return _no_property(node, args["property"])
	for i in range(1, names.size()):
		# An unknown name gives null, without an error.
		value = node.get_indexed(NodePath(":".join(names.slice(0, i + 1))))
		if value == null:
			return _no_property(node, args["property"])
	return {"value": value, "type": Values.type_name(value)}

func _no_property(node: Node, property: String) -> Dictionary:
	var near := []
	for about in node.get_property_list():
		var likeness := property.get_slice(":", 0).similarity(about["name"])
		if likeness >= 0.4 and about["usage"] & (PROPERTY_USAGE_STORAGE | PROPERTY_USAGE_SCRIPT_VARIABLE):
			near.append([likeness, about["name"]])
	near.sort_custom(func(a: Array, b: Array) -> bool: return a[0] > b[0])
	var names: Array = near.slice(0, 3).map(func(pair: Array) -> String: return pair[1])
	return Answer.fail("PROPERTY_NOT_FOUND", "%s has no property %s" % [node.get_path(), property],
		"get_node shows a node's variables" if names.is_empty() else "did you mean %s?" % " or ".join(names), {"near": names})

func get_signals(args: Dictionary) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	var out := []
	for about: Dictionary in node.get_signal_list():
		var arguments: Array = about["args"].map(func(argument: Dictionary) -> Dictionary:
			return {"name": argument["name"], "type": type_string(argument["type"])})
		var connections := []
		for connection: Dictionary in node.get_signal_connection_list(about["name"]):
			var callable: Callable = connection["callable"]
			if not _session.events.is_ours(callable) and callable.is_valid():
				connections.append({"target": callable.get_object(), "method": String(callable.get_method())})
		out.append({"name": about["name"], "args": arguments, "connections": connections})
	return {"signals": out}

func find(args: Dictionary) -> Dictionary:
	var found: Variant = _session.selector.all(args["selector"])
	if found is Dictionary:
		return found
	var paths: Array = found.slice(0, maxi(args.get("limit", 100), 0)).map(func(node: Node) -> String: return String(node.get_path()))
	return {"matches": paths, "count": found.size()}

## The state, if no hook of the game provides it.
func get_state(_args: Dictionary) -> Dictionary:
	var tree: SceneTree = _session.get_tree()
	var scene := tree.current_scene
	return {"scene": null if scene == null else {"name": scene.name, "type": Scripts.type_of(scene), "path": String(scene.get_path()),
		"file": scene.scene_file_path}, "paused": tree.paused, "frame": Engine.get_process_frames(), "time": Engine.get_physics_frames() / float(Engine.physics_ticks_per_second) if _session.options.lockstep else Time.get_ticks_msec() / 1000.0}
