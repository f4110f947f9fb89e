@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Bytes as they come, in lines. A line without its line feed isn't there yet; one that is no UTF-8, or too long, becomes a failure in its place.

const Answer := preload("agent_answer.gd")
const Errors := preload("agent_errors.gd")

## The longest line that is read, in bytes.
const LONGEST := 1 << 20
const LINE_FEED := 10

var _rest := PackedByteArray()
var _skipping := false

## The lines that `bytes` complete: strings, and failures (dictionaries).
func feed(bytes: PackedByteArray) -> Array:
	var last := bytes.rfind(LINE_FEED)
	if last < 0:
		_rest.append_array(bytes)
		return _cut_short()
	var whole := bytes.slice(0, last + 1)
	if not _rest.is_empty():
		whole = _rest + whole
	_rest = bytes.slice(last + 1)
	if _skipping:
		_skipping = false
		whole = whole.slice(whole.find(LINE_FEED) + 1)
	var lines := _decoded(whole)
	lines.append_array(_cut_short())
	return lines

## Memory stays bounded while a line never ends: it is refused at once, and passed over up to its line feed.
func _cut_short() -> Array:
	if _rest.size() <= LONGEST:
		return []
	_rest.clear()
	if _skipping:
		return []
	_skipping = true
	return [_too_large()]

func _decoded(whole: PackedByteArray) -> Array:
	var text := _quietly(whole)
	# The decoder puts U+FFFD where bytes are no UTF-8, and stops at a NUL; then each line must be looked at by itself.
	if not "\ufffd" in text and whole.find(0) < 0:
		var lines: Array = Array(text.split("\n"))
		lines.pop_back()
		return lines.map(func(line: String) -> Variant: return line if line.length() <= LONGEST else _too_large())
	var out := []
	var at := 0
	while at < whole.size():
		var end := whole.find(LINE_FEED, at)
		out.append(_one(whole.slice(at, end)))
		at = end + 1
	return out

func _one(bytes: PackedByteArray) -> Variant:
	if bytes.size() > LONGEST:
		return _too_large()
	var line := _quietly(bytes)
	if line.to_utf8_buffer() == bytes:
		return line
	return Answer.fail("BAD_JSON", "the line is no UTF-8", "write each command as one line of UTF-8")

## Bad UTF-8 is answered, so it needs no place in the engine's errors as well.
func _quietly(bytes: PackedByteArray) -> String:
	Errors.muted = true
	var printing := Engine.print_error_messages
	Engine.print_error_messages = false
	var text := bytes.get_string_from_utf8()
	Engine.print_error_messages = printing
	Errors.muted = false
	return text

func _too_large() -> Dictionary:
	return Answer.fail("TOO_LARGE", "the line is longer than %d bytes" % LONGEST, "send less in one command")
