@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast")
extends RefCounted
## Compares two pictures of the same size pixel by pixel.

const Errors := preload("agent_errors.gd")

## The tolerance of a colour channel (0 to 255): such differences are invisible, and drivers round differently.
const NOISE := 8
const BYTES := 4

## The share of the pixels that differ.
var differing := 0.0

var _picture: Image
## The positions of the pixels that differ.
var _pixels := PackedVector2Array()

func _init(picture: Image, other: Image) -> void:
	_picture = picture
	var row := picture.get_width() * BYTES
	var ours := picture.get_data()
	var theirs := other.get_data()
	for y in picture.get_height():
		var a := ours.slice(y * row, (y + 1) * row)
		var b := theirs.slice(y * row, (y + 1) * row)
		# A loop over each pixel takes a hundred times as long.
		if a != b:
			_compare_row(a, b, y)
	differing = float(_pixels.size()) / (picture.get_width() * picture.get_height())

func _compare_row(a: PackedByteArray, b: PackedByteArray, y: int) -> void:
	for x in _picture.get_width():
		var i := x * BYTES
		if a.decode_u32(i) != b.decode_u32(i) and (absi(a[i] - b[i]) > NOISE or absi(a[i + 1] - b[i + 1]) > NOISE or
				absi(a[i + 2] - b[i + 2]) > NOISE or absi(a[i + 3] - b[i + 3]) > NOISE):
			_pixels.append(Vector2(x, y))

## The darkened picture, with the differing pixels in red.
func marked() -> Image:
	var dark: Image = _picture.duplicate()
	dark.adjust_bcs(0.3, 1.0, 0.0)
	for pixel in _pixels:
		dark.set_pixelv(Vector2i(pixel), Color.RED)
	return dark

## Reads a PNG as a picture with four bytes per pixel; null if that fails.
static func read(file: String) -> Image:
	if not FileAccess.file_exists(file):
		return null
	var picture := Image.new()
	# The engine would report bad bytes as its own error.
	Errors.muted = true
	var error := picture.load_png_from_buffer(FileAccess.get_file_as_bytes(file))
	Errors.muted = false
	if error != OK:
		return null
	picture.convert(Image.FORMAT_RGBA8)
	return picture
