@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Reasons why a player cannot use a node: it is disabled, hidden, paused, behind a dialog, out of sight or covered.

const Answer := preload("agent_answer.gd")

var _session: Node

func _init(session: Node) -> void:
	_session = session

## Null if a control can be used; otherwise the failure: it is disabled, hidden, paused or behind a modal window.
func problem(control: Control) -> Variant:
	if control is BaseButton and control.disabled:
		return refusal(control, "disabled", "is disabled", "wait_for its state enabled, or see list_actions for what can be done now")
	if not _session.selector.is_visible(control):
		return refusal(control, "hidden", "is hidden, or in something hidden", "wait_for its state visible, or open what it is in")
	if not control.can_process():
		return refusal(control, "paused", "is paused or disabled (process_mode)", "resume, or step; or do what makes the game enable it")
	var modal: Variant = modal_over(control)
	return null if modal == null else covered(control, modal)

## The open window that blocks input for a node's own window, or null.
func modal_over(node: Node, open := modals()) -> Variant:
	var own := node.get_window()
	var root: Window = _session.get_tree().root
	for window in open:
		if window != own and not window.is_ancestor_of(node) and (window.get_parent().get_viewport() == own or own == root):
			return window
	return null

## The open windows that block input for others.
func modals() -> Array:
	return _session.get_tree().root.find_children("*", "Window", true, false).filter(func(window: Window) -> bool:
		return window.visible and window.exclusive and window.transient)

## Whether a node other than a button handles clicks: a control, or a physics object that can be picked.
func takes_clicks(node: Node) -> bool:
	if node is Control:
		return node.mouse_filter != Control.MOUSE_FILTER_IGNORE and _is_listened(node, "gui_input", "_gui_input")
	return is_pickable(node) and _is_listened(node, "input_event", "_input_event")

## Whether a click picks a physics object.
func is_pickable(node: Node) -> bool:
	var picks: bool = node is CollisionObject2D and node.input_pickable or node is CollisionObject3D and node.input_ray_pickable
	return picks and node.get_viewport().physics_object_picking

func _is_listened(node: Node, signal_name: String, method: String) -> bool:
	# The engine's own controls are connected to themselves.
	return node.get_script() != null and node.has_method(method) or node.get_signal_connection_list(signal_name).any(
		func(connection: Dictionary) -> bool:
			var listener: Object = connection["callable"].get_object()
			return listener != null and listener.get_script() != null and not _session.events.is_ours(connection["callable"]))

## Whether data can be dragged from a control, or dropped on it, by its script.
func is_draggable(node: Node) -> bool:
	return node is Control and node.get_script() != null and node.has_method("_get_drag_data")

func is_drop_target(node: Node) -> bool:
	return node is Control and node.get_script() != null and node.has_method("_drop_data")

## The failure for a node that a player cannot use. `reason` is one of those in the README; `text` follows the node's path.
func refusal(node: Node, reason: String, text: String, hint: String) -> Dictionary:
	return Answer.fail("NOT_ACTIONABLE", "%s %s" % [node.get_path(), text], hint, {"reason": reason})

## The failure for a covered node; `by` is null if the covering node has no path.
func covered(node: Node, by: Node) -> Dictionary:
	var is_ignoring: bool = by == null or by.is_ancestor_of(node)
	var failure := refusal(node, "covered_by", "is covered by %s" % (by.get_path() if by != null else &"something without a path"),
		"its mouse_filter may be IGNORE, so that no player can press it" if is_ignoring else "close or move what covers it")
	failure["details"]["covered_by"] = String(by.get_path()) if by != null else null
	return failure

## The node that receives input at a point of a viewport: an embedded window, or the control under the pointer.
func cover_at(top: Viewport, point: Vector2, hovered: Control) -> Node:
	var windows := top.get_embedded_subwindows()
	windows.reverse()
	for window in windows:
		# Includes its title bar.
		if Rect2(window.get_position_with_decorations(), window.get_size_with_decorations()).has_point(point):
			return window
	return hovered if hovered != null else top.gui_get_hovered_control()
