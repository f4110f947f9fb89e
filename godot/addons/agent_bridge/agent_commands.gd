@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The built-in commands with their arguments and implementations.

const Actions := preload("agent_actions.gd")
const Aim := preload("agent_aim.gd")
const Answer := preload("agent_answer.gd")
const Choose := preload("agent_choose.gd")
const Command := preload("agent_command.gd")
const Edit := preload("agent_edit.gd")
const Expect := preload("agent_expect.gd")
const Fill := preload("agent_fill.gd")
const Folder := preload("agent_folder.gd")
const Keys := preload("agent_keys.gd")
const Look := preload("agent_look.gd")
const Mouse := preload("agent_mouse.gd")
const Monitors := preload("agent_performance.gd")
const Picture := preload("agent_picture.gd")
const Touch := preload("agent_touch.gd")

const ADDON := "0.2.0"
const CAPABILITIES := ["events", "stream", "selectors", "fields", "diff", "gestures", "wait_for", "step", "engine_errors", "typed_values",
	"devices"]
## These commands, and the game's own, are answered at the end of the next frame, together with the events they caused.
const GESTURES := {"press_button": true, "click": true, "drag": true, "scroll": true, "type_text": true, "select": true, "fill": true,
	"set_value": true}
## So are these, unless the game's time is held: then they only change what is pressed, and no frame passes.
const DEVICES := {"mouse_move": true, "mouse_down": true, "mouse_up": true, "press_key": true, "key_down": true, "key_up": true,
	"press_action": true, "action_down": true, "action_up": true, "touch_down": true, "touch_move": true, "touch_up": true, "joypad_button": true,
	"joypad_axis": true, "release_all": true}
## These only read.
const LOOKS := ["get_tree", "get_node", "get_property", "get_signals", "get_state", "list_actions", "find", "performance"]

var _session: Node
var _look: RefCounted
# A Callable does not keep its object alive.
var _actions: RefCounted
var _choose: RefCounted
var _fill: RefCounted
var _keys: RefCounted
var _mouse: RefCounted
var _touch: RefCounted
var _expect: RefCounted
var _performance: RefCounted
var _picture: RefCounted
var _edit: RefCounted
## By name: the arguments (with a ? for optional ones) and the implementation, called with (args) or (args, command).
var _built_in: Dictionary

