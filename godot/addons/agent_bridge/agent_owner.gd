@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The owner process. The game ends when its owner does, so that no game is left running, however its client ended.

## How often it is checked, in milliseconds.
const EVERY := 1000
const EVERY_WITHOUT_PROC := 5000

var _pid: int
var _started := ""
var _next := 0
var _has_proc := DirAccess.dir_exists_absolute("/proc/self")
var _gone := false
var _asking := -1

func _init(pid: int) -> void:
	_pid = pid
	_started = _start_of(pid) if _has_proc else ""

func is_gone() -> bool:
	var now := Time.get_ticks_msec()
	if now < _next or _gone:
		return _gone
	_next = now + (EVERY if _has_proc else EVERY_WITHOUT_PROC)
	if _has_proc:
		# Not alive if another process has reused its id, or if it is a zombie.
		var start := _start_of(_pid)
		_gone = start == "" or start != _started
	elif _asking < 0 or WorkerThreadPool.is_task_completed(_asking):
		if _asking >= 0:
			WorkerThreadPool.wait_for_task_completion(_asking)
		# Starting a process takes milliseconds, which must not delay the game.
		_asking = WorkerThreadPool.add_task(_ask)
	return _gone

## When a process started, in the kernel's ticks; empty if there is no such process.
func _start_of(pid: int) -> String:
	var file := FileAccess.open("/proc/%d/stat" % pid, FileAccess.READ)
	if file == null:
		return ""
	# "PID (name, with any characters) S ppid ...": the state is the first field after the last bracket, the start time the 20th.
	var fields := file.get_line().get_slice(") ", 1).split(" ")
	return "" if fields.size() < 20 or fields[0] in ["Z", "X"] else fields[19]

func _ask() -> void:
	if OS.get_name() == "Windows":
		var output := []
		OS.execute("tasklist", ["/NH", "/FI", "PID eq %d" % _pid], output)
		_gone = not " %d " % _pid in "".join(output)
	else:
		_gone = OS.execute("kill", ["-0", str(_pid)]) != 0
