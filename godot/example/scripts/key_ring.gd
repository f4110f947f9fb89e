class_name KeyRing
extends RefCounted
## Which of a level's symmetries the player has found. Each is a key of the vault.

## By name, in the order of their names; what isn't found yet is told to nobody.
var _symmetries: Dictionary[String, Permutation]
## Names in the order of finding.
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


## The name of the symmetry that this is, or "".
func name_of(permutation: Permutation) -> String:
	for sym_id in _symmetries:
		if _symmetries[sym_id].equals(permutation):
			return sym_id
	return ""


## One key hangs here once, however often it is found.
func add(sym_id: String) -> void:
	if not has(sym_id):
		_found.append(sym_id)


func to_dictionary() -> Dictionary:
	var keys := []
	for sym_id in _found:
		keys.append({"sym_id": sym_id, "mapping": _symmetries[sym_id].mapping.duplicate()})
	return {"found_count": found_count(), "total": total(), "complete": is_complete(), "found": keys}
