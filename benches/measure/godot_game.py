"""A Godot game for the measurements: 2,000 controls without function, and one command of its own."""

import os
import shutil
import subprocess

ROWS = 400
LABEL = "/root/Main/Row7/Name"

PROJECT = """\
config_version=5

[application]

config/name="{name}"
run/main_scene="res://main.tscn"
"""

SCENE = """\
[gd_scene load_steps=2 format=3]

[ext_resource type="Script" path="res://main.gd" id="1"]

[node name="Main" type="Control"]
script = ExtResource("1")
"""

SCRIPT = f"""\
extends Control

func _ready() -> void:
	for number in {ROWS}:
		var row := HBoxContainer.new()
		row.name = "Row%d" % number
		row.position.y = number * 30
		add_child(row)
		for kind in [Label, Button, CheckBox, ProgressBar]:
			var child: Control = kind.new()
			child.name = {{Label: "Name", Button: "Buy", CheckBox: "Keep", ProgressBar: "Stock"}}[kind]
			if not child is ProgressBar:
				child.text = "%s %d" % [child.name, number]
			row.add_child(child)

func agent_commands() -> Dictionary:
	return {{"rename": {{"args": {{"to": "string"}}}}}}

func agent_command(_name: String, args: Dictionary) -> Dictionary:
	get_node("{LABEL}").text = args["to"]
	return {{}}
"""


def plain(bench):
    """The project without any addon."""
    return written(bench, "plain")


def bridged(bench):
    """The project with our addon."""
    project = bench.file("bridged")
    if not os.path.exists(project):
        written(bench, "bridged")
        subprocess.run([bench.program("godot-bridge"), "install", project], stdout=subprocess.DEVNULL, check=True)
    return project


def with_godot_e2e(bench, addon):
    """The project with godot-e2e's addon, as its README says."""
    project = written(bench, "godot-e2e")
    shutil.copytree(addon, os.path.join(project, "addons", "godot_e2e"))
    with open(os.path.join(project, "project.godot"), "a", encoding="utf-8") as file:
        file.write('\n[autoload]\n\nAutomationServer="*res://addons/godot_e2e/automation_server.gd"\n')
    return project


def written(bench, name):
    project = bench.file(name)
    os.makedirs(project)
    for file, text in (("project.godot", PROJECT.format(name=name)), ("main.tscn", SCENE), ("main.gd", SCRIPT)):
        with open(os.path.join(project, file), "w", encoding="utf-8") as out:
            out.write(text)
    return project
