@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The transport over two files: `cmd.jsonl` is read, `resp.jsonl` is appended to. Each may continue in another file, named in a last line
## `{"next":NAME}`.
##
## Polling costs one get_length() of an open file (7 us; reopening it would take 64).

const Lines := preload("agent_lines.gd")

## The largest size of a file of answers.
const FULL := 16 << 20
const CHUNK := 1 << 20

## False if the other side has disconnected, which cannot be detected with files.
var connected := true
var name := "file"

var _folder: String
var _in: FileAccess
var _in_name: String
var _at := 0
var _lines := Lines.new()
var _next := ""
var _out: FileAccess
var _out_name: String
var _waiting := PackedStringArray()

func _init(folder: String) -> void:
	_folder = folder

## Opens both files, or creates them. False (and an error) if that fails.
func open() -> bool:
	_in_name = _latest("cmd")
	_out_name = _latest("resp")
	for file in [_in_name, _out_name]:
		var path := _folder.path_join(file)
		if not FileAccess.file_exists(path) and FileAccess.open(path, FileAccess.WRITE) == null:
			push_error("AgentBridge: cannot create %s: %s" % [path, error_string(FileAccess.get_open_error())])
			return false
	_in = FileAccess.open(_folder.path_join(_in_name), FileAccess.READ)
	# READ_WRITE keeps the contents (a client may already read them), but fails on a missing file.
	_out = FileAccess.open(_folder.path_join(_out_name), FileAccess.READ_WRITE)
	if _in == null or _out == null:
		push_error("AgentBridge: cannot open the files in %s" % _folder)
		return false
	_out.seek_end()
	return true

## Whether poll() would have something to do.
func has_news() -> bool:
	return _in.get_length() > _at or _next != ""

## The new lines (strings) and failures (dictionaries).
func poll() -> Array:
	if _next != "" and not _go_on():
		return []
	var length := _in.get_length()
	if length <= _at:
		return []
	_in.seek(_at)
	var bytes := _in.get_buffer(mini(length - _at, CHUNK))
	_at += bytes.size()
	# With an explicit type: inferring it failed once, while the engine was still loading the other script.
	var lines: Array = _lines.feed(bytes)
	for i in lines.size():
		if lines[i] is String and lines[i].begins_with("{\"next\"") and _is_next(lines[i]):
			_go_on()
			return lines.slice(0, i)
	return lines

func write(line: String) -> void:
	_waiting.append(line)

## Makes the written lines visible to the client, with one flush for all of them.
func flush() -> void:
	if _waiting.is_empty():
		return
	_waiting.append("")
	_out.store_string("\n".join(_waiting))
	_waiting.clear()
	_out.flush()
	if _out.get_position() > FULL:
		_turn_over()

func close() -> void:
	flush()

func _is_next(line: String) -> bool:
	var json := JSON.new()
	if json.parse(line) != OK or not json.data is Dictionary or json.data.size() != 1 or not json.data["next"] is String:
		return false
	# Only a plain name in this folder is accepted, because the named file is later deleted.
	if _number(json.data["next"], "cmd") < 0:
		return false
	_next = json.data["next"]
	return true

## Opens the next file of commands, and removes the old one. If it does not exist yet, the next poll tries again.
func _go_on() -> bool:
	var next := FileAccess.open(_folder.path_join(_next), FileAccess.READ)
	if next == null:
		return false
	_in.close()
	if _next != _in_name:
		DirAccess.remove_absolute(_folder.path_join(_in_name))
	_in = next
	_in_name = _next
	_next = ""
	_at = 0
	_lines = Lines.new()
	return true

## Continues in another file of answers, which is created before the old one names it.
func _turn_over() -> void:
	var next := "resp.%d.jsonl" % (_number(_out_name, "resp") + 1)
	var file := FileAccess.open(_folder.path_join(next), FileAccess.WRITE)
	if file == null:
		return
	_out.store_string("{\"next\":\"%s\"}\n" % next)
	_out.close()
	_out = file
	_out_name = next

## The file with the highest number: `cmd.jsonl` counts as 1.
func _latest(stem: String) -> String:
	var best := stem + ".jsonl"
	for file in DirAccess.get_files_at(_folder):
		if _number(file, stem) > _number(best, stem):
			best = file
	return best

func _number(file: String, stem: String) -> int:
	if file == stem + ".jsonl":
		return 1
	var middle := file.trim_prefix(stem + ".").trim_suffix(".jsonl")
	return int(middle) if middle.is_valid_int() and int(middle) > 1 and file == "%s.%d.jsonl" % [stem, int(middle)] else -1
