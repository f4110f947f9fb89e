class_name EdgeRenderer
extends Node2D
## An edge between two places. It does not move with the crystals.

const STYLES := {
	"standard": {"color": Color(0.62, 0.68, 0.78), "width": 5.0},
	"golden": {"color": Color(0.93, 0.74, 0.25), "width": 9.0},
}
const ARROW_LENGTH := 24.0
const GAP := CrystalNode.RADIUS + 10

var from_node_id: int
var to_node_id: int
var edge_type: String
var directed: bool
## The end of the edge, relative to its beginning, which is this node's position.
var _reach: Vector2


func setup(edge: Dictionary, begin: Vector2, end: Vector2) -> void:
	from_node_id = edge["from"]
	to_node_id = edge["to"]
	edge_type = edge["type"]
	directed = edge["directed"]
	position = begin
	_reach = end - begin
	name = "Edge_%d_%d" % [from_node_id, to_node_id]


func agent_fields() -> Dictionary:
	return {"from": from_node_id, "to": to_node_id, "edge_type": edge_type, "directed": directed}


func _draw() -> void:
	var style: Dictionary = STYLES.get(edge_type, STYLES["standard"])
	var direction := _reach.normalized()
	var tip := _reach - direction * GAP
	var line_end := tip - direction * ARROW_LENGTH if directed else tip
	draw_line(direction * GAP, line_end, style["color"], style["width"], true)
	if directed:
		var side := direction.orthogonal() * ARROW_LENGTH * 0.55
		draw_colored_polygon(PackedVector2Array([tip, line_end + side, line_end - side]), style["color"])
