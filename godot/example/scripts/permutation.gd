class_name Permutation
extends RefCounted
## A permutation of 0 .. n-1: `mapping[crystal]` is the place that the crystal goes to, and place i is the initial place of crystal i.

var mapping: Array[int] = []


static func from_array(values: Array) -> Permutation:
	var permutation := Permutation.new()
	for value: int in values:
		permutation.mapping.append(value)
	return permutation


static func identity(size: int) -> Permutation:
	return from_array(range(size))


## Whether every place occurs exactly once.
func is_valid() -> bool:
	var places := mapping.duplicate()
	places.sort()
	return places == Array(range(mapping.size()), TYPE_INT, "", null)


func is_identity() -> bool:
	return equals(identity(mapping.size()))


func equals(other: Permutation) -> bool:
	return mapping == other.mapping


## The composition: first this one, then the other.
func then(other: Permutation) -> Permutation:
	return from_array(mapping.map(func(place: int) -> int: return other.mapping[place]))


func inverse() -> Permutation:
	return from_array(range(mapping.size()).map(func(place: int) -> int: return mapping.find(place)))


## The order: how often it has to be repeated to give the identity.
func order() -> int:
	var repeated := self
	var count := 1
	while not repeated.is_identity():
		repeated = repeated.then(self)
		count += 1
	return count


## Swaps the places of two crystals.
func with_swapped(crystal: int, other: int) -> Permutation:
	var swapped := from_array(mapping)
	swapped.mapping[crystal] = mapping[other]
	swapped.mapping[other] = mapping[crystal]
	return swapped
