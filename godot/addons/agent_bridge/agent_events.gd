@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The events of the game, in order: signals of watched nodes, and errors of the engine and of scripts, kept until a client takes them.
##
## An event is converted to text at once, since its arguments may be changed or freed before it is read.

const Errors := preload("agent_errors.gd")
const Values := preload("agent_values.gd")

## The most waiting events; above that, the oldest are dropped.
const LIMIT := 1000
const RESERVED := ["type", "node", "seq", "frame", "args"]
const OF_BUTTONS := ["pressed", "toggled", "button_down", "button_up"]

## The number of the last event.
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

## Adds an event. `node` is a path, or empty.
func push(type: String, about: Dictionary, node: String) -> void:
	if _pushing:
		# An error during the creation of an event must not create another event.
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

## The arguments of a signal's last event, as JSON, if it came since the last call; otherwise null.
func take_signal(path: String, name: String) -> Variant:
	var args: Variant = _untaken.get([path, name])
	_untaken.erase([path, name])
	return args

## The number of events dropped since the last call.
func take_dropped() -> int:
	var dropped := _dropped
	_dropped = 0
	return dropped

func is_empty() -> bool:
	return _texts.is_empty()

## The signals that are watched by default: those of the current scene's root and of buttons.
func watch_by_default(node: Node, current_scene: Node) -> void:
	if node is BaseButton:
		watch(node, OF_BUTTONS, false)
	if node == current_scene and node.get_script() != null:
		watch(node, node.get_script().get_script_signal_list().map(func(about: Dictionary) -> String: return about["name"]), false)

## Watches these signals of a node, each once. Signals that a client stopped watching are watched again only if `asked` for.
func watch(node: Node, signals: Array, asked := true) -> void:
	var id := node.get_instance_id()
	var mine: Dictionary = _connected.get_or_add(id, {})
	for name: String in signals:
		if mine.has(name) and (mine[name] != null or not asked):
			continue
		# The path is the last known one: the node may have left the tree before its signal.
		var source := {"id": id, "signal": name, "names": PackedStringArray(), "path": _path_of(node)}
		mine[name] = _emitted.bind(source)
		node.connect(name, mine[name])
	if _connected.size() > _purge_at:
		_purge()

## Stops watching these signals; all of the node's if none are named.
func unwatch(node: Node, signals: Array) -> void:
	var mine: Dictionary = _connected.get(node.get_instance_id(), {})
	for name: String in (mine.keys() if signals.is_empty() else signals):
		if mine.get(name) != null:
			node.disconnect(name, mine[name])
			mine[name] = null

## Whether a connection is the bridge's own, which is not shown.
func is_ours(callable: Callable) -> bool:
	return callable.get_object() == self

## Removes the records of freed nodes, whose connections are already gone.
func _purge() -> void:
	for id: int in _connected.keys():
		if not is_instance_id_valid(id):
			_connected.erase(id)
	_purge_at = maxi(1024, _connected.size() * 2)

func _emitted(...args: Array) -> void:
	var source: Dictionary = args.pop_back()
	var node := instance_from_id(source["id"]) as Node
	if node == null:
		return
	if source["names"].is_empty() and not args.is_empty():
		source["names"] = _argument_names(node, source["signal"], args.size())
	var about := {}
	for i in args.size():
		if source["names"][i] == "":
			about.get_or_add("args", []).append(args[i])
		else:
			about[source["names"][i]] = args[i]
	if node.is_inside_tree():
		source["path"] = String(node.get_path())
	push(source["signal"], about, source["path"])
	if _untaken.size() >= LIMIT:
		_untaken.erase(_untaken.keys()[0])
	_untaken[[source["path"], source["signal"]]] = Values.text(args)

## The path of a node, also while it is entering the tree.
func _path_of(node: Node) -> String:
	var path := ""
	while node != null:
		path = "/" + node.name + path
		node = node.get_parent()
	return path

## The arguments' names; empty for those without a name, or with a reserved one.
func _argument_names(node: Node, signal_name: String, count: int) -> PackedStringArray:
	var names := PackedStringArray()
	for about in node.get_signal_list():
		if about["name"] == signal_name:
			for argument: Dictionary in about["args"]:
				names.append("" if argument["name"] in RESERVED or argument["name"] in names else argument["name"])
	names.resize(count)
	return names
