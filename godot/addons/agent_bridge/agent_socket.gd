@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The transport over a socket that the game connects to: `tcp:HOST:PORT` or `unix:PATH`. The game does not listen, so no other process can connect.

const Lines := preload("agent_lines.gd")

const CHUNK := 1 << 20
## How long closing may take, in ms.
const FAREWELL := 200

## False after the other side has disconnected.
var connected := true
var name: String
## True after the connection was established.
var greeted := false

var _peer: StreamPeerSocket
var _address: String
var _greeting: String
var _lines := Lines.new()
var _waiting := PackedByteArray()

## `greeting` is the first line to write.
func _init(address: String, greeting: String) -> void:
	_address = address
	_greeting = greeting
	name = "unix" if address.begins_with("unix:") else "tcp"

## Starts to connect. False (and an error) for an invalid address.
func open() -> bool:
	var error := ERR_INVALID_PARAMETER
	var rest := _address.trim_prefix(name + ":")
	if name == "unix":
		var unix := StreamPeerUDS.new()
		_peer = unix
		error = unix.connect_to_host(rest)
	elif _address.begins_with("tcp:") and rest.get_slice(":", rest.get_slice_count(":") - 1).is_valid_int():
		var colon := rest.rfind(":")
		var tcp := StreamPeerTCP.new()
		_peer = tcp
		error = tcp.connect_to_host(rest.left(colon).trim_prefix("[").trim_suffix("]"), int(rest.substr(colon + 1)))
	if error != OK:
		push_error("AgentBridge: cannot connect to %s: %s" % [_address, error_string(error)])
	return error == OK

## Whether poll() would have something to do.
func has_news() -> bool:
	_peer.poll()
	return _peer.get_status() != StreamPeerSocket.STATUS_CONNECTED or _peer.get_available_bytes() > 0 or not _waiting.is_empty()

## The new lines (strings) and failures (dictionaries).
func poll() -> Array:
	_peer.poll()
	var status := _peer.get_status()
	if status == StreamPeerSocket.STATUS_CONNECTING:
		return []
	if status != StreamPeerSocket.STATUS_CONNECTED:
		connected = false
		return []
	if not greeted:
		_greet()
	if not _waiting.is_empty():
		_send()
	var there := _peer.get_available_bytes()
	if there <= 0:
		return []
	var got := _peer.get_partial_data(mini(there, CHUNK))
	return _lines.feed(got[1]) if got[0] == OK else []

func write(line: String) -> void:
	_waiting.append_array((line + "\n").to_utf8_buffer())

## Sends as much as possible without blocking; the rest is sent with the next poll.
func flush() -> void:
	if greeted and connected and not _waiting.is_empty():
		_send()

func close() -> void:
	var until := Time.get_ticks_msec() + FAREWELL
	flush()
	while connected and not _waiting.is_empty() and Time.get_ticks_msec() < until:
		OS.delay_msec(1)
		poll()

func _greet() -> void:
	greeted = true
	if _peer is StreamPeerTCP:
		# Without this, each answer waits for the acknowledgement of the one before.
		_peer.set_no_delay(true)
	_waiting = (_greeting + "\n").to_utf8_buffer() + _waiting

func _send() -> void:
	var sent := _peer.put_partial_data(_waiting)
	if sent[0] != OK:
		connected = false
		return
	_waiting = _waiting.slice(sent[1])
