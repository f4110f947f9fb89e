@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## How long the engine sleeps between frames: hardly at all while commands come, as ever otherwise.
##
## Headless, the engine sleeps 6.9 ms a frame, as it does in low processor mode; that would be the time of an answer. Always quick, an idle game
## would cost a third of a core. A limit on frames per second (Engine.max_fps) is lifted for that time, too.

## In microseconds; the system adds some 50. Half of it is in each answer's time: with 100 get_node takes a quarter longer.
const QUICK := 30
## So long after a command the next is expected, in milliseconds.
const EXPECTING := 250

## Whether commands are expected just now.
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
		# Also one that the game has set only now.
		_usual_fps = Engine.max_fps
		Engine.max_fps = 0

## Once a frame.
func tick() -> void:
	if quick and Time.get_ticks_msec() > _until:
		restore()

func restore() -> void:
	if not quick:
		return
	quick = false
	OS.low_processor_usage_mode_sleep_usec = _usual
	# A limit that the game has set meanwhile is its own.
	if Engine.max_fps == 0:
		Engine.max_fps = _usual_fps

## As many frames as ticks of physics, so that each lasts as long as the game expects. Until hurry() is allowed again.
func keep_steady(on: bool) -> void:
	if on == _steady:
		return
	if on:
		restore()
		_fps_before = Engine.max_fps
		Engine.max_fps = Engine.physics_ticks_per_second
		# Two ticks in one turn of the loop would be one frame to what asks for "just pressed".
		_ticks_before = Engine.max_physics_steps_per_frame
		Engine.max_physics_steps_per_frame = 1
	else:
		Engine.max_fps = _fps_before
		Engine.max_physics_steps_per_frame = _ticks_before
	_steady = on
