@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Short names, such as @12, for nodes that a client has received. Each belongs to its node for the node's lifetime, and is never reused.

## The number of names at which those of freed nodes are removed.
const ROOM := 2000

var _ids := {}
var _numbers := {}
var _last := 0
var _room := ROOM

func of(node: Node) -> String:
	var id := node.get_instance_id()
	if not _numbers.has(id):
		if _ids.size() >= _room:
			_forget_freed()
		_last += 1
		_numbers[id] = _last
		_ids["@%d" % _last] = id
	return "@%d" % _numbers[id]

## The node with a short name; null if it was freed, or never existed.
func node(ref: String) -> Node:
	var id: int = _ids.get(ref, 0)
	return instance_from_id(id) as Node if is_instance_id_valid(id) else null

func _forget_freed() -> void:
	for ref: String in _ids.keys():
		if not is_instance_id_valid(_ids[ref]):
			_numbers.erase(_ids[ref])
			_ids.erase(ref)
	_room = maxi(ROOM, _ids.size() * 2)
