@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends Node
## One session: takes commands from the transport, executes them one after another, and answers.
##
## In each frame, after all other nodes: a waiting command continues; new commands are executed while there are any and time is left; then the
## answers are flushed. So a command works on a settled tree, and its effects have happened by the end of the next frame.

const Aim := preload("agent_aim.gd")
const Answer := preload("agent_answer.gd")
const Command := preload("agent_command.gd")
const Commands := preload("agent_commands.gd")
const Devices := preload("agent_devices.gd")
const Events := preload("agent_events.gd")
const Files := preload("agent_files.gd")
const Folder := preload("agent_folder.gd")
const Hook := preload("agent_hook.gd")
const Owner := preload("agent_owner.gd")
const Pause := preload("agent_time.gd")
const Reach := preload("agent_reach.gd")
const Selector := preload("agent_selector.gd")
const Socket := preload("agent_socket.gd")
const Sleep := preload("agent_sleep.gd")
const Walk := preload("agent_tree.gd")
const Values := preload("agent_values.gd")
const Wait := preload("agent_wait.gd")

## The time for commands in one frame, in microseconds; after that, the game continues.
const TURN := 8000
## The longest answer, in characters; a longer one is refused.
const LONGEST_ANSWER := 16 << 20
## The interval, in milliseconds, at which more than the transport is checked while no command comes.
const QUIET := 500
## In lockstep, the polling intervals in microseconds: for this long after the last command, and later.
const QUICK_WAIT := 30
const QUICK_FOR := 250_000
const SLOW_WAIT := 5_000
## In lockstep, the interval in milliseconds at which a client that waits for an answer is told that frames pass.
const SIGN_OF_LIFE := 500
## The number of frames after which commands are answered even without a current scene.
const FRAMES_WITHOUT_SCENE := 60

## Emitted once per frame, after every other node's _process; commands wait for it.
signal ticked

## Set by the autoload before it adds this node.
var options: RefCounted
var transport: RefCounted
var folder := Folder.new()
var events := Events.new()
var tree: RefCounted
var selector: RefCounted
var hook: RefCounted
var time: RefCounted
var devices: RefCounted
var reach: RefCounted
var aim: RefCounted
var wait: RefCounted
var commands: RefCounted
var sleep := Sleep.new()
## Set by hello: events are sent in separate lines.
var stream := false

var _owner: RefCounted
var _queue: Array = []
var _running: RefCounted = null
var _frames := 0
var _ready_to_talk := false
var _scene_id := 0
var _quiet_until := 0
## Whether it takes no more commands.
var _has_left := false
var _ticks := 0
var _sign_at := 0
var _delta := 0.0

func _enter_tree() -> void:
	# Also runs while the game is paused, and after all other nodes.
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

## Waits for a number of frames: drawn ones, and also physics ticks, so that they do not get shorter while the bridge makes the game's loop
## faster. Ends when the time of `command` is up.
func frames(count: int, command: RefCounted) -> void:
	var drawn := Engine.get_process_frames() + count
	var ticks := Engine.get_physics_frames() + count
	while not command.done and (Engine.get_process_frames() < drawn or Engine.get_physics_frames() < ticks):
		await ticked

## Restarts the time of the current command.
func restart_time() -> void:
	if _running != null:
		_running.begin()

func _open() -> bool:
	if options.owner > 0:
		_owner = Owner.new(options.owner)
	var address: String = options.address
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

## The headless root window is 64x64: layouts would be wrong, and clicks outside would be silently lost.
func _give_the_window_a_size() -> void:
	if DisplayServer.get_name() == "headless":
		get_window().size = Vector2i(ProjectSettings.get_setting("display/window/size/viewport_width"),
			ProjectSettings.get_setting("display/window/size/viewport_height"))

func _node_added(node: Node) -> void:
	hook.notice(node)
	events.watch_by_default(node, get_tree().current_scene)
	if node.get_parent() == get_tree().root:
		# Possibly another scene, which is watched from its first frame on, even if no command comes.
		_quiet_until = 0

func _process(delta: float) -> void:
	if _has_left:
		return
	# Nearly all frames of an idle game end here.
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
		# Pressed during a pause that has ended.
		_ticks = Engine.get_physics_frames()
		devices.frame_passed()
	# Also for a command whose time is up but which must still release a key.
	ticked.emit()
	if _running != null and _running.is_overdue():
		_answer(_running, _timed_out(_running))
	if _ready_to_talk:
		_work()
		if options.lockstep:
			_wait_for_commands()
	if options.lockstep and _running != null and Time.get_ticks_msec() >= _sign_at:
		_sign_at = Time.get_ticks_msec() + SIGN_OF_LIFE
		transport.write("{\"events\":[],\"frame\":%d}" % Engine.get_process_frames())
	if stream and _running == null and not events.is_empty():
		transport.write("{\"events\":[%s],\"frame\":%d}" % [",".join(events.take()), Engine.get_process_frames()])
	transport.flush()
	if not transport.connected:
		_lost()
	elif _owner != null and _owner.is_gone():
		get_tree().quit()
	var is_quiet: bool = devices.is_settled() and _ready_to_talk and _running == null and _queue.is_empty() and not sleep.quick and not stream and not ticked.has_connections()
	_quiet_until = Time.get_ticks_msec() + QUIET if is_quiet else 0

## Executes commands, until one has to wait, there are no more, or the game has to continue.
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

