class_name LevelScene
extends Node2D
## The scene of a level. Crystals are on places that are connected by edges; dragging one onto another swaps them. An arrangement in which
## every crystal has the same connections to its neighbours as at first is a symmetry: it is added to the key ring, and all crystals return to
## their initial places. Any other arrangement stays, so that the next swap continues from it.
##
## A mapping contains the current place of each crystal.

signal swap_performed(mapping: Array)
## Also emitted for a symmetry that was found before, which is counted once.
signal symmetry_found(sym_id: String, mapping: Array)
signal invalid_attempt(mapping: Array)
## All symmetries are found; emitted once per level.
signal completed

const HudLayer := preload("hud_layer.gd")
const SWAP_SECONDS := 0.35
## How long a symmetry is shown to a person before the crystals return.
const ADMIRE_SECONDS := 0.7
const RULE := "Drag crystals onto each other. Find every arrangement in which each crystal keeps its neighbours, arrows and metals included."

## Set by the bridge if a program plays: there are no delays then.
var agent_mode := false
var level: LevelData
var key_ring: KeyRing
var crystals: Array[CrystalNode] = []
var arrangement: Permutation
var _homecoming: Tween

@onready var hud: HudLayer = $HUDLayer


func _ready() -> void:
	level = LevelData.read(GameManager.current_level_id)
	arrangement = Permutation.identity(level.crystals.size())
	key_ring = KeyRing.new(SymmetryFinder.new(level.crystals.size(), level.edges).named_symmetries())
	for description in level.crystals:
		var crystal := CrystalNode.new()
		crystal.setup(description)
		crystal.dropped.connect(_on_crystal_dropped)
		crystals.append(crystal)
		$CrystalContainer.add_child(crystal)
	for description in level.edges:
		var edge := EdgeRenderer.new()
		edge.setup(description, _home(description["from"]), _home(description["to"]))
		$EdgeContainer.add_child(edge)
	hud.show_title(level.title)
	hud.show_keys(key_ring)
	hud.show_message(RULE)
	hud.reset_button.pressed.connect(reset)
	hud.next_level_button.pressed.connect(GameManager.load_next_level)


func perform_swap_by_id(from_id: int, to_id: int) -> Dictionary:
	for id: int in [from_id, to_id]:
		if id < 0 or id >= crystals.size():
			return {"error": "Crystal %d not found" % id, "code": "INVALID_ID", "hint": "crystals are 0 to %d" % (crystals.size() - 1)}
	if from_id == to_id:
		return {"result": "no_op", "reason": "same_crystal"}
	_arrange(arrangement.with_swapped(from_id, to_id))
	swap_performed.emit(arrangement.mapping.duplicate())
	_judge()
	return {"result": "ok"}


func submit_permutation(mapping: Array) -> Dictionary:
	var permutation := Permutation.from_array(mapping)
	if mapping.size() != crystals.size() or not permutation.is_valid():
		return {
			"error": "%s is no permutation of %d crystals" % [mapping, crystals.size()], "code": "INVALID_PERMUTATION",
			"hint": "each of 0 to %d must stand in it once" % (crystals.size() - 1),
		}
	_arrange(permutation)
	_judge()
	return {"result": "ok"}


## Returns all crystals to their initial places. The key ring is unchanged.
func reset() -> Dictionary:
	if arrangement.is_identity():
		return {"result": "no_op", "reason": "nothing_to_reset"}
	_go_home()
	hud.show_message(RULE)
	return {"result": "ok"}


func get_state() -> Dictionary:
	return {
		"level": level.id,
		"title": level.title,
		"crystals": crystals.map(func(crystal: CrystalNode) -> Dictionary: return crystal.agent_fields()),
		"edges": $EdgeContainer.get_children().map(func(edge: EdgeRenderer) -> Dictionary: return edge.agent_fields()),
		"arrangement": arrangement.mapping.duplicate(),
		"keyring": key_ring.to_dictionary(),
	}


