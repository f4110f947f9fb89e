@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends Node
## One session: takes commands from the transport, carries them out one after another, and answers.
##
## A frame goes like this, after all other nodes have had theirs: a command that waited goes on; new ones are carried out as long as there are
## any and the time allows; the answers are flushed. So a command sees a settled tree, and what it caused has happened when the next frame ends.

const Aim := preload("agent_aim.gd")
const Answer := preload("agent_answer.gd")
const Command := preload("agent_command.gd")
const Commands := preload("agent_commands.gd")
const Devices := preload("agent_devices.gd")
const Events := preload("agent_events.gd")
const Files := preload("agent_files.gd")
const Folder := preload("agent_folder.gd")
const Hook := preload("agent_hook.gd")
const Options := preload("agent_options.gd")
const Owner := preload("agent_owner.gd")
const Pause := preload("agent_time.gd")
const Reach := preload("agent_reach.gd")
const Selector := preload("agent_selector.gd")
const Socket := preload("agent_socket.gd")
const Sleep := preload("agent_sleep.gd")
const Walk := preload("agent_tree.gd")
const Values := preload("agent_values.gd")
const Wait := preload("agent_wait.gd")

## So long commands are carried out in one frame, in microseconds; then the game has its turn.
const TURN := 8000
## A longer answer is refused, in characters.
const LONGEST_ANSWER := 16 << 20
## So long, in milliseconds, nothing but the transport is looked at while no command comes.
const QUIET := 500
## In lockstep commands are looked for so often, in microseconds: for so long after the last one, and later.
const QUICK_WAIT := 30
const QUICK_FOR := 250_000
const SLOW_WAIT := 5_000
## A game that has no current scene by then is talked to without one.
const FRAMES_WITHOUT_SCENE := 60

## Once a frame, after every other node's _process: what commands wait for.
signal ticked

## Set by the autoload before it adds this node.
var options: Options
var transport: RefCounted
var folder := Folder.new()
var events := Events.new()
var tree: Walk
var selector: Selector
var hook: Hook
var time: Pause
var devices: Devices
var reach: Reach
var aim: Aim
var wait: Wait
var commands: Commands
var sleep := Sleep.new()
## Set by hello: events come in lines of their own.
var stream := false

var _owner: Owner
var _queue: Array = []
var _running: Command = null
var _frames := 0
var _ready_to_talk := false
var _scene_id := 0
var _quiet_until := 0
## It takes no more commands.
var _has_left := false
var _ticks := 0
var _delta := 0.0

func _enter_tree() -> void:
	# Runs while the game is paused, and after everybody else.
	process_mode = PROCESS_MODE_ALWAYS
	process_priority = 0x7fffffff
	tree = Walk.new(get_parent())
	selector = Selector.new(get_tree().root, tree)
	hook = Hook.new(get_tree().root, tree, events)
	time = Pause.new(self)
	devices = Devices.new(self)
	reach = Reach.new(self)
	aim = Aim.new(self)
	wait = Wait.new(self)
	events.errors.in_lockstep = options.lockstep
	commands = Commands.new(self)
	if not _open():
		_leave(1)
		return
	_give_the_window_a_size()
	get_tree().node_added.connect(_node_added)
	for node in tree.all(get_tree().root):
		_node_added(node)

func _exit_tree() -> void:
	if transport != null:
		transport.close()
	events.close()
	sleep.restore()

## Waits for so many frames: drawn ones, and physics ticks as well, so that they last no shorter while the bridge makes the game's loop quick.
## No longer than `command` has time.
func frames(count: int, command: Command) -> void:
	var drawn := Engine.get_process_frames() + count
	var ticks := Engine.get_physics_frames() + count
	while not command.done and (Engine.get_process_frames() < drawn or Engine.get_physics_frames() < ticks):
		await ticked

