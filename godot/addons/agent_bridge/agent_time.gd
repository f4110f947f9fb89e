@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast")
extends RefCounted
## The game's time: held, let go, or let go for so many frames.
##
## A step is one tick of physics and one drawn frame, the way a game at 60 frames a second has them, however fast the engine's loop turns just
## then. The tree is let go as a tick or frame begins, and held as the next begins: so timers, tweens and the physics server have theirs as well,
## which come after the nodes'.

const Command := preload("agent_command.gd")

enum Next { PHYSICS, PROCESS, NOTHING }

var _session: Node
var _held := false
## Whether the game itself has paused: that is its own, and comes back with resume.
var _game_paused := false
var _open := false
var _next := Next.NOTHING
var _left := 0

func _init(session: Node) -> void:
	_session = session

func pause(_args: Dictionary) -> Dictionary:
	var tree: SceneTree = _session.get_tree()
	if not _held:
		_held = true
		_game_paused = tree.paused
		tree.paused = true
		tree.physics_frame.connect(_physics)
		tree.process_frame.connect(_process)
	return {"paused": true}

func resume(_args: Dictionary) -> Dictionary:
	var tree: SceneTree = _session.get_tree()
	if _held:
		_held = false
		tree.physics_frame.disconnect(_physics)
		tree.process_frame.disconnect(_process)
		tree.paused = _game_paused
	return {"paused": tree.paused}

## Holds the tree, if it isn't yet, lets it run for so many frames, and holds it again.
func step(args: Dictionary, command: Command) -> Dictionary:
	pause({})
	var count: int = maxi(args.get("frames", 1), 0)
	_left = count
	_next = Next.PHYSICS if count > 0 else Next.NOTHING
	# At the loop's own speed a frame's delta would be a fraction of a millisecond, and thirty of them no time at all.
	_session.sleep.keep_steady(true)
	while not command.done and (_next != Next.NOTHING or _open):
		await _session.ticked
	_session.sleep.keep_steady(false)
	return {"frames": count - _left, "paused": true}

## No further step.
func abandon() -> void:
	_next = Next.NOTHING
	_left = 0

func _physics() -> void:
	_close()
	if _next == Next.PHYSICS:
		_next = Next.PROCESS
		_let_go()

func _process() -> void:
	_close()
	if _next == Next.PROCESS:
		_left -= 1
		_next = Next.PHYSICS if _left > 0 else Next.NOTHING
		_let_go()

func _let_go() -> void:
	_open = true
	_session.get_tree().paused = _game_paused

## Holds again. What the game has done to its own pause meanwhile is remembered.
func _close() -> void:
	var tree: SceneTree = _session.get_tree()
	if _open:
		_open = false
		_game_paused = tree.paused
	elif not tree.paused:
		_game_paused = false
	tree.paused = true
