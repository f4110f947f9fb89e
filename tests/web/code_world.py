#!/usr/bin/env python3
"""A world with the files of one folder: reads, refactors, writes and runs them. `code_world.py FOLDER`"""

import json
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [
    {"name": "read_file", "description": "Reads a file.", "input_schema": PATH},
    {"name": "refactor_code", "description": "Renames single letters in a file.", "input_schema": PATH},
    {"name": "write_file", "description": "Writes a file.", "input_schema": {"type": "object", "required": ["path", "content"]}},
    {"name": "run_code", "description": "Runs a file.", "input_schema": PATH},
]


def do(tool, arguments):
    path = FOLDER / arguments["path"]
    if tool == "read_file":
        return {"content": path.read_text()}
    if tool == "refactor_code":
        path.write_text(re.sub(r"\bt\b", "total", path.read_text()))
        return {"content": path.read_text()}
    if tool == "write_file":
        return {"bytes": path.write_text(arguments["content"])}
    ran = subprocess.run([sys.executable, str(path)], cwd=FOLDER, capture_output=True, text=True)
    return {"exit_status": ran.returncode, "said": ran.stdout + ran.stderr}


def answer(record):
    if record.get("type") == "list_tools":
        return {"type": "tool_list", "request_id": record.get("request_id"), "world": "code", "tools": TOOLS}
    if record.get("type") == "tool_call":
        result = {"type": "tool_result", "call_id": record["call_id"]}
        try:
            return {**result, "status": "ok", "result": do(record["tool_name"], record["arguments"])}
        except OSError as error:
            return {**result, "status": "error", "kind": "failed", "error": str(error)}
    return None


for line in sys.stdin:
    answered = answer(json.loads(line))
    if answered:
        print(json.dumps(answered), flush=True)
