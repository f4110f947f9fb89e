@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The session's folder: creates it privately, prints its name on stdout, describes the game in game.json, and removes folders of dead games.

const PROTOCOL := "1.0"
const OWN := "user://agent_bridge"
const PRIVATE := 0x1c0 # rwx------

## The folder's path, or empty.
var path := ""

## Uses the named folder, or creates one. False (and an error) if that fails.
func open(named: String) -> bool:
	path = named
	if path == "":
		_clear_the_dead()
		var nonce := Crypto.new().generate_random_bytes(4).hex_encode()
		path = ProjectSettings.globalize_path(OWN).path_join("%d-%s" % [OS.get_process_id(), nonce])
	if not DirAccess.dir_exists_absolute(path):
		var error := DirAccess.make_dir_recursive_absolute(path)
		if error != OK:
			push_error("AgentBridge: cannot create the folder %s: %s" % [path, error_string(error)])
			return false
		FileAccess.set_unix_permissions(path, PRIVATE)
	print("AgentBridge: session ", path)
	return true

## The token that the client has put there, or empty.
func token() -> String:
	var file := path.path_join("token")
	return FileAccess.get_file_as_string(file).strip_edges() if path != "" and FileAccess.file_exists(file) else ""

## Announces the game. Written under another name first, so that no incomplete file is visible.
func announce() -> void:
	var about := {"protocol": PROTOCOL, "pid": OS.get_process_id()}
	if token() != "":
		about["token"] = token()
	var file := FileAccess.open(path.path_join("game.json.new"), FileAccess.WRITE)
	if file == null:
		push_error("AgentBridge: cannot write game.json in %s" % path)
		return
	file.store_line(JSON.stringify(about))
	file.close()
	DirAccess.rename_absolute(path.path_join("game.json.new"), path.path_join("game.json"))

## Removes our folders of games that have ended, only if /proc shows that for certain.
func _clear_the_dead() -> void:
	if not DirAccess.dir_exists_absolute("/proc/self") or not DirAccess.dir_exists_absolute(OWN):
		return
	for folder in DirAccess.get_directories_at(OWN):
		var pid := folder.get_slice("-", 0)
		if not pid.is_valid_int() or DirAccess.dir_exists_absolute("/proc/" + pid):
			continue
		var dead := OWN.path_join(folder)
		for file in DirAccess.get_files_at(dead):
			DirAccess.remove_absolute(dead.path_join(file))
		DirAccess.remove_absolute(dead)
