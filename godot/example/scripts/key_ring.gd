class_name KeyRing
extends RefCounted
## The symmetries of a level that the player has found. Each is a key of the vault.

## All symmetries by name, in the order of their names. Symmetries that are not found yet are not shown.
var _symmetries: Dictionary[String, Permutation]
## The names of the found symmetries, in the order in which they were found.
var _found: Array[String] = []


func _init(symmetries: Dictionary[String, Permutation]) -> void:
	_symmetries = symmetries


func total() -> int:
	return _symmetries.size()


func found_count() -> int:
	return _found.size()


func is_complete() -> bool:
	return found_count() == total()


func has(sym_id: String) -> bool:
	return sym_id in _found


func found() -> Array[String]:
	return _found.duplicate()


## The name of the symmetry with this mapping, or "".
func name_of(permutation: Permutation) -> String:
	for sym_id in _symmetries:
		if _symmetries[sym_id].equals(permutation):
			return sym_id
	return ""


## Adds a key, once, however often it is found.
func add(sym_id: String) -> void:
	if not has(sym_id):
		_found.append(sym_id)


func to_dictionary() -> Dictionary:
	var keys := []
	for sym_id in _found:
		keys.append({"sym_id": sym_id, "mapping": _symmetries[sym_id].mapping.duplicate()})
	return {"found_count": found_count(), "total": total(), "complete": is_complete(), "found": keys}