func _judge() -> void:
	var mapping := arrangement.mapping.duplicate()
	var sym_id := key_ring.name_of(arrangement)
	if sym_id.is_empty():
		hud.show_message("Not a symmetry. Swap on from here, or reset.")
		invalid_attempt.emit(mapping)
		return
	var known := key_ring.has(sym_id)
	var was_complete := key_ring.is_complete()
	key_ring.add(sym_id)
	hud.show_keys(key_ring)
	hud.show_message("%s is on the key ring already." % sym_id if known else "Found %s!" % sym_id)
	_go_home_admired()
	symmetry_found.emit(sym_id, mapping)
	if key_ring.is_complete() and not was_complete:
		hud.show_message("All %d symmetries found: the vault is open!" % key_ring.total())
		GameManager.mark_completed(level.id)
		completed.emit()


func _arrange(permutation: Permutation) -> void:
	arrangement = permutation
	for crystal in crystals:
		crystal.place = arrangement.mapping[crystal.crystal_id]
		crystal.animate_to_position(_home(crystal.place), 0.0 if agent_mode else SWAP_SECONDS)


func _go_home() -> void:
	if _homecoming:
		_homecoming.kill()
	_let_drag(true)
	_arrange(Permutation.identity(crystals.size()))


func _go_home_admired() -> void:
	if agent_mode:
		_go_home()
		return
	_let_drag(false)
	_homecoming = create_tween()
	_homecoming.tween_callback(_go_home).set_delay(SWAP_SECONDS + ADMIRE_SECONDS)


func _let_drag(allowed: bool) -> void:
	for crystal in crystals:
		crystal.draggable = allowed


func _home(place: int) -> Vector2:
	return level.crystals[place]["position"]


func _on_crystal_dropped(crystal: CrystalNode) -> void:
	for other in crystals:
		if other != crystal and other.contains(crystal.position):
			perform_swap_by_id(crystal.crystal_id, other.crystal_id)
			return
	crystal.animate_to_position(_home(crystal.place), SWAP_SECONDS)


## The places, each with the label of the crystal that is there initially.
func _draw() -> void:
	for crystal in level.crystals:
		var home: Vector2 = crystal["position"]
		draw_arc(home, CrystalNode.RADIUS + 5, 0, TAU, 48, Color(1, 1, 1, 0.18), 2, true)
		draw_string(ThemeDB.fallback_font, home + Vector2(36, -36), crystal["label"], HORIZONTAL_ALIGNMENT_LEFT, -1, 18, Color(1, 1, 1, 0.4))


func agent_commands() -> Dictionary:
	return {
		"swap": {"args": {"from": "int", "to": "int"}, "about": "Drags a crystal onto another: they trade places"},
		"submit_permutation": {"args": {"mapping": "Array"}, "about": "Puts every crystal on the place that mapping tells for it"},
		"reset": {"args": {}, "about": "Sends all crystals home; the key ring stays"},
		"get_state": {"args": {}, "about": "The level, its crystals and edges, where the crystals stand, and the keys found"},
	}


func agent_command(command: String, args: Dictionary) -> Variant:
	match command:
		"swap":
			if not (_is_whole(args.get("from")) and _is_whole(args.get("to"))):
				return {"error": "from and to must be whole numbers", "code": "INVALID_ARGS"}
			return perform_swap_by_id(int(args["from"]), int(args["to"]))
		"submit_permutation":
			var mapping: Variant = args.get("mapping")
			if mapping is not Array or not mapping.all(_is_whole):
				return {"error": "mapping must be an array of whole numbers", "code": "INVALID_ARGS"}
			return submit_permutation(mapping)
		"reset":
			return reset()
		_:
			return get_state()


func agent_actions() -> Array:
	var actions := []
	for from in crystals.size():
		for to in range(from + 1, crystals.size()):
			actions.append({"cmd": "swap", "args": {"from": from, "to": to}})
	var reset_action := {"cmd": "reset", "args": {}}
	if arrangement.is_identity():
		reset_action["reason"] = "all crystals are at home"
	actions.append(reset_action)
	return actions


## JSON has one number type, so an integer may arrive as a float.
static func _is_whole(value: Variant) -> bool:
	return value is int or value is float and value == floorf(value) and absf(value) < 1e9
