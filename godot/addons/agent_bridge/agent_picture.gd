@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## screenshot: saves the window, a node or a region as a PNG in the output folder, and compares it with another picture.

const Answer := preload("agent_answer.gd")
const Comparison := preload("agent_comparison.gd")
const Place := preload("agent_place.gd")

var _session: Node

func _init(session: Node) -> void:
	_session = session

func screenshot(args: Dictionary, command: RefCounted) -> Dictionary:
	if DisplayServer.get_name() == "headless":
		return Answer.fail("NO_RENDERER", "the game runs headless, so nothing is drawn", "start godot-bridge with --window (under Xvfb if there is no screen)")
	var target: Variant = _target(args)
	if target is Dictionary:
		return target
	var compared: Variant = _compared(args, target)
	if compared is Dictionary:
		return compared
	var aim: Variant = _aim(args)
	if aim is Dictionary:
		return aim
	var window: Viewport = aim[0]
	var part: Rect2 = aim[1].intersection(window.get_visible_rect())
	if not part.has_area():
		return Answer.fail("NOT_ACTIONABLE", "no part of it is inside the window", "the window is %d x %d, it is at %s" %
			[window.get_visible_rect().size.x, window.get_visible_rect().size.y, aim[1]], {"reason": "offscreen"})
	var picture := await _picture(window, command)
	if command.done:
		return {}
	var area := _pixels(part, window).intersection(Rect2i(Vector2i.ZERO, picture.get_size()))
	picture = picture.get_region(area)
	var problem: Variant = _write(picture, target)
	if problem != null:
		return problem
	var out := {"path": target, "width": area.size.x, "height": area.size.y}
	return out if compared == null else _compare(picture, compared, args, out)

## The file to write, or the failure.
func _target(args: Dictionary) -> Variant:
	if _session.options.output == "":
		return Answer.fail("NO_OUTPUT", "there is no folder for files", "start godot-bridge with --output DIR")
	if not args.has("name"):
		return _next_free()
	var name: String = args["name"]
	if not _is_plain(name):
		return Answer.fail("INVALID_ARGS", "name must be the name of a file in the output folder, not %s" % name, "{\"name\":\"menu.png\"}")
	return _session.options.output.path_join(name if name.get_extension().to_lower() == "png" else name + ".png")

func _next_free() -> String:
	var number := 1
	while FileAccess.file_exists(_session.options.output.path_join("screenshot-%04d.png" % number)):
		number += 1
	return _session.options.output.path_join("screenshot-%04d.png" % number)

func _is_plain(name: String) -> bool:
	return name.is_valid_filename() and not name.begins_with(".")

## The picture to compare with, or the failure; null if none is named.
func _compared(args: Dictionary, target: String) -> Variant:
	var tolerance: float = args.get("tolerance", 0.0)
	if args.has("tolerance") and not args.has("compare") or tolerance < 0 or tolerance > 1:
		return Answer.fail("INVALID_ARGS", "tolerance is a share from 0 to 1 of the pixels, for compare", "{\"compare\":\"menu.png\",\"tolerance\":0.01}")
	if not args.has("compare"):
		return null
	var file := _compared_file(args["compare"])
	if file == "":
		return Answer.fail("INVALID_ARGS", "compare must be a file in the output folder or below res://, not %s" % args["compare"],
			"{\"compare\":\"res://pictures/menu.png\"}")
	if file == target:
		return Answer.fail("INVALID_ARGS", "%s cannot be compared with itself" % file, "give the new picture another name")
	var picture := Comparison.read(file)
	return picture if picture != null else Answer.fail("INVALID_ARGS", "there is no readable PNG %s" % file,
		"take it first: {\"cmd\":\"screenshot\",\"args\":{\"name\":\"%s\"}}" % file.get_file())

func _compared_file(named: String) -> String:
	if named.begins_with("res://"):
		return "" if ".." in named.split("/") else named
	return _session.options.output.path_join(named) if _is_plain(named) else ""

