@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The game's time: pauses, resumes and steps by a number of frames.
##
## In a game that was started with lockstep, frames pass only while a command needs them, and a step is that many frames. In other games, the tree
## is paused between steps: it is unpaused when a physics tick or a drawn frame begins, and paused when the next begins, so that timers, tweens and
## the physics server, which run after the nodes, also advance. A step is then one physics tick and one drawn frame, as in a game at 60 frames per
## second.

const Answer := preload("agent_answer.gd")

## The default limit of frames for a step that ends at a condition.
const MOST_UNTIL := 3600

enum Next { PHYSICS, PROCESS, NOTHING }

var _session: Node
var _paused := false
## Whether the game has paused itself: resume restores this.
var _game_paused := false
var _open := false
var _next := Next.NOTHING
var _left := 0
## Set when a drawn frame of a step begins.
var _is_drawn := false

func _init(session: Node) -> void:
	_session = session

## Whether the client has paused the game.
func is_paused() -> bool:
	return _paused

## Whether the game's time passes only in steps.
func is_held() -> bool:
	return _paused or _session.options.lockstep

func pause(_args: Dictionary) -> Dictionary:
	var tree: SceneTree = _session.get_tree()
	if not is_held():
		_paused = true
		_game_paused = tree.paused
		tree.paused = true
		tree.physics_frame.connect(_physics)
		tree.process_frame.connect(_process)
	return {"paused": true}

func resume(_args: Dictionary) -> Dictionary:
	var tree: SceneTree = _session.get_tree()
	if _paused:
		_paused = false
		tree.physics_frame.disconnect(_physics)
		tree.process_frame.disconnect(_process)
		tree.paused = _game_paused
		_session.devices.flush()
	return {"paused": tree.paused}

## Lets a number of frames pass, or fewer if `until` is met. Executes `observe` periodically after a number of them.
func step(args: Dictionary, command: RefCounted) -> Dictionary:
	var until: Variant = _session.commands.condition(args["until"]) if args.has("until") else null
	if until is Dictionary:
		return until
	var observed: Variant = _session.commands.looking(args["observe"], command) if args.has("observe") else null
	if observed is Dictionary:
		return observed
	pause({})
	var out := {"frames": 0, "paused": true}
	if observed != null:
		out["observations"] = []
	var after_frame := func() -> bool:
		out["frames"] += 1
		if observed != null and out["frames"] % maxi(args.get("every", 1), 1) == 0:
			var seen: Dictionary = await _session.commands.carry_out(observed)
			if Answer.is_failure(seen):
				out["failed"] = seen
				return true
			out["observations"].append({"frame": Engine.get_process_frames(), "data": seen})
		out["met"] = until.met.call() if until != null else null
		return out["met"] != null
	await _pass_frames(maxi(args.get("frames", MOST_UNTIL if until != null else 1), 0), after_frame, command)
	if until != null:
		until.disarm.call()
	else:
		out.erase("met")
	return out.get("failed", out)

## Cancels further steps.
func abandon() -> void:
	_next = Next.NOTHING
	_left = 0

## Lets frames pass, one after another, until `after_frame` returns true.
func _pass_frames(count: int, after_frame: Callable, command: RefCounted) -> void:
	if _session.options.lockstep:
		for i in count:
			await _session.ticked
			# A step is limited by its number of frames.
			_session.restart_time()
			if command.done or await after_frame.call():
				return
		return
	_left = count
	_next = Next.PHYSICS if count > 0 else Next.NOTHING
	# At the loop's full speed, the delta of a frame would be a fraction of a millisecond, and thirty frames would be almost no game time.
	_session.sleep.keep_steady(true)
	while not command.done and (_next != Next.NOTHING or _open):
		await _session.ticked
		if _is_drawn:
			_is_drawn = false
			_session.devices.frame_passed()
			if not command.done and await after_frame.call():
				abandon()
	_session.sleep.keep_steady(false)

func _physics() -> void:
	_close()
	if _next == Next.PHYSICS:
		_next = Next.PROCESS
		_let_go()
		_session.devices.flush()

func _process() -> void:
	_close()
	if _next == Next.PROCESS:
		_left -= 1
		_next = Next.PHYSICS if _left > 0 else Next.NOTHING
		_is_drawn = true
		_let_go()

func _let_go() -> void:
	_open = true
	_session.get_tree().paused = _game_paused

## Pauses again, and stores whether the game has changed its own pause meanwhile.
func _close() -> void:
	var tree: SceneTree = _session.get_tree()
	if _open:
		_open = false
		_game_paused = tree.paused
	elif not tree.paused:
		_game_paused = false
	tree.paused = true
