@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Positions on the screen: converts a node's own coordinates to those of the topmost viewport, through sub-viewports and embedded windows.

## The viewport that receives the input for nodes in `viewport`, and the transform from the coordinates of `viewport` to its own.
static func top(viewport: Viewport) -> Array:
	var transform := Transform2D.IDENTITY
	while true:
		var parent := viewport.get_parent()
		if viewport is Window and viewport.is_embedded():
			transform = Transform2D(0.0, viewport.position) * viewport.get_final_transform() * transform
			viewport = embedder(viewport)
		elif viewport is SubViewport and parent is SubViewportContainer:
			var scale: Vector2 = Vector2.ONE * (parent.stretch_shrink if parent.stretch else 1)
			transform = parent.get_global_transform_with_canvas() * Transform2D(0.0, scale, 0.0, Vector2.ZERO) * transform
			viewport = parent.get_viewport()
		else:
			return [viewport, transform]
	return []

## The viewport that shows an embedded window.
static func embedder(window: Window) -> Viewport:
	var viewport: Viewport = window.get_parent().get_viewport()
	while viewport.get_parent() != null and not viewport.gui_embed_subwindows:
		viewport = viewport.get_parent().get_viewport()
	return viewport

## The rectangle that a node covers in its viewport; null if it has no extent.
static func rect(node: Node) -> Variant:
	if node is Control:
		return node.get_global_transform_with_canvas() * Rect2(Vector2.ZERO, node.size)
	if node is CanvasItem and node.has_method("get_rect"):
		var own: Variant = node.get_rect()
		return node.get_global_transform_with_canvas() * own if own is Rect2 else null
	return null

## The same in the window's coordinates; also for an embedded window.
static func rect_in_window(node: Node) -> Variant:
	if node is Window and node.visible and node.is_embedded():
		return top(embedder(node))[1] * Rect2(node.position, node.size)
	var own: Variant = rect(node)
	var viewport := node.get_viewport()
	return own if own == null or viewport == node.get_tree().root else top(viewport)[1] * own

## The visible part of a control: inside its viewport, and inside every ancestor that clips. Has no area if nothing is visible.
static func visible_part(control: CanvasItem) -> Rect2:
	var part: Rect2 = rect(control)
	part = part.intersection(control.get_viewport().get_visible_rect())
	var parent := control.get_parent()
	while parent is CanvasItem and part.has_area():
		if parent is Control and parent.clip_contents:
			part = part.intersection(rect(parent))
		parent = parent.get_parent()
	return part