## The window, and the part of it in its coordinates; or the failure.
func _aim(args: Dictionary) -> Variant:
	var root: Window = _session.get_tree().root
	if args.has("path") and args.has("region"):
		return Answer.fail("INVALID_ARGS", "screenshot takes a path or a region, not both", "omit both for the complete window")
	if args.has("region"):
		var numbers: Array = args["region"]
		if numbers.size() != 4 or not numbers.all(func(item: Variant) -> bool: return item is int or item is float) or numbers[2] <= 0 or numbers[3] <= 0:
			return Answer.fail("INVALID_ARGS", "region must be [x, y, width, height]", "in the window's coordinates, as in the field rect")
		return [root, Rect2(numbers[0], numbers[1], numbers[2], numbers[3])]
	if not args.has("path"):
		return [root, root.get_visible_rect()]
	var node: Variant = _session.selector.one(args["path"])
	return node if node is Dictionary else _aim_at(node)

func _aim_at(node: Node) -> Variant:
	if not _session.selector.is_visible(node):
		return Answer.fail("NOT_ACTIONABLE", "%s is hidden, or in something hidden" % node.get_path(), "wait_for its state visible", {"reason": "hidden"})
	var viewport: Viewport = node if node is Window else node.get_viewport()
	var rect: Variant = viewport.get_visible_rect() if node is Window else Place.rect(node)
	if rect == null:
		return Answer.fail("INVALID_ARGS", "%s has no known extent" % node.get_path(), "give a region [x, y, width, height] instead")
	var top := Place.top(viewport)
	return [top[0], top[1] * rect]

## The pixels of a picture of `window` that a part of it covers; their number differs from the part's size if the content is scaled.
func _pixels(part: Rect2, window: Viewport) -> Rect2i:
	var scaled := window.get_final_transform() * part
	var start := scaled.position.floor()
	return Rect2i(start, scaled.end.ceil() - start)

## The picture at the end of this frame, which shows all changes.
func _picture(window: Viewport, command: RefCounted) -> Image:
	var drawn: Array[Image] = []
	var take := func() -> void: drawn.append(window.get_texture().get_image())
	RenderingServer.frame_post_draw.connect(take, CONNECT_ONE_SHOT)
	# In this mode, a frame without changes is not drawn.
	var saves_power := OS.low_processor_usage_mode
	OS.low_processor_usage_mode = false
	while drawn.is_empty() and not command.done:
		await _session.ticked
	OS.low_processor_usage_mode = saves_power
	if drawn.is_empty():
		RenderingServer.frame_post_draw.disconnect(take)
		return null
	drawn[0].convert(Image.FORMAT_RGBA8)
	if window.use_hdr_2d:
		drawn[0].linear_to_srgb()
	return drawn[0]

## Writes the picture; returns null, or the failure.
func _write(picture: Image, file: String) -> Variant:
	var error := picture.save_png(file)
	return null if error == OK else Answer.fail("NO_OUTPUT", "%s cannot be written: %s" % [file, error_string(error)], "check the folder given with --output")

func _compare(picture: Image, other: Image, args: Dictionary, out: Dictionary) -> Dictionary:
	var against := _compared_file(args["compare"])
	if picture.get_size() != other.get_size():
		return Answer.fail("PICTURE_DIFFERS", "the picture is %d x %d, %s is %d x %d" % [picture.get_width(), picture.get_height(), against,
			other.get_width(), other.get_height()], "give the window its earlier size, or take %s again" % against.get_file(),
			out.merged({"compare": against, "compare_width": other.get_width(), "compare_height": other.get_height()}))
	var comparison := Comparison.new(picture, other)
	out["differing"] = comparison.differing
	if comparison.differing <= args.get("tolerance", 0.0):
		return out
	out.merge({"compare": against, "tolerance": args.get("tolerance", 0.0), "diff": out["path"].get_basename() + ".diff.png"})
	var problem: Variant = _write(comparison.marked(), out["diff"])
	return problem if problem != null else Answer.fail("PICTURE_DIFFERS", "%s %% of the pixels differ from %s, more than %s %%" %
		[String.num(comparison.differing * 100, 3), against, String.num(out["tolerance"] * 100, 3)], "details.diff marks them in red", out)