func _init(session: Node) -> void:
	_session = session
	_look = Look.new(session)
	_actions = Actions.new(session)
	_keys = Keys.new(session)
	_mouse = Mouse.new(session, _keys)
	_touch = Touch.new(session)
	_expect = Expect.new(session)
	_performance = Monitors.new()
	_picture = Picture.new(session)
	_edit = Edit.new(session, _look)
	_choose = Choose.new(session)
	_fill = Fill.new(session, _keys, _mouse, _choose)
	_built_in = {
		"hello": [{"version": "any?", "stream": "bool?"}, _hello],
		"get_tree": [{"root": "string?", "depth": "int?", "max_nodes": "int?", "view": "string?", "fields": "any?", "since": "int?"}, _look.get_tree_],
		"get_node": [{"path": "string"}, _look.get_node_],
		"get_property": [{"path": "string", "property": "string"}, _look.get_property],
		"get_signals": [{"path": "string"}, _look.get_signals],
		"get_state": [{}, _look.get_state],
		"list_actions": [{}, _actions.list_actions],
		"find": [{"selector": "string", "limit": "int?"}, _look.find],
		"press_button": [{"path": "string", "force": "bool?"}, _mouse.press_button],
		"click": [_at({"button": "string?", "count": "int?", "modifiers": "string?"}), _mouse.click],
		"drag": [{"from": "any", "to": "any", "button": "string?", "modifiers": "string?", "frames": "int?"}, _mouse.drag],
		"scroll": [_at({"direction": "string", "notches": "int?", "modifiers": "string?"}), _mouse.scroll],
		"mouse_move": [_at({"relative": "array?"}), _mouse.mouse_move],
		"mouse_down": [_at({"button": "string?"}), _mouse.mouse_down],
		"mouse_up": [_at({"button": "string?"}), _mouse.mouse_up],
		"type_text": [{"text": "string", "path": "string?"}, _keys.type_text],
		"select": [{"path": "string", "item": "any"}, _choose.select],
		"fill": [{"path": "string", "text": "string", "item": "any?", "column": "int?"}, _fill.fill],
		"set_value": [{"path": "string", "value": "any", "item": "any?", "column": "int?"}, _fill.set_value],
		"press_key": [{"key": "string", "frames": "int?"}, _keys.press_key],
		"key_down": [{"key": "string"}, _keys.key_down],
		"key_up": [{"key": "string"}, _keys.key_up],
		"press_action": [{"action": "string", "frames": "int?", "strength": "float?"}, _keys.press_action],
		"action_down": [{"action": "string", "strength": "float?"}, _keys.action_down],
		"action_up": [{"action": "string"}, _keys.action_up],
		"touch_down": [_at({"finger": "int?"}), _touch.touch_down],
		"touch_move": [_at({"finger": "int?"}), _touch.touch_move],
		"touch_up": [{"finger": "int?"}, _touch.touch_up],
		"joypad_button": [{"button": "string", "pressed": "bool?", "frames": "int?", "device": "int?"}, _touch.joypad_button],
		"joypad_axis": [{"axis": "string", "value": "float", "device": "int?"}, _touch.joypad_axis],
		"release_all": [{}, func(_args: Dictionary) -> Dictionary: return {"released": session.devices.release_all()}],
		"get_events": [{"limit": "int?"}, _get_events],
		"watch": [{"path": "string", "signals": "array?"}, _watch.bind(true)],
		"unwatch": [{"path": "string", "signals": "array?"}, _watch.bind(false)],
		"wait_for": [{"selector": "string?", "state": "string?", "path": "string?", "property": "string?", "equals": "value?", "signal": "string?",
			"frames": "int?", "idle": "int?", "then": "object?"}, session.wait.wait_for],
		"expect": [{"selector": "string?", "state": "string?", "count": "int?", "path": "string?", "property": "string?", "equals": "value?",
			"text": "string?", "signal": "string?", "no_errors": "bool?"}, _expect.expect],
		"game_command": [{"name": "string", "args": "object?"}, _game_command],
		"performance": [{}, _performance.performance],
		"screenshot": [{"path": "string?", "region": "array?", "name": "string?", "compare": "string?", "tolerance": "float?"}, _picture.screenshot],
		"pause": [{}, session.time.pause],
		"resume": [{}, session.time.resume],
		"step": [{"frames": "int?", "until": "object?", "observe": "object?", "every": "int?"}, session.time.step],
		"seed": [{"seed": "int"}, _seed],
		"set_property": [{"path": "string", "property": "string", "value": "value"}, _edit.set_property],
		"call": [{"path": "string", "method": "string", "args": "array?"}, _edit.call_method],
		"change_scene": [{"file": "string"}, _edit.change_scene],
		"evaluate": [{"expression": "string", "path": "string?"}, _edit.evaluate],
		"quit": [{"code": "int?"}, func(args: Dictionary) -> Dictionary: return {"code": args.get("code", 0)}],
	}
	if not session.options.allow_edit:
		for name: String in Edit.NAMES:
			_built_in.erase(name)

## Whether the answer waits for the events that a command causes.
func acts(name: String) -> bool:
	return name in GESTURES or name in DEVICES and not _session.time.is_held() or name == "game_command" or name in Edit.NAMES or \
		not _built_in.has(name)

## A command among the arguments of `outer`, or a failure.
func inner(json: Dictionary, outer: RefCounted) -> Variant:
	if not json.get("cmd") is String or not json.get("args", {}) is Dictionary:
		return Answer.fail("INVALID_ARGS", "%s is not a command" % JSON.stringify(json).left(200), "{\"cmd\":\"get_node\",\"args\":{\"path\":\"#Player\"}}")
	var command := Command.new("{\"id\":0,\"cmd\":\"hello\"}", _session.get_tree())
	command.name = json["cmd"]
	command.args = json.get("args", {})
	command.events_before = outer.events_before
	outer.inner = command
	return command

## The armed condition of a step's `until`, which has the arguments of wait_for; or the failure.
func condition(args: Dictionary) -> Variant:
	var declared: Dictionary = _built_in["wait_for"][0].duplicate()
	declared.erase("then")
	var problem: Variant = Answer.check("until", declared, args)
	return problem if problem != null else _session.wait.condition(args)

## The same for a command that only reads.
func looking(json: Dictionary, outer: RefCounted) -> Variant:
	var command: Variant = inner(json, outer)
	if command is Dictionary or command.name in LOOKS:
		return command
	return Answer.fail("INVALID_ARGS", "%s cannot observe" % command.name, "one of %s" % ", ".join(LOOKS))