## Without --fixed-fps, the delta of a frame would be the wait before it.
func _check_lockstep(delta: float) -> void:
	if _frames == 2:
		_delta = delta
	elif _frames == 3 and not is_equal_approx(delta, _delta):
		push_warning("AgentBridge: in lockstep the engine needs --fixed-fps N, or frames differ in length")

## Blocks the engine's loop until a command needs the next frame.
func _wait_for_commands() -> void:
	var since := Time.get_ticks_usec()
	while _running == null and not _has_left and transport.connected and not (_owner != null and _owner.is_gone()):
		transport.flush()
		_queue.append_array(transport.poll())
		if _queue.is_empty():
			# Short at first, since the next command usually follows an answer; long later, to cost no CPU time.
			OS.delay_usec(QUICK_WAIT if Time.get_ticks_usec() - since < QUICK_FOR else SLOW_WAIT)
		else:
			since = Time.get_ticks_usec()
			_work()

func _begin(command: RefCounted) -> void:
	_running = command
	sleep.hurry()
	command.events_before = events.seq
	events.errors.begin_command()
	command.in_ticks = options.lockstep
	command.begin()
	_sign_at = Time.get_ticks_msec() + SIGN_OF_LIFE
	if command.failure != null:
		_answer(command, command.failure)
	else:
		_carry_out(command)

func _carry_out(command: RefCounted) -> void:
	var answer: Variant = await commands.carry_out(command)
	if command.done:
		return
	if commands.acts(command.name):
		# Its effects may be deferred to the end of this frame, or to the next.
		await ticked
		if command.done:
			return
	_answer(command, answer)

func _answer(command: RefCounted, answer: Dictionary) -> void:
	command.done = true
	_running = null
	sleep.hurry()
	events.errors.end_command()
	var id := "null" if command.id == null else str(command.id)
	var body := _body(id, answer)
	if body == "":
		# A script failed on the data of the game; the client still gets an answer.
		body = _body(id, Answer.fail("GAME_ERROR", "the answer cannot be converted to text: %s" % events.errors.last_script_error))
	if body.length() > LONGEST_ANSWER:
		body = _body(id, Answer.fail("TOO_LARGE", "the answer has %d characters" % body.length(), "ask for less: root, depth, max_nodes, fields"))
	var dropped := events.take_dropped()
	transport.write("%s,\"events\":[%s]%s,\"frame\":%d}" % [body, ",".join(events.take(command.events_before)),
		",\"dropped\":%d" % dropped if dropped > 0 else "", Engine.get_process_frames()])
	if command.name == "quit" and not Answer.is_failure(answer):
		_leave(answer["code"])

func _body(id: String, answer: Dictionary) -> String:
	if not Answer.is_failure(answer):
		# Commands that read convert all their data to text, under an empty name.
		var data: Variant = answer.get("")
		return "{\"ok\":true,\"id\":" + id + ",\"data\":" + (data.text if is_instance_of(data, Values.Raw) else Values.text(answer))
	var body := "{\"ok\":false,\"id\":%s,\"error\":%s,\"code\":%s" % [id, Values.quote(str(answer["error"])), Values.quote(str(answer["code"]))]
	# A hook's own failure may contain any values.
	var hint := str(answer.get("hint", ""))
	if hint != "":
		body += ",\"hint\":" + Values.quote(hint)
	var details: Variant = answer.get("details")
	if typeof(details) != TYPE_NIL and not (typeof(details) == TYPE_DICTIONARY and details.is_empty()):
		body += ",\"details\":" + Values.text(details)
	return body

func _timed_out(command: RefCounted) -> Dictionary:
	commands.abandon(command)
	# Its waiting parts then release what they hold, such as a key or a listener.
	ticked.emit()
	if command.overdue.is_valid():
		return command.overdue.call()
	return Answer.fail("TIMEOUT", "%s took longer than %s s" % [command.name, command.timeout],
		"give the command a longer \"timeout\" (seconds), or look at get_tree for what keeps it", {"timeout": command.timeout})

## No command is answered before the main scene has had a complete frame; a scene that comes later is watched like the first.
func _watch_scene() -> void:
	var scene := get_tree().current_scene
	if not _ready_to_talk:
		var is_there := scene != null and scene.is_node_ready() and _frames >= 2
		_ready_to_talk = is_there or _frames >= FRAMES_WITHOUT_SCENE
		if _ready_to_talk and not ClassDB.class_exists("CSharpScript") and (events.errors.csharp != "" or _has_csharp_autoload()):
			push_error("AgentBridge: the project needs C#, and this engine is built without .NET: start it with Godot's .NET build. %s" % events.errors.csharp)
			_ready_to_talk = false
			_leave(1)
	if scene != null and scene.get_instance_id() != _scene_id:
		_scene_id = scene.get_instance_id()
		events.watch_by_default(scene, scene)

## Those before the bridge's own were loaded before it could notice an error.
func _has_csharp_autoload() -> bool:
	return ProjectSettings.get_property_list().any(func(about: Dictionary) -> bool:
		return about["name"].begins_with("autoload/") and str(ProjectSettings.get_setting(about["name"])).ends_with(".cs"))

## The client has disconnected. A game that was started for it ends; other games continue.
func _lost() -> void:
	if not transport.greeted:
		push_error("AgentBridge: no process answers at the address of --agent-connect")
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
