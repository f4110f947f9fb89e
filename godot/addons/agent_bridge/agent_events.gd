@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## What happens in the game, in order: signals of watched nodes, and errors of the engine and of scripts, kept until somebody takes them.
##
## An event is made into text at once, since its arguments may be changed or freed by the time it is read.

const Errors := preload("agent_errors.gd")
const Values := preload("agent_values.gd")

## At most so many wait; then the oldest go.
const LIMIT := 1000
const RESERVED := ["type", "node", "seq", "frame", "args"]
const OF_BUTTONS := ["pressed", "toggled", "button_down", "button_up"]

## One connected signal: what its handler needs to know.
class Source extends RefCounted:
	var id: int
	var signal_name: String
	var names: PackedStringArray
	## Where it was last seen; by the time of its signal it may have been taken out of the tree.
	var path: String

## Counts up with each event.
var seq := 0
var errors := Errors.new(_push_error)

var _texts: Array[String] = []
var _dropped := 0
var _pushing := false
var _connected := {}
var _purge_at := 1024
## By path and name of a signal: the arguments of its last event that expect has not taken, as JSON.
var _untaken := {}

func close() -> void:
	errors.close()

func _push_error(about: Dictionary) -> void:
	push("engine_error", about, "")

## Adds an event. `node` is a path; empty where there is none.
func push(type: String, about: Dictionary, node: String) -> void:
	if _pushing:
		# An error while an event is made must not make another.
		return
	_pushing = true
	seq += 1
	var text := "{" + Values.key("type") + Values.quote(type)
	for name: String in about:
		text += "," + Values.key(name) + Values.text(about[name])
	if node != "":
		text += ",\"node\":" + Values.quote(node)
	_texts.append(text + ",\"seq\":%d,\"frame\":%d}" % [seq, Engine.get_process_frames()])
	if _texts.size() > LIMIT:
		_texts.pop_front()
		_dropped += 1
	_pushing = false

## Takes the events that came after number `after`, at most `limit`, the oldest first: their JSON texts.
func take(after := 0, limit := LIMIT) -> Array[String]:
	if _texts.is_empty():
		return []
	var older := maxi(_texts.size() - (seq - after), 0)
	var taken := _texts.slice(older, older + limit)
	_texts = _texts.slice(0, older) + _texts.slice(older + limit)
	return taken

## The arguments of a signal's last event, as JSON, where it came since this was asked last; else null.
func take_signal(path: String, name: String) -> Variant:
	var args: Variant = _untaken.get([path, name])
	_untaken.erase([path, name])
	return args

## How many were lost since this was asked last.
func take_dropped() -> int:
	var dropped := _dropped
	_dropped = 0
	return dropped

func is_empty() -> bool:
	return _texts.is_empty()

## What is watched without being asked for: the current scene's own signals, and those of buttons.
func watch_by_default(node: Node, current_scene: Node) -> void:
	if node is BaseButton:
		watch(node, OF_BUTTONS, false)
	if node == current_scene and node.get_script() != null:
		watch(node, node.get_script().get_script_signal_list().map(func(about: Dictionary) -> String: return about["name"]), false)

## Makes events of these signals of a node; none twice. Those that somebody had enough of come back only where they are `asked` for.
func watch(node: Node, signals: Array, asked := true) -> void:
	var id := node.get_instance_id()
	var mine: Dictionary = _connected.get_or_add(id, {})
	for name: String in signals:
		if mine.has(name) and (mine[name] != null or not asked):
			continue
		var source := Source.new()
		source.id = id
		source.signal_name = name
		source.path = _path_of(node)
		mine[name] = _emitted.bind(source)
		node.connect(name, mine[name])
	if _connected.size() > _purge_at:
		_purge()

## Makes no more events of these; all of them where none are named.
func unwatch(node: Node, signals: Array) -> void:
	var mine: Dictionary = _connected.get(node.get_instance_id(), {})
	for name: String in (mine.keys() if signals.is_empty() else signals):
		if mine.get(name) != null:
			node.disconnect(name, mine[name])
			mine[name] = null

## Whether a connection is the bridge's own, which nobody wants to see.
func is_ours(callable: Callable) -> bool:
	return callable.get_object() == self

## Freed nodes have taken their connections with them; only our notes stay.
func _purge() -> void:
	for id: int in _connected.keys():
		if not is_instance_id_valid(id):
			_connected.erase(id)
	_purge_at = maxi(1024, _connected.size() * 2)

func _emitted(...args: Array) -> void:
	var source: Source = args.pop_back()
	var node := instance_from_id(source.id) as Node
	if node == null:
		return
	if source.names.is_empty() and not args.is_empty():
		source.names = _argument_names(node, source.signal_name, args.size())
	var about := {}
	for i in args.size():
		if source.names[i] == "":
			about.get_or_add("args", []).append(args[i])
		else:
			about[source.names[i]] = args[i]
	if node.is_inside_tree():
		source.path = String(node.get_path())
	push(source.signal_name, about, source.path)
	if _untaken.size() >= LIMIT:
		_untaken.erase(_untaken.keys()[0])
	_untaken[[source.path, source.signal_name]] = Values.text(args)

## The path of a node, also where it is just entering the tree.
func _path_of(node: Node) -> String:
	var path := ""
	while node != null:
		path = "/" + node.name + path
		node = node.get_parent()
	return path

## The arguments' names; empty for those that have none, or one that an event needs for itself.
func _argument_names(node: Node, signal_name: String, count: int) -> PackedStringArray:
	var names := PackedStringArray()
	for about in node.get_signal_list():
		if about["name"] == signal_name:
			for argument: Dictionary in about["args"]:
				names.append("" if argument["name"] in RESERVED or argument["name"] in names else argument["name"])
	names.resize(count)
	return names
