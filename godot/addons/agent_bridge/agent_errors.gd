@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Errors of the engine and of scripts, from any thread: converted to events, counted, and kept from flooding the queue.
##
## Errors of other threads than the main one are stored behind a mutex, and become events in the next frame. The first few occurrences of an error
## (the same kind, file, line and text) are separate events; after that, one per second, or the first during a command. The field `repeated` of
## such an event is the number of occurrences that it stands for.

## The number of different error texts at one place that are counted separately; further texts count as one error.
const TEXTS := 5
## The number of occurrences of an error that are separate events.
const FIRST := 3
## The interval of events for further occurrences, in milliseconds.
const EVERY := 1000
## The most errors of other threads that wait for the next frame.
const LIMIT := 1000
## Above this number of different errors, those that no longer occur are forgotten.
const REMEMBERED := 500
## The number of errors that a failed expect describes.
const SHOWN := 5
const LONGEST_STACK := 16
const HOOK := "agent_command"

## Set while the bridge does something that may fail and is reported in another way.
static var muted := false

## Receives the engine's errors, on any thread.
class Catcher extends Logger:
	const KINDS := ["error", "warning", "script", "shader"]
	var errors: WeakRef
	## The addon's folder: its own stack frames are left out.
	var own_folder: String
	func _log_error(function: String, file: String, line: int, code: String, rationale: String, _notify: bool, type: int,
			backtraces: Array[ScriptBacktrace]) -> void:
		var to: RefCounted = errors.get_ref()
		if to == null or to.is_muted():
			return
		var about := {"error": rationale if rationale != "" else code, "file": file, "line": line, "function": function, "kind": KINDS[type]}
		for trace in backtraces:
			var frames := _frames(trace)
			if not frames.is_empty():
				about["stack"] = frames
		to.report(about)

	func _frames(trace: ScriptBacktrace) -> Array[String]:
		var out: Array[String] = []
		for i in trace.get_frame_count():
			var file := trace.get_frame_file(i)
			if not file.begins_with(own_folder) and out.size() < LONGEST_STACK:
				out.append("%s:%d in %s" % [file, trace.get_frame_line(i), trace.get_frame_function(i)])
		return out

## An error that has occurred before.
class Known extends RefCounted:
	var about: Dictionary
	var count := 0
	## The occurrences that no event has reported yet.
	var waiting := 0
	## When its last event was created, in milliseconds.
	var reported := 0
	## The command during which its last event was created.
	var command := 0

## The number of script errors, by which a failed command is detected.
var script_errors := 0
## The number of them in a hook's agent_command, or in functions that it called.
var hook_errors := 0
## The text of the last one.
var last_script_error := ""

## Whether time is counted in frames, of which 60 are a second.
var in_lockstep := false

var _push: Callable
var _catcher := Catcher.new()
var _mutex := Mutex.new()
var _from_threads: Array[Dictionary] = []
var _known := {}
## By place: the error texts that are counted separately.
var _texts := {}
var _any_waiting := false
## The number of the current command; 0 between commands.
var _command := 0
var _commands := 0
var _unchecked := 0
var _first_unchecked: Array[Dictionary] = []

## `push` creates an event from a description.
func _init(push: Callable) -> void:
	_push = push
	_catcher.errors = weakref(self)
	_catcher.own_folder = get_script().resource_path.get_base_dir() + "/"
	OS.add_logger(_catcher)

func close() -> void:
	OS.remove_logger(_catcher)

## Whether errors of this thread are currently ignored.
func is_muted() -> bool:
	return muted and OS.get_thread_caller_id() == OS.get_main_thread_id()

func begin_command() -> void:
	_commands += 1
	_command = _commands

func end_command() -> void:
	if _any_waiting or not _from_threads.is_empty():
		collect()
	_command = 0

## An error, from any thread.
func report(about: Dictionary) -> void:
	if OS.get_thread_caller_id() == OS.get_main_thread_id():
		_add(about)
		return
	_mutex.lock()
	if _from_threads.size() < LIMIT:
		_from_threads.append(about)
	_mutex.unlock()

## Processes the errors of other threads, and reports repeated errors that are due; called once per frame.
func collect() -> void:
	if not _from_threads.is_empty():
		_mutex.lock()
		var reports := _from_threads.duplicate()
		_from_threads.clear()
		_mutex.unlock()
		for about in reports:
			_add(about)
	if not _any_waiting:
		return
	_any_waiting = false
	for known: Known in _known.values():
		if known.waiting > 0 and _now() - known.reported >= EVERY:
			_report(known)
		_any_waiting = _any_waiting or known.waiting > 0

## The number of errors (not warnings) since the last call, or since the start, and the first of them.
func take_unchecked() -> Dictionary:
	collect()
	var taken := {"count": _unchecked, "errors": _first_unchecked}
	_unchecked = 0
	_first_unchecked = []
	return taken

func _add(about: Dictionary) -> void:
	_count(about)
	var key := _key(about)
	var known: Known = _known.get(key)
	if known == null:
		if _known.size() >= REMEMBERED:
			_forget()
		known = Known.new()
		_known[key] = known
	known.about = about
	known.count += 1
	known.waiting += 1
	var is_due := _now() - known.reported >= EVERY
	if known.count <= FIRST or is_due or _command != 0 and known.command != _command:
		_report(known)
	else:
		_any_waiting = true

func _report(known: Known) -> void:
	var about := known.about
	if known.waiting > 1:
		about = about.merged({"repeated": known.waiting})
	known.waiting = 0
	known.reported = _now()
	known.command = _command
	_push.call(about)

## The identity of an error: its kind, place and text; for a place with many texts, further texts share one identity.
func _key(about: Dictionary) -> Array:
	var place: Array = [about["kind"], about["file"], about["line"], about.get("stack", [""])[0]]
	if not _texts.has(place) and _texts.size() >= REMEMBERED:
		_texts.clear()
	var texts: Dictionary = _texts.get_or_add(place, {})
	if texts.size() < TEXTS:
		texts[about["error"]] = true
	return place + [about["error"] if texts.has(about["error"]) else ""]

func _now() -> int:
	return Engine.get_process_frames() * 1000 / 60 if in_lockstep else Time.get_ticks_msec()

func _count(about: Dictionary) -> void:
	if about["kind"] != "warning":
		_unchecked += 1
		if _first_unchecked.size() < SHOWN:
			_first_unchecked.append(about)
	if about["kind"] == "script":
		script_errors += 1
		last_script_error = about["error"]
		if about["function"] == HOOK or about.get("stack", []).any(func(at: String) -> bool: return at.ends_with(" in " + HOOK)):
			hook_errors += 1

## The errors without unreported occurrences.
func _forget() -> void:
	for key: Array in _known.keys():
		if _known[key].waiting == 0:
			_known.erase(key)
