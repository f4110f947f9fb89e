@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast")
extends RefCounted
## wait_for: armed before the command that is to bring it about, in the same line, so that nothing is missed between the two.

const Answer := preload("agent_answer.gd")
const Command := preload("agent_command.gd")
const Values := preload("agent_values.gd")

const KINDS := ["selector", "property", "signal", "frames", "idle"]
const STATES := ["exists", "gone", "visible", "hidden", "enabled", "disabled", "focused"]

var _session: Node

## What is waited for: asked once a frame.
class Condition extends RefCounted:
	## Gives the data once it is met, else null.
	var met: Callable
	## Ends the waiting, however it ended.
	var disarm := func() -> void: pass

func _init(session: Node) -> void:
	_session = session

func wait_for(args: Dictionary, command: Command) -> Dictionary:
	var armed: Variant = condition(args)
	if armed is Dictionary:
		return armed
	var then: Variant = null
	if args.has("then"):
		then = await _then(args["then"], command)
		if Answer.is_failure(then) and not then.has("ok"):
			armed.disarm.call()
			return then
	while not command.done:
		var met: Variant = armed.met.call()
		if met != null:
			armed.disarm.call()
			return met if then == null else met.merged({"then": then})
		await _session.ticked
	armed.disarm.call()
	return {}

## Carries the trigger out: its answer, or the failure of all, where it failed.
func _then(json: Dictionary, outer: Command) -> Dictionary:
	var inner: Variant = _session.commands.inner(json, outer)
	if inner is Dictionary or inner.name in ["wait_for", "quit"]:
		return Answer.fail("INVALID_ARGS", "then must be a command", "{\"cmd\":\"press_button\",\"args\":{\"path\":\"#Go\"}}; not wait_for or quit")
	var answer: Dictionary = await _session.commands.carry_out(inner)
	if Answer.is_failure(answer):
		return answer
	return {"ok": true, "data": answer}

## The condition, armed; or what is wrong with the arguments.
func condition(args: Dictionary) -> Variant:
	var kinds: Array = KINDS.filter(func(kind: String) -> bool: return args.has(kind))
	if kinds.size() != 1:
		return Answer.fail("INVALID_ARGS", "wait_for takes one of %s" % ", ".join(KINDS), "{\"selector\":\"#Won\",\"state\":\"visible\"}")
	match kinds[0]:
		"selector": return _selector(args["selector"], args.get("state", "exists"))
		"property": return _property(args)
		"signal": return _signal(args)
		"frames": return _frames(args["frames"])
	return _idle(args["idle"])

func _selector(selector: String, state: String) -> Variant:
	if not state in STATES:
		return Answer.fail("INVALID_ARGS", "there is no state %s" % state, "states are %s" % ", ".join(STATES))
	var first: Variant = _session.selector.all(selector)
	if first is Dictionary:
		return first
	var condition := Condition.new()
	condition.met = func() -> Variant:
		var found: Variant = _session.selector.all(selector)
		if not found is Array:
			return null
		if state != "exists" and state != "gone":
			found = found.filter(func(node: Node) -> bool: return _session.selector.is_in_state(node, state))
		if found.is_empty() != (state == "gone"):
			return null
		return {"selector": selector, "state": state, "matches": found.map(func(node: Node) -> String: return String(node.get_path()))}
	return condition

func _property(args: Dictionary) -> Variant:
	if not args.has("path") or not args.has("equals"):
		return Answer.fail("INVALID_ARGS", "a property needs path and equals", "{\"path\":\"#Score\",\"property\":\"text\",\"equals\":\"3\"}")
	var condition := Condition.new()
	# The node may come only later, so that it isn't there is no failure.
	condition.met = func() -> Variant:
		var node: Variant = _session.selector.one(args["path"])
		if not node is Node:
			return null
		var value: Variant = _session.selector.value_of(node, args["property"])
		return {"path": String(node.get_path()), "property": args["property"], "value": value} if Values.same(value, args["equals"]) else null
	return condition

func _signal(args: Dictionary) -> Variant:
	var node: Variant = _session.selector.one(args["path"]) if args.has("path") else _session.get_tree().current_scene
	if node is Dictionary:
		return node
	var name: String = args["signal"]
	if node == null or not node.has_signal(name):
		return Answer.fail("INVALID_ARGS", "there is no signal %s" % name, "get_signals lists a node's; without path it is the current scene's")
	var condition := Condition.new()
	var got := []
	var path := String(node.get_path())
	var listener := func(...given: Array) -> void:
		if got.is_empty():
			got.append(Values.text(given))
	node.connect(name, listener)
	condition.met = func() -> Variant:
		return {"signal": name, "path": path, "args": Values.raw(got[0])} if not got.is_empty() else null
	condition.disarm = func() -> void:
		if is_instance_valid(node) and node.is_connected(name, listener):
			node.disconnect(name, listener)
	return condition

func _frames(count: int) -> Variant:
	var drawn := Engine.get_process_frames() + count
	var ticks := Engine.get_physics_frames() + count
	var condition := Condition.new()
	condition.met = func() -> Variant:
		return {"frames": count} if Engine.get_process_frames() >= drawn and Engine.get_physics_frames() >= ticks else null
	return condition

## Nothing that get_tree would show has changed, and nothing has happened, for so many frames.
func _idle(count: int) -> Variant:
	var condition := Condition.new()
	var last := [0, -1, 0]
	condition.met = func() -> Variant:
		var ticks := Engine.get_physics_frames()
		if last[1] >= 0 and ticks == last[2]:
			# Looking at the whole tree costs; once a tick of physics is enough.
			return null
		last[2] = ticks
		var now: int = hash([_session.tree.walk(_session.get_tree().root, {}, false).nodes, _session.events.seq])
		last[1] = last[1] + 1 if now == last[0] else 0
		last[0] = now
		return {"idle": count} if last[1] >= count else null
	return condition
