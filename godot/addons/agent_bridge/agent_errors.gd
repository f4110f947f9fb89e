@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Errors of the engine and of scripts, from any thread: converted to events, counted, and kept from flooding the queue.
##
## Errors of other threads than the main one are stored behind a mutex, and become events in the next frame. The first few occurrences of an error
## (the same kind, file, line and text) are separate events; after that, one per second, or the first during a command. The field `repeated` of
## such an event is the number of occurrences that it stands for.

const Catcher := preload("agent_catcher.gd")

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
const HOOK := "agent_command"

## Set while the bridge does something that may fail and is reported in another way.
static var muted := false

## The number of script errors, by which a failed command is detected.
var script_errors := 0
## The number of them in a hook's agent_command, or in functions that it called.
var hook_errors := 0
## The text of the last one.
var last_script_error := ""

## The error about a script in C# that the engine could not load for a scene or an autoload; empty if there is none.
var csharp := ""

## Whether time is counted in frames, of which 60 are a second.
var in_lockstep := false

var _push: Callable
var _catcher := Catcher.new()
var _mutex := Mutex.new()
var _from_threads: Array[Dictionary] = []
## By its identity, what is known about an error that has occurred: its description (about), the count of its occurrences, how many of them no
## event has reported yet (waiting), when its last event was created, in milliseconds (reported), and during which command.
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
	for known: Dictionary in _known.values():
		if known["waiting"] > 0 and _now() - known["reported"] >= EVERY:
			_report(known)
		_any_waiting = _any_waiting or known["waiting"] > 0

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
	if not _known.has(key):
		if _known.size() >= REMEMBERED:
			_forget()
		_known[key] = {"count": 0, "waiting": 0, "reported": 0, "command": 0}
	var known: Dictionary = _known[key]
	known["about"] = about
	known["count"] += 1
	known["waiting"] += 1
	var is_due: bool = _now() - known["reported"] >= EVERY
	if known["count"] <= FIRST or is_due or _command != 0 and known["command"] != _command:
		_report(known)
	else:
		_any_waiting = true

func _report(known: Dictionary) -> void:
	var about: Dictionary = known["about"]
	if known["waiting"] > 1:
		about = about.merged({"repeated": known["waiting"]})
	known["waiting"] = 0
	known["reported"] = _now()
	known["command"] = _command
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
	# A script of the game that tries to load one has a stack.
	if about["error"].begins_with("No loader found") and ".cs (" in about["error"] and not about.has("stack"):
		csharp = about["error"]
	if about["kind"] == "script":
		script_errors += 1
		last_script_error = about["error"]
		if about["function"] == HOOK or about.get("stack", []).any(func(at: String) -> bool: return at.ends_with(" in " + HOOK)):
			hook_errors += 1

## The errors without unreported occurrences.
func _forget() -> void:
	for key: Array in _known.keys():
		if _known[key]["waiting"] == 0:
			_known.erase(key)