func _open() -> bool:
	if options.owner > 0:
		_owner = Owner.new(options.owner)
	var address := options.address
	if (options.folder != "" or address == "") and not folder.open(options.folder):
		return false
	if address == "":
		transport = Files.new(folder.path)
	else:
		var greeting := {"hello": "agent_bridge", "protocol": Folder.PROTOCOL}
		if folder.token() != "":
			greeting["token"] = folder.token()
		transport = Socket.new(address, JSON.stringify(greeting, "", false))
	if not transport.open():
		return false
	if folder.path != "":
		folder.announce()
	return true

## The headless root window is 64x64: layouts would be wrong, and clicks outside are silently lost.
func _give_the_window_a_size() -> void:
	if DisplayServer.get_name() == "headless":
		get_window().size = Vector2i(ProjectSettings.get_setting("display/window/size/viewport_width"),
			ProjectSettings.get_setting("display/window/size/viewport_height"))

func _node_added(node: Node) -> void:
	hook.notice(node)
	events.watch_by_default(node, get_tree().current_scene)
	if node.get_parent() == get_tree().root:
		# Perhaps another scene, which is watched from its first frame on, also while nobody talks.
		_quiet_until = 0

func _process(delta: float) -> void:
	if _has_left:
		return
	# Nearly all frames of a game that nobody talks to end here.
	if _quiet_until > Time.get_ticks_msec() and not transport.has_news():
		return
	_frames += 1
	events.errors.collect()
	_watch_scene()
	var lines: Array = transport.poll()
	if not lines.is_empty():
		_queue.append_array(lines)
		sleep.hurry()
	sleep.tick()
	if options.lockstep:
		_check_lockstep(delta)
		devices.frame_passed()
	elif not devices.is_settled() and not time.is_paused() and Engine.get_physics_frames() != _ticks:
		# Pressed in a pause that is over.
		_ticks = Engine.get_physics_frames()
		devices.frame_passed()
	# Also for what has run out of time, and must still let go of a key.
	ticked.emit()
	if _running != null and Time.get_ticks_msec() > _running.deadline:
		_answer(_running, _timed_out(_running))
	if _ready_to_talk:
		_work()
		if options.lockstep:
			_wait_for_commands()
	if stream and _running == null and not events.is_empty():
		transport.write("{\"events\":[%s],\"frame\":%d}" % [",".join(events.take()), Engine.get_process_frames()])
	transport.flush()
	if not transport.connected:
		_lost()
	elif _owner != null and _owner.is_gone():
		get_tree().quit()
	var is_quiet := devices.is_settled() and _ready_to_talk and _running == null and _queue.is_empty() and not sleep.quick and not stream and not ticked.has_connections()
	_quiet_until = Time.get_ticks_msec() + QUIET if is_quiet else 0

## Commands, one after another, until one has to wait, there are no more, or the game must have its turn.
func _work() -> void:
	var until := Time.get_ticks_usec() + TURN
	var at := 0
	while _running == null and not _has_left and Time.get_ticks_usec() < until:
		if at == _queue.size():
			_queue.clear()
			at = 0
			transport.flush()
			_queue.append_array(transport.poll())
			if _queue.is_empty():
				break
		_begin(Command.new(_queue[at], get_tree()))
		at += 1
	_queue = _queue.slice(at)

## Without --fixed-fps a frame lasts as long as the wait before it.
func _check_lockstep(delta: float) -> void:
	if _frames == 2:
		_delta = delta
	elif _frames == 3 and not is_equal_approx(delta, _delta):
		push_warning("AgentBridge: in lockstep the engine needs --fixed-fps N, or frames differ in length")

## The game has its next frame when a command needs one: until then the engine's loop waits here.
func _wait_for_commands() -> void:
	var since := Time.get_ticks_usec()
	while _running == null and not _has_left and transport.connected and not (_owner != null and _owner.is_gone()):
		transport.flush()
		_queue.append_array(transport.poll())
		if _queue.is_empty():
			# Short at first, since an answer is mostly followed by the next command; long enough later to cost nothing.
			OS.delay_usec(QUICK_WAIT if Time.get_ticks_usec() - since < QUICK_FOR else SLOW_WAIT)
		else:
			since = Time.get_ticks_usec()
			_work()

