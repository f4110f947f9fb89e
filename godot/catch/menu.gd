extends Control
## The menu. The game accepts one option of its own, --fast, and exits on any other.

const Settings: GDScript = preload("settings.gd")

@onready var difficulty: OptionButton = $Difficulty
@onready var player: LineEdit = $Player
@onready var volume: HSlider = $Volume
@onready var help: PopupMenu = $Bar/Help
@onready var rules: AcceptDialog = $Rules
@onready var quit: ConfirmationDialog = $Quit

func _ready() -> void:
	for option: String in OS.get_cmdline_user_args():
		if option == "--fast":
			difficulty.select(2)
			Settings.set("difficulty", "Hard")
		else:
			printerr("unknown option ", option)
			get_tree().quit(2)

func _on_difficulty_item_selected(index: int) -> void:
	Settings.set("difficulty", difficulty.get_item_text(index))

func _on_player_text_changed(text: String) -> void:
	Settings.set("player", text)

func _on_volume_value_changed(value: float) -> void:
	Settings.set("volume", value)

func _on_help_id_pressed(id: int) -> void:
	if id == 0:
		rules.popup_centered()

func _on_start_pressed() -> void:
	if get_tree().change_scene_to_file("res://game.tscn") != OK:
		push_error("the game's scene cannot be loaded")

func _on_leave_pressed() -> void:
	quit.popup_centered()

func _on_quit_confirmed() -> void:
	get_tree().quit()
