@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The conditions of wait_for and expect. Each is armed when it is created, checked once per frame, and disarmed at the end.

const Answer := preload("agent_answer.gd")
const Condition := preload("agent_condition.gd")
const Selector := preload("agent_selector.gd")
const Values := preload("agent_values.gd")

const STATES := ["exists", "gone", "visible", "hidden", "enabled", "disabled", "focused"]

var _session: Node

func _init(session: Node) -> void:
	_session = session

## Nodes that match a selector are in a state; with `count`, exactly that number.
func of_selector(args: Dictionary) -> Variant:
	var selector: String = args["selector"]
	var state: String = args.get("state", "exists")
	var count: Variant = args.get("count")
	if not state in STATES:
		return Answer.fail("INVALID_ARGS", "there is no state %s" % state, "states are %s" % ", ".join(STATES))
	if count != null and (count < 0 or state == "gone"):
		return Answer.fail("INVALID_ARGS", "count is the number of nodes in another state than gone", "{\"selector\":\"Button\",\"state\":\"visible\",\"count\":3}")
	var first: Variant = _session.selector.all(selector)
	if first is Dictionary:
		return first
	var condition := Condition.new()
	condition.met = func() -> Variant:
		var matches: Variant = _in_state(selector, state)
		var is_met: bool = matches is Array and (matches.is_empty() == (state == "gone") if count == null else matches.size() == count)
		return {"selector": selector, "state": state, "matches": _paths(matches)} if is_met else null
	var is_one: bool = count == null or count == 1
	var how_many := "no node" if state == "gone" else "a node" if count == null else "%d node%s" % [count, "" if is_one else "s"]
	condition.expected = "%s that %s %s" % [how_many, "matches" if is_one else "match", selector]
	if not state in ["exists", "gone"]:
		condition.expected += " and %s %s" % ["is" if is_one else "are", state]
	condition.found = _found_by.bind(selector, state)
	return condition

## A property of the node at `path` has the value `equals`. A missing node is not a failure, since it may come later.
func of_property(args: Dictionary) -> Variant:
	if not args.has("path") or not args.has("equals"):
		return Answer.fail("INVALID_ARGS", "a property needs path and equals", "{\"path\":\"#Score\",\"property\":\"text\",\"equals\":\"3\"}")
	var property: String = args["property"]
	var condition := Condition.new()
	condition.met = func() -> Variant:
		var node: Variant = _session.selector.one(args["path"])
		if not node is Node:
			return null
		var value: Variant = _session.selector.value_of(node, property)
		return {"path": String(node.get_path()), "property": property, "value": value} if Values.same(value, args["equals"]) else null
	condition.expected = "property %s of %s to be %s" % [property, args["path"], Values.text(args["equals"])]
	condition.found = _found.bind(args["path"], func(node: Node) -> Variant: return _session.selector.value_of(node, property))
	return condition

## The node at `path` shows the given text, or a text that matches a regular expression between slashes.
func of_text(args: Dictionary) -> Variant:
	if not args.has("path"):
		return Answer.fail("INVALID_ARGS", "a text needs path", "{\"path\":\"#Score\",\"text\":\"3\"}")
	var text: String = args["text"]
	var pattern: RegEx = null
	if text.length() > 1 and text.begins_with("/") and text.ends_with("/"):
		pattern = Selector.pattern_of(text.substr(1, text.length() - 2))
		if pattern == null:
			return Answer.fail("INVALID_ARGS", "%s is not a regular expression" % text, "a text between slashes is one; /^\\/a\\/$/ matches the text /a/")
	var condition := Condition.new()
	condition.met = func() -> Variant:
		var node: Variant = _session.selector.one(args["path"])
		var now: Variant = _session.tree.text_of(node) if node is Node else null
		var is_met: bool = now != null and (now == text if pattern == null else pattern.search(now) != null)
		return {"path": String(node.get_path()), "text": now} if is_met else null
	condition.expected = "text %s of %s" % [Values.quote(text) if pattern == null else text, args["path"]]
	condition.found = _found.bind(args["path"], func(node: Node) -> Variant: return _session.tree.text_of(node))
	return condition

## A node emits a signal after this moment.
func of_signal(args: Dictionary) -> Variant:
	var node: Variant = _session.selector.one(args["path"]) if args.has("path") else _session.get_tree().current_scene
	if node is Dictionary:
		return node
	var name: String = args["signal"]
	if node == null or not node.has_signal(name):
		return Answer.fail("INVALID_ARGS", "there is no signal %s" % name, "get_signals lists a node's; without path it is the current scene's")
	var got := []
	var path := String(node.get_path())
	var listener := func(...given: Array) -> void:
		if got.is_empty():
			got.append(Values.text(given))
	node.connect(name, listener)
	var condition := Condition.new()
	condition.met = func() -> Variant:
		return {"signal": name, "path": path, "args": Values.raw(got[0])} if not got.is_empty() else null
	condition.disarm = func() -> void:
		if is_instance_valid(node) and node.is_connected(name, listener):
			node.disconnect(name, listener)
	condition.expected = "the signal %s of %s" % [name, path]
	return condition

func of_frames(count: int) -> Variant:
	var drawn := Engine.get_process_frames() + count
	var ticks := Engine.get_physics_frames() + count
	var condition := Condition.new()
	condition.met = func() -> Variant:
		return {"frames": count} if Engine.get_process_frames() >= drawn and Engine.get_physics_frames() >= ticks else null
	return condition

## Nothing in get_tree has changed and no event has come for the given number of frames.
func of_idle(count: int) -> Variant:
	var last := [0, -1, 0]
	var condition := Condition.new()
	condition.met = func() -> Variant:
		var ticks := Engine.get_physics_frames()
		if last[1] >= 0 and ticks == last[2]:
			# Walking the complete tree is expensive; once per physics tick is enough.
			return null
		last[2] = ticks
		var now: int = hash([_session.tree.walk(_session.get_tree().root, {}, false).nodes, _session.events.seq])
		last[1] = last[1] + 1 if now == last[0] else 0
		last[0] = now
		return {"idle": count} if last[1] >= count else null
	return condition

## The nodes that match the selector and are in the state, or a failure.
func _in_state(selector: String, state: String) -> Variant:
	var matches: Variant = _session.selector.all(selector)
	if not matches is Array or state in ["exists", "gone"]:
		return matches
	return matches.filter(func(node: Node) -> bool: return _session.selector.is_in_state(node, state))

func _found_by(selector: String, state: String) -> Array:
	var all: Variant = _session.selector.all(selector)
	if not all is Array or all.is_empty():
		return ["no node matches", []]
	var text := "1 node matches" if all.size() == 1 else "%d nodes match" % all.size()
	if not state in ["exists", "gone"]:
		text += ", %d of them %s" % [_in_state(selector, state).size(), state]
	return ["%s: %s" % [text, ", ".join(_paths(all.slice(0, 5)))], _paths(all.slice(0, 20))]

func _paths(nodes: Array) -> Array:
	return nodes.map(func(node: Node) -> String: return String(node.get_path()))

## The result of `value_of` for the node at `path`; or a report that there is not exactly one such node.
func _found(path: String, value_of: Callable) -> Array:
	var node: Variant = _session.selector.one(path)
	if node is Dictionary:
		return [node["error"], null]
	var value: Variant = value_of.call(node)
	return ["it is %s" % Values.text(value), value]
