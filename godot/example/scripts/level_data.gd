class_name LevelData
extends RefCounted
## A level, read from levels/ID.json: a title, the crystals (at their initial places) and the edges between the places.

const FOLDER := "res://levels"

var id: String
var title: String
## Each {"id": int, "label": String, "color": String, "position": Vector2}; a crystal's id is its index.
var crystals: Array[Dictionary] = []
## Each {"from": int, "to": int, "type": String, "directed": bool}.
var edges: Array[Dictionary] = []


## The ids of all levels, in playing order.
static func all_ids() -> Array[String]:
	var ids: Array[String] = []
	for file in ResourceLoader.list_directory(FOLDER):
		if file.get_extension() == "json":
			ids.append(file.get_basename())
	ids.sort()
	return ids


## Loads the level with an id of all_ids(). A broken file is a defect of the game, and reported as an error.
static func read(level_id: String) -> LevelData:
	var level := LevelData.new()
	level.id = level_id
	var json := JSON.new()
	var path := FOLDER.path_join(level_id + ".json")
	if json.parse(FileAccess.get_file_as_string(path)) != OK:
		push_error("%s:%d: %s" % [path, json.get_error_line(), json.get_error_message()])
		return level
	level.title = json.data["title"]
	for crystal: Dictionary in json.data["crystals"]:
		assert(int(crystal["id"]) == level.crystals.size(), "%s: crystals must be numbered from 0, in order" % path)
		level.crystals.append({
			"id": int(crystal["id"]), "label": crystal["label"], "color": crystal["color"],
			"position": Vector2(crystal["position"][0], crystal["position"][1]),
		})
	for edge: Dictionary in json.data["edges"]:
		level.edges.append({
			"from": int(edge["from"]), "to": int(edge["to"]), "type": edge["type"], "directed": edge["directed"],
		})
	return level
