extends CanvasLayer
## The texts around the level, and its buttons.

@onready var reset_button: Button = $ResetButton
@onready var next_level_button: Button = $NextLevelButton


func show_title(title: String) -> void:
	$TitleLabel.text = title


func show_keys(key_ring: KeyRing) -> void:
	$CounterLabel.text = "Symmetries: %d / %d" % [key_ring.found_count(), key_ring.total()]
	$KeysLabel.text = "Keys: " + ", ".join(key_ring.found()) if key_ring.found_count() > 0 else ""
	next_level_button.disabled = not key_ring.is_complete()


func show_message(message: String) -> void:
	$MessageLabel.text = message