func _begin(command: Command) -> void:
	_running = command
	sleep.hurry()
	command.events_before = events.seq
	events.errors.begin_command()
	command.begin()
	if command.failure != null:
		_answer(command, command.failure)
	else:
		_carry_out(command)

func _carry_out(command: Command) -> void:
	var answer: Variant = await commands.carry_out(command)
	if command.done:
		return
	if commands.acts(command.name):
		# What it has caused may be deferred to the end of this frame, or to the next.
		await ticked
		if command.done:
			return
	_answer(command, answer)

func _answer(command: Command, answer: Dictionary) -> void:
	command.done = true
	_running = null
	sleep.hurry()
	events.errors.end_command()
	var id := "null" if command.id == null else str(command.id)
	var body := _body(id, answer)
	if body == "":
		# A script has failed over what the game gave; whoever asked is answered nonetheless.
		body = _body(id, Answer.fail("GAME_ERROR", "the answer can't be told: %s" % events.errors.last_script_error))
	if body.length() > LONGEST_ANSWER:
		body = _body(id, Answer.fail("TOO_LARGE", "the answer has %d characters" % body.length(), "ask for less: root, depth, max_nodes, fields"))
	var dropped := events.take_dropped()
	transport.write("%s,\"events\":[%s]%s,\"frame\":%d}" % [body, ",".join(events.take(command.events_before)),
		",\"dropped\":%d" % dropped if dropped > 0 else "", Engine.get_process_frames()])
	if command.name == "quit" and not Answer.is_failure(answer):
		_leave(answer["code"])

func _body(id: String, answer: Dictionary) -> String:
	if not Answer.is_failure(answer):
		# What looks makes text of all it has, and puts it under an empty name.
		var data: Variant = answer.get("")
		return "{\"ok\":true,\"id\":" + id + ",\"data\":" + (data.text if data is Values.Raw else Values.text(answer))
	var body := "{\"ok\":false,\"id\":%s,\"error\":%s,\"code\":%s" % [id, Values.quote(str(answer["error"])), Values.quote(str(answer["code"]))]
	# A hook's own failure may hold anything.
	var hint := str(answer.get("hint", ""))
	if hint != "":
		body += ",\"hint\":" + Values.quote(hint)
	var details: Variant = answer.get("details")
	if typeof(details) != TYPE_NIL and not (typeof(details) == TYPE_DICTIONARY and details.is_empty()):
		body += ",\"details\":" + Values.text(details)
	return body

func _timed_out(command: Command) -> Dictionary:
	commands.abandon(command)
	# Whatever waits for it lets go of what it holds: a key, a listener.
	ticked.emit()
	if command.overdue.is_valid():
		return command.overdue.call()
	return Answer.fail("TIMEOUT", "%s took longer than %s s" % [command.name, command.timeout],
		"give the command a longer \"timeout\" (seconds), or look at get_tree for what keeps it", {"timeout": command.timeout})

## Nothing is answered before the main scene has had a whole frame; a scene that comes later is watched like the first.
func _watch_scene() -> void:
	var scene := get_tree().current_scene
	if not _ready_to_talk:
		var is_there := scene != null and scene.is_node_ready() and _frames >= 2
		_ready_to_talk = is_there or _frames >= FRAMES_WITHOUT_SCENE
	if scene != null and scene.get_instance_id() != _scene_id:
		_scene_id = scene.get_instance_id()
		events.watch_by_default(scene, scene)

## The client is gone. A game that was started for it ends; another goes on as if nothing had been.
func _lost() -> void:
	if not transport.greeted:
		push_error("AgentBridge: nobody answers where --agent-connect says")
	if _owner != null:
		get_tree().quit()
	get_tree().node_added.disconnect(_node_added)
	set_process(false)
	time.resume({})
	devices.release_all()
	sleep.restore()

func _leave(code: int) -> void:
	_has_left = true
	set_process(false)
	if transport != null:
		transport.close()
	get_tree().quit(code)
