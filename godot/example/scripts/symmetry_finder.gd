class_name SymmetryFinder
extends RefCounted
## Computes the symmetries of a level: the automorphisms of its graph, which map every edge to one of the same type and direction.
##
## Their names: `e` is the identity. Of those with the highest order, if that is at least 3, the first is `r1`, a rotation, and its
## powers are `r2`, `r3` and so on. All others are `s1`, `s2` and so on. "First" means by mapping, compared number by number.

var _size: int
## The edges by Vector2i(from, to); an undirected edge is included in both directions.
var _links: Dictionary[Vector2i, String] = {}


func _init(crystal_count: int, edges: Array) -> void:
	_size = crystal_count
	for edge: Dictionary in edges:
		var ends := Vector2i(edge["from"], edge["to"])
		_links[ends] = "%s, directed" % edge["type"] if edge["directed"] else edge["type"]
		if not edge["directed"]:
			_links[Vector2i(ends.y, ends.x)] = edge["type"]


func is_symmetry(permutation: Permutation) -> bool:
	if permutation.mapping.size() != _size or not permutation.is_valid():
		return false
	for crystal in _size:
		if not _fits(permutation.mapping, crystal):
			return false
	return true


## All of them, first to last.
func symmetries() -> Array[Permutation]:
	var found: Array[Permutation] = []
	_extend([], found)
	return found


## The same by name: the identity, the rotations, the others.
func named_symmetries() -> Dictionary[String, Permutation]:
	var rest := symmetries()
	var named: Dictionary[String, Permutation] = {"e": Permutation.identity(_size)}
	var rotation := _first_of_highest_order(rest)
	if rotation.order() >= 3:
		var power := rotation
		while not power.is_identity():
			named["r%d" % named.size()] = power
			power = power.then(rotation)
	var rotations := named.values()
	for symmetry in rest:
		if not rotations.any(symmetry.equals):
			named["s%d" % (named.size() - rotations.size() + 1)] = symmetry
	return named


## Tries each free place for the next crystal, and continues with the crystal after it if the arrangement fits so far.
func _extend(places: Array[int], found: Array[Permutation]) -> void:
	if places.size() == _size:
		found.append(Permutation.from_array(places))
		return
	for place in _size:
		if place in places:
			continue
		places.append(place)
		if _fits(places, places.size() - 1):
			_extend(places, found)
		places.pop_back()


## Whether the crystal has the same connections to all crystals before it as at first.
func _fits(places: Array[int], crystal: int) -> bool:
	for other in crystal:
		if _link(crystal, other) != _link(places[crystal], places[other]):
			return false
		if _link(other, crystal) != _link(places[other], places[crystal]):
			return false
	return true


func _link(from: int, to: int) -> String:
	return _links.get(Vector2i(from, to), "")


static func _first_of_highest_order(permutations: Array[Permutation]) -> Permutation:
	var best := permutations[0]
	for permutation in permutations:
		if permutation.order() > best.order():
			best = permutation
	return best
