@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## wait_for: its condition is armed before the triggering command in the same line is executed, so that nothing is missed in between.

const Answer := preload("agent_answer.gd")
const Conditions := preload("agent_conditions.gd")

const KINDS := ["selector", "property", "signal", "frames", "idle"]
## Commands that cannot be executed while another command waits.
const NOT_THEN := ["wait_for", "expect", "quit"]

var _session: Node
var _conditions: RefCounted

func _init(session: Node) -> void:
	_session = session
	_conditions = Conditions.new(session)

func wait_for(args: Dictionary, command: RefCounted) -> Dictionary:
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

## Executes the trigger; returns its answer, or the failure of the complete command.
func _then(json: Dictionary, outer: RefCounted) -> Dictionary:
	var inner: Variant = _session.commands.inner(json, outer)
	if inner is Dictionary or inner.name in NOT_THEN:
		return Answer.fail("INVALID_ARGS", "then must be a command", "{\"cmd\":\"press_button\",\"args\":{\"path\":\"#Go\"}}; not %s" % ", ".join(NOT_THEN))
	var answer: Dictionary = await _session.commands.carry_out(inner)
	if Answer.is_failure(answer):
		return answer
	return {"ok": true, "data": answer}

## The armed condition, or the failure for invalid arguments.
func condition(args: Dictionary) -> Variant:
	var kinds: Array = KINDS.filter(func(kind: String) -> bool: return args.has(kind))
	if kinds.size() != 1:
		return Answer.fail("INVALID_ARGS", "wait_for takes one of %s" % ", ".join(KINDS), "{\"selector\":\"#Won\",\"state\":\"visible\"}")
	match kinds[0]:
		"selector": return _conditions.of_selector(args)
		"property": return _conditions.of_property(args)
		"signal": return _conditions.of_signal(args)
		"frames": return _conditions.of_frames(args["frames"])
	return _conditions.of_idle(args["idle"])
