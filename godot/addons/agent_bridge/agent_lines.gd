@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Splits bytes into lines. A line counts only with its line feed; a line that is not UTF-8, or too long, becomes a failure in its place.

const Answer := preload("agent_answer.gd")
const Errors := preload("agent_errors.gd")

## The longest accepted line, in bytes.
const LONGEST := 1 << 20
const LINE_FEED := 10

var _rest := PackedByteArray()
var _skipping := false

## The lines that are complete after `bytes`: strings, and failures (dictionaries).
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

## Limits memory for a line that never ends: it is refused at once, and skipped up to its line feed.
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
	# The decoder puts U+FFFD in place of invalid bytes, and stops at a NUL; in both cases each line has to be checked separately.
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
	return Answer.fail("BAD_JSON", "the line is not UTF-8", "write each command as one line of UTF-8")

## Invalid UTF-8 is reported in an answer, so the engine's own error is suppressed.
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
