@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## expect: an assertion that waits until it holds, and fails with the actual state.

const Answer := preload("agent_answer.gd")
const Conditions := preload("agent_conditions.gd")
const Values := preload("agent_values.gd")

const KINDS := ["selector", "property", "text", "signal", "no_errors"]

var _session: Node
var _conditions: RefCounted

func _init(session: Node) -> void:
	_session = session
	_conditions = Conditions.new(session)

func expect(args: Dictionary, command: RefCounted) -> Dictionary:
	var kinds: Array = KINDS.filter(func(kind: String) -> bool: return args.has(kind))
	if kinds.size() != 1 or args.get("no_errors") == false:
		return Answer.fail("INVALID_ARGS", "expect takes one of %s" % ", ".join(KINDS), "{\"path\":\"#Score\",\"text\":\"3\"}")
	if kinds[0] == "no_errors":
		return _no_errors()
	if kinds[0] == "signal":
		var taken: Variant = _taken(args)
		if taken != null:
			return taken
	var condition: Variant = _condition(kinds[0], args)
	if condition is Dictionary:
		return condition
	command.overdue = _failed.bind(condition, command.timeout)
	while not command.done:
		var met: Variant = condition.met.call()
		if met != null:
			condition.disarm.call()
			if kinds[0] == "signal":
				# The signal may also be watched.
				_session.events.take_signal(met["path"], args["signal"])
			return met
		await _session.ticked
	condition.disarm.call()
	return {}

func _condition(kind: String, args: Dictionary) -> Variant:
	match kind:
		"selector": return _conditions.of_selector(args)
		"property": return _conditions.of_property(args)
		"text": return _conditions.of_text(args)
	return _conditions.of_signal(args)

## A signal whose event came before this command, or null. Its node may already be freed.
func _taken(args: Dictionary) -> Variant:
	var node: Variant = _session.selector.one(args["path"]) if args.has("path") else _session.get_tree().current_scene
	var path: String = String(node.get_path()) if node is Node else args.get("path", "")
	var given: Variant = _session.events.take_signal(path, args["signal"])
	return null if given == null else {"signal": args["signal"], "path": path, "args": Values.raw(given)}

func _failed(condition: RefCounted, seconds: float) -> Dictionary:
	var found: Array = condition.found.call()
	return Answer.fail("EXPECTATION_FAILED", "expected %s within %s s; %s" % [condition.expected, String.num(seconds), found[0]],
		"look at get_tree; a longer \"timeout\" (seconds) waits longer", {"expected": condition.expected, "found": found[1]})

func _no_errors() -> Dictionary:
	var came: Dictionary = _session.events.errors.take_unchecked()
	if came["count"] == 0:
		return {"no_errors": true}
	var first: Dictionary = came["errors"][0]
	var place: String = first["stack"][0] if first.has("stack") else "%s:%d" % [first["file"], first["line"]]
	return Answer.fail("EXPECTATION_FAILED", "expected no errors; there %s: %s (%s)" % ["was one" if came["count"] == 1 else "were %d, first" % came["count"],
		first["error"], place], "details.errors has the first of them; each was an event as well", came)
