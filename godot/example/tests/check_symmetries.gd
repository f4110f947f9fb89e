extends SceneTree
## Checks Permutation, SymmetryFinder and every level against the definition, with all permutations one by one:
## godot --headless --path godot/example --script res://tests/check_symmetries.gd
## Prints the differences, and exits 1 if there are any.

var _failures := 0


func _init() -> void:
	_check_permutations(4)
	for level_id in LevelData.all_ids():
		_check_level(LevelData.read(level_id))
	_check_names("act1_level01", ["e [0, 1, 2]", "r1 [1, 2, 0]", "r2 [2, 0, 1]"])
	_check_names("act1_level02", ["e [0, 1, 2, 3]", "s1 [1, 0, 3, 2]", "s2 [2, 3, 0, 1]", "s3 [3, 2, 1, 0]"])
	_check_names("act1_level03", [
		"e [0, 1, 2, 3]", "r1 [1, 2, 3, 0]", "r2 [2, 3, 0, 1]", "r3 [3, 0, 1, 2]",
		"s1 [0, 3, 2, 1]", "s2 [1, 0, 3, 2]", "s3 [2, 1, 0, 3]", "s4 [3, 2, 1, 0]",
	])
	_check_names("act1_level04", ["e [0, 1, 2, 3, 4, 5]", "r1 [1, 2, 0, 4, 5, 3]", "r2 [2, 0, 1, 5, 3, 4]"])
	print("all symmetries hold" if _failures == 0 else "%d failures" % _failures)
	quit(mini(_failures, 1))


func _expect(holds: bool, what: String) -> void:
	if not holds:
		_failures += 1
		printerr("FAILED: ", what)


func _check_permutations(size: int) -> void:
	_expect(not Permutation.from_array([0, 0, 1]).is_valid(), "a place taken twice is invalid")
	_expect(not Permutation.from_array([1, 2, 3]).is_valid(), "a place out of range is invalid")
	for permutation in _all_permutations(size):
		var text := str(permutation.mapping)
		_expect(permutation.is_valid(), "%s is valid" % text)
		_expect(permutation.then(permutation.inverse()).is_identity(), "%s and its inverse are nothing" % text)
		_expect(permutation.with_swapped(0, 3).with_swapped(0, 3).equals(permutation), "%s swapped twice is the same" % text)
		_expect(12 % permutation.order() == 0, "the order of %s divides 12" % text)
	_expect(_all_permutations(size).size() == 24, "four crystals have 24 permutations")


func _check_level(level: LevelData) -> void:
	var finder := SymmetryFinder.new(level.crystals.size(), level.edges)
	var by_definition: Array[Permutation] = []
	for permutation in _all_permutations(level.crystals.size()):
		if _keeps_edges(level, permutation):
			by_definition.append(permutation)
		_expect(finder.is_symmetry(permutation) == _keeps_edges(level, permutation), "%s: %s" % [level.id, permutation.mapping])
	var found := finder.symmetries()
	_expect(_texts(found) == _texts(by_definition), "%s: the same symmetries, in order" % level.id)
	_expect(_count_reached_by_swaps(finder, level.crystals.size()) == found.size(), "%s: swaps lead to every symmetry" % level.id)
	for first in found:
		for second in found:
			_expect(finder.is_symmetry(first.then(second)), "%s: its symmetries are a group" % level.id)


func _check_names(level_id: String, expected: Array) -> void:
	var level := LevelData.read(level_id)
	var named := SymmetryFinder.new(level.crystals.size(), level.edges).named_symmetries()
	var texts := named.keys().map(func(sym_id: String) -> String: return "%s %s" % [sym_id, named[sym_id].mapping])
	_expect(texts == expected, "%s: %s, expected %s" % [level_id, texts, expected])


## The definition: the set of the mapped edges is the set of the edges.
func _keeps_edges(level: LevelData, permutation: Permutation) -> bool:
	var before := level.edges.map(func(edge: Dictionary) -> String: return _edge_text(edge, edge["from"], edge["to"]))
	var after := level.edges.map(func(edge: Dictionary) -> String:
		return _edge_text(edge, permutation.mapping[edge["from"]], permutation.mapping[edge["to"]]))
	before.sort()
	after.sort()
	return before == after


func _edge_text(edge: Dictionary, from: int, to: int) -> String:
	if edge["directed"]:
		return "%s %d>%d" % [edge["type"], from, to]
	return "%s %d-%d" % [edge["type"], mini(from, to), maxi(from, to)]


## Swaps continue from an arrangement that is not a symmetry; a symmetry returns all crystals. (So a triangle without directions cannot be
## played: every swap is a symmetry of it, and none leads to a rotation.)
func _count_reached_by_swaps(finder: SymmetryFinder, size: int) -> int:
	var reached: Dictionary[Array, bool] = {}
	var ways: Array[Permutation] = [Permutation.identity(size)]
	while not ways.is_empty():
		var from: Permutation = ways.pop_back()
		for crystal in size:
			for other in crystal:
				var next := from.with_swapped(crystal, other)
				if next.mapping not in reached:
					reached[next.mapping] = finder.is_symmetry(next)
					if not reached[next.mapping]:
						ways.append(next)
	return reached.values().count(true)


func _texts(permutations: Array[Permutation]) -> Array:
	return permutations.map(func(permutation: Permutation) -> String: return str(permutation.mapping))


func _all_permutations(size: int) -> Array[Permutation]:
	var all: Array[Permutation] = []
	_append_permutations([], size, all)
	return all


func _append_permutations(places: Array, size: int, all: Array[Permutation]) -> void:
	if places.size() == size:
		all.append(Permutation.from_array(places))
	for place in size:
		if place not in places:
			_append_permutations(places + [place], size, all)
