@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The changes of the tree since a revision that the client has received.

const Values := preload("agent_values.gd")

## The number of stored revisions; their common parts are stored once.
const REMEMBERED := 4

## Each with its number, the request that it is `of` (a difference is possible only between trees of the same root and fields), and the walk.
var _revisions: Array[Dictionary] = []
var _last := 0

## Stores a walk, and returns its number.
func remember(of: String, found: RefCounted) -> int:
	_last += 1
	found.text = ""
	_revisions.append({"number": _last, "of": of, "found": found})
	if _revisions.size() > REMEMBERED:
		_revisions.pop_front()
	return _last

## The walk of the revision with this number, if it is stored and for the same request; otherwise null.
func find(number: int, of: String) -> RefCounted:
	for revision in _revisions:
		if revision["number"] == number and revision["of"] == of:
			return revision["found"]
	return null

## `added`, `removed` and `changed` from one walk to a later one.
func between(old: RefCounted, new: RefCounted) -> Dictionary:
	var added := PackedStringArray()
	var removed: Array[String] = []
	var changed := PackedStringArray()
	for path: String in old.nodes:
		if not new.nodes.has(path):
			removed.append(path)
	for path: String in new.nodes:
		var now: Dictionary = new.nodes[path]
		if not old.nodes.has(path):
			added.append(_added(path, now, new))
			continue
		var fields := PackedStringArray()
		if old.nodes[path] == now:
			# Stored once for both.
			new.nodes[path] = old.nodes[path]
		else:
			fields = _changes(old.nodes[path], now)
		if old.children[path] != new.children[path]:
			fields.append_array(_reordered(old.children[path], new.children[path]))
		if not fields.is_empty():
			changed.append("{\"path\":" + Values.quote(path) + "," + ",".join(fields) + "}")
	return {"added": Values.raw("[" + ",".join(added) + "]"), "removed": removed, "changed": Values.raw("[" + ",".join(changed) + "]")}

func _added(path: String, fields: Dictionary, new: RefCounted) -> String:
	var parent := path.get_base_dir()
	var out := PackedStringArray(["\"parent\":" + Values.quote(parent)])
	if new.children.has(parent):
		out.append("\"index\":%d" % new.children[parent].find(path.get_file()))
	for field: String in fields:
		out.append(Values.key(field) + fields[field])
	return "{" + ",".join(out) + "}"

func _changes(before: Dictionary, now: Dictionary) -> PackedStringArray:
	var out := PackedStringArray()
	for field: String in now:
		if before.get(field) != now[field]:
			out.append(Values.key(field) + now[field])
	for field: String in before:
		if not now.has(field):
			out.append(Values.key(field) + "null")
	return out

## The order of the children, if the remaining ones have another order.
func _reordered(before: PackedStringArray, now: PackedStringArray) -> PackedStringArray:
	var had := {}
	for name in before:
		had[name] = true
	var stayed := {}
	for name in now:
		if had.has(name):
			stayed[name] = true
	var stood := Array(before).filter(func(name: String) -> bool: return stayed.has(name))
	return PackedStringArray() if stood == stayed.keys() else PackedStringArray(["\"order\":" + Values.text(Array(now))])
