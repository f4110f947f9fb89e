@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Controls how long the engine sleeps between frames: hardly at all while commands come, otherwise as usual.
##
## Headless, the engine sleeps 6.9 ms per frame, as in low processor mode, which would delay each answer. A game that never sleeps would use a
## third of a core while idle. A limit on frames per second (Engine.max_fps) is also lifted while commands come.

## In microseconds; the system adds about 50. Half of it adds to the time of each answer: with 100, get_node takes a quarter longer.
const QUICK := 30
## How long after a command the next one is expected, in milliseconds.
const EXPECTING := 250

## Whether commands are currently expected.
var quick := false

var _usual := 0
var _usual_fps := 0
var _until := 0
var _steady := false
var _fps_before := 0
var _ticks_before := 8

## A command has come or was answered.
func hurry() -> void:
	_until = Time.get_ticks_msec() + EXPECTING
	if _steady:
		return
	if not quick:
		quick = true
		_usual = OS.low_processor_usage_mode_sleep_usec
		_usual_fps = 0
		OS.low_processor_usage_mode_sleep_usec = mini(QUICK, _usual)
	if Engine.max_fps != 0:
		# Also a limit that the game has just set.
		_usual_fps = Engine.max_fps
		Engine.max_fps = 0

## Called once per frame.
func tick() -> void:
	if quick and Time.get_ticks_msec() > _until:
		restore()

func restore() -> void:
	if not quick:
		return
	quick = false
	OS.low_processor_usage_mode_sleep_usec = _usual
	# Keep a limit that the game has set meanwhile.
	if Engine.max_fps == 0:
		Engine.max_fps = _usual_fps

## Makes one frame per physics tick, so that each lasts as long as the game expects, until hurry() is allowed again.
func keep_steady(on: bool) -> void:
	if on == _steady:
		return
	if on:
		restore()
		_fps_before = Engine.max_fps
		Engine.max_fps = Engine.physics_ticks_per_second
		# Two ticks in one iteration of the loop would be a single frame for "just pressed".
		_ticks_before = Engine.max_physics_steps_per_frame
		Engine.max_physics_steps_per_frame = 1
	else:
		Engine.max_fps = _fps_before
		Engine.max_physics_steps_per_frame = _ticks_before
	_steady = on
