class_name LevelData
extends RefCounted
## A level as its file describes it: levels/ID.json, with a title, the crystals (where they stand at first) and the edges between their places.

const FOLDER := "res://levels"

var id: String
var title: String
## Each {"id": int, "label": String, "color": String, "position": Vector2}; a crystal's id is its index.
var crystals: Array[Dictionary] = []
## Each {"from": int, "to": int, "type": String, "directed": bool}.
var edges: Array[Dictionary] = []


## The ids of all levels, in the order in which they are played.
static func all_ids() -> Array[String]:
	var ids: Array[String] = []
	for file in ResourceLoader.list_directory(FOLDER):
		if file.get_extension() == "json":
			ids.append(file.get_basename())
	ids.sort()
	return ids


## The level of an id that all_ids() gives. A file that is broken is a fault of the game, and is told as one.
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
