extends Node
## The current level and the completed levels. An autoload, because it outlives the level's scene.

const LEVEL_SCENE := "res://scenes/level_scene.tscn"

var level_ids: Array[String] = LevelData.all_ids()
var current_level_id: String = level_ids[0]
var completed_levels: Array[String] = []


## Changes to the level, and returns when its scene is loaded.
func load_level(level_id: String) -> void:
	current_level_id = level_id
	get_tree().change_scene_to_file(LEVEL_SCENE)
	await get_tree().scene_changed


## The next level; after the last one, the first.
func load_next_level() -> void:
	load_level(level_ids[(level_ids.find(current_level_id) + 1) % level_ids.size()])


func mark_completed(level_id: String) -> void:
	if level_id not in completed_levels:
		completed_levels.append(level_id)


func agent_commands() -> Dictionary:
	return {
		"load_level": {"args": {"level_id": "String"}, "about": "Starts a level from its beginning"},
		"list_levels": {"args": {}, "about": "All levels, and which are completed"},
	}


func agent_command(command: String, args: Dictionary) -> Variant:
	if command == "list_levels":
		return {"levels": level_ids.map(_describe)}
	var level_id: Variant = args.get("level_id")
	if level_id is not String:
		return {"error": "level_id must be a string", "code": "INVALID_ARGS"}
	if level_id not in level_ids:
		return {"error": "Level %s not found" % level_id, "code": "INVALID_ID", "hint": "list_levels names them all"}
	await load_level(level_id)
	return {"level": level_id, "loaded": true}


func agent_actions() -> Array:
	return level_ids.map(func(level_id: String) -> Dictionary: return {"cmd": "load_level", "args": {"level_id": level_id}})


func _describe(level_id: String) -> Dictionary:
	return {
		"id": level_id, "title": LevelData.read(level_id).title,
		"current": level_id == current_level_id, "completed": level_id in completed_levels,
	}
