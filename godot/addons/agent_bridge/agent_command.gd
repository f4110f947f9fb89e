@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## One parsed line of the client: a command, or what is wrong with it.

const Answer := preload("agent_answer.gd")
const Decode := preload("agent_decode.gd")

## Deeper nesting would overflow the parser's stack and crash the engine.
const DEEPEST := 200
const DEFAULT_TIMEOUT := 10.0
const LONGEST_TIMEOUT := 1e6
const LARGEST_ID := 9007199254740992.0

## Null if the line has no readable id.
var id: Variant = null
var name := ""
var args := {}
## In seconds.
var timeout := DEFAULT_TIMEOUT
## What is wrong with the line; null if it is a command.
var failure: Variant = null
## The number of the last event before it began.
var events_before := 0
## Whether its time is the game's, in ticks of physics; otherwise it is that of the clock, in milliseconds.
var in_ticks := false
## When its time is up.
var deadline := 0
## A command that is executed as part of this one; it ends together with this one.
var inner: RefCounted = null
## Whether it is answered. Everything that still works for it (a gesture, a wait) checks this after each await, and stops.
var done := false
## Returns the failure for when its time is up; without it, that is TIMEOUT.
var overdue := Callable()

## Reads a line. `line` may also be the transport's failure to read one.
func _init(line: Variant, tree: SceneTree) -> void:
	failure = line if line is Dictionary else _read(line)
	if failure == null and not args.values().all(_is_plain):
		var decode := Decode.new(tree)
		args = decode.value(args)
		if decode.problem != "":
			failure = Answer.fail("INVALID_ARGS", decode.problem, "values are described in the addon's README")

## Whether the arguments need no decoding.
func _is_plain(value: Variant) -> bool:
	return value is String or value is bool

## Starts its timeout.
func begin() -> void:
	deadline = _now() + ceili(timeout * (Engine.physics_ticks_per_second if in_ticks else 1000))

func is_overdue() -> bool:
	return _now() >= deadline

func _now() -> int:
	return Engine.get_physics_frames() if in_ticks else Time.get_ticks_msec()

## Uses `timeout` among the arguments as the timeout of the command, unless the command has its own argument of that name.
func take_timeout() -> void:
	var seconds: Variant = args.get("timeout")
	if (seconds is float or seconds is int) and seconds > 0:
		args.erase("timeout")
		timeout = minf(seconds, LONGEST_TIMEOUT)
		begin()

func _read(line: String) -> Variant:
	if _too_deep(line):
		return _bad("it is nested deeper than %d" % DEEPEST)
	var json := JSON.new()
	if json.parse(line) != OK:
		return _bad(json.get_error_message())
	if not json.data is Dictionary:
		return _bad("it is not an object")
	var object: Dictionary = json.data
	var number: Variant = object.get("id")
	if not number is float and not number is int or float(number) != floorf(number) or absf(number) > LARGEST_ID:
		return _bad("id must be an integer up to 2^53")
	id = int(number)
	if not object.get("cmd") is String or object["cmd"] == "":
		return _bad("cmd must be a string")
	name = object["cmd"]
	if not object.get("args", {}) is Dictionary:
		return Answer.fail("INVALID_ARGS", "args must be an object", "{\"id\":1,\"cmd\":\"get_node\",\"args\":{\"path\":\"/root\"}}")
	args = object.get("args", {})
	if object.has("timeout"):
		if not object["timeout"] is float and not object["timeout"] is int or object["timeout"] <= 0:
			return Answer.fail("INVALID_ARGS", "timeout must be a number of seconds above 0", "leave it out for %s seconds" % DEFAULT_TIMEOUT)
		timeout = minf(object["timeout"], LONGEST_TIMEOUT)
	return null

func _bad(why: String) -> Dictionary:
	return Answer.fail("BAD_JSON", "the line is not a command: %s" % why, "write one JSON object per line: {\"id\":1,\"cmd\":\"hello\",\"args\":{}}")

## Checks each character only in lines with enough brackets.
func _too_deep(line: String) -> bool:
	if line.count("[") + line.count("{") <= DEEPEST:
		return false
	var depth := 0
	var quoted := false
	var at := 0
	while at < line.length():
		var character := line[at]
		if quoted:
			at += 1 if character == "\\" else 0
			quoted = character != "\""
		elif character == "\"":
			quoted = true
		elif character == "[" or character == "{":
			depth += 1
			if depth > DEEPEST:
				return true
		elif character == "]" or character == "}":
			depth -= 1
		at += 1
	return false