## Executes a command; returns its data, or the failure. Waits if necessary.
func carry_out(command: RefCounted) -> Dictionary:
	var name: String = command.name
	var offered := {}
	if not _built_in.has(name) and name in Edit.NAMES:
		return Edit.not_allowed(name)
	if not _built_in.has(name) or name == "get_state":
		offered = _offered(name)
		if offered.is_empty() and name != "get_state":
			return _unknown(name)
	var arguments: Dictionary = _built_in[name][0] if offered.is_empty() else {}
	if not offered.is_empty() and offered["args"] is Dictionary:
		arguments = offered["args"]
	if not arguments.has("timeout"):
		command.take_timeout()
	if not offered.is_empty():
		return await _session.hook.carry_out(name, offered, command.args)
	var invalid: Variant = Answer.check(name, arguments, command.args)
	if invalid != null:
		return invalid
	var before: int = _session.events.errors.script_errors
	_session.devices.at_once = name in GESTURES
	var carry: Callable = _built_in[name][1]
	var answer: Variant
	if carry.get_argument_count() > 1:
		answer = await carry.call(command.args, command)
	else:
		answer = await carry.call(command.args)
	# A built-in command returns null only if a script failed (an agent_fields, a getter) or its time was up. A game's own command may return null.
	if answer is Dictionary and (not answer.is_empty() or command.done or name == "game_command"):
		return answer
	return _session.hook.failed(name, before)

## Undoes the unfinished effects of a command that took too long.
func abandon(command: RefCounted) -> void:
	var each := command
	while each != null:
		each.done = true
		each = each.inner
	_session.time.abandon()

func _offered(name: String) -> Dictionary:
	var found: Dictionary = _session.hook.commands().get(name, {})
	if found.is_empty() and name != "get_state":
		_session.hook.look_again()
		found = _session.hook.commands().get(name, {})
	return found

func _names() -> Array:
	var names := _built_in.keys()
	for name: String in _session.hook.commands():
		if not name in names:
			names.append(name)
	return names

func _unknown(name: String) -> Dictionary:
	if name in Edit.NAMES:
		return Edit.not_allowed(name)
	var names := _names()
	var near := names.duplicate()
	near.sort_custom(func(a: String, b: String) -> bool: return a.similarity(name) > b.similarity(name))
	var hint: String = "did you mean %s? " % near[0] if near[0].similarity(name) >= 0.5 else ""
	return Answer.fail("UNKNOWN_COMMAND", "there is no command %s" % name, hint + "the commands are: " + ", ".join(names), {"commands": names})

func _hello(args: Dictionary) -> Dictionary:
	var wanted := str(args.get("version", Folder.PROTOCOL))
	if wanted.get_slice(".", 0) != Folder.PROTOCOL.get_slice(".", 0):
		return Answer.fail("VERSION_MISMATCH", "this game uses version %s of the protocol, not %s" % [Folder.PROTOCOL, wanted],
			"install the client's addon in the game (godot-bridge install), or use a client of the addon's version", {"version": Folder.PROTOCOL})
	_session.stream = args.get("stream", _session.stream)
	return {"version": Folder.PROTOCOL, "commands": _names(), "engine": Engine.get_version_info()["string"], "addon": ADDON,
		"pid": OS.get_process_id(), "session": null if _session.folder.path == "" else _session.folder.path, "transport": _session.transport.name,
		"project": ProjectSettings.get_setting("application/config/name", ""),
		"main_scene": ResourceUID.ensure_path(ProjectSettings.get_setting("application/run/main_scene", "")), "capabilities": CAPABILITIES}

## The arguments of a command with a target: those of the target, and its own.
func _at(own: Dictionary) -> Dictionary:
	return Aim.TARGET.merged(own)

## Executes a command of the game by its name, also one that it has declared after the client read the list of commands.
func _game_command(args: Dictionary) -> Dictionary:
	var name: String = args["name"]
	var offered := _offered(name)
	if not offered.is_empty():
		return await _session.hook.carry_out(name, offered, args.get("args", {}))
	var names: Array = _session.hook.commands().keys()
	return Answer.fail("UNKNOWN_COMMAND", "the game has no command %s" % name,
		"it declares none (agent_commands)" if names.is_empty() else "it has: " + ", ".join(names), {"commands": names})

func _get_events(args: Dictionary) -> Dictionary:
	var dropped: int = _session.events.take_dropped()
	var texts: Array = _session.events.take(0, maxi(args.get("limit", 1000), 0))
	return {"events": texts.map(func(text: String) -> Variant: return _look.Values.raw(text)), "dropped": dropped}

func _watch(args: Dictionary, on: bool) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	var signals: Array = args.get("signals", [])
	for name: Variant in signals:
		if not name is String or not node.has_signal(name):
			return Answer.fail("INVALID_ARGS", "%s has no signal %s" % [node.get_path(), name], "get_signals lists them")
	if on:
		if signals.is_empty():
			signals = node.get_signal_list().map(func(about: Dictionary) -> String: return about["name"])
		_session.events.watch(node, signals)
	else:
		_session.events.unwatch(node, signals)
	return {"path": String(node.get_path()), "signals": signals}

func _seed(args: Dictionary) -> Dictionary:
	seed(args["seed"])
	return {"seed": args["seed"]}
