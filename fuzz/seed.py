"""Writes what fuzzing begins with: seed.py FIXTURES CORPUS (two folders)."""

import json
import os
import sys

CALLS = [
    '{"type":"tool_call","call_id":"c1","tool_name":"browser_click","arguments":{"a":1},"target":{"role":"button"},'
    '"requires_approval":true,"policy":{"verdict":"allow"},"session_id":"s","agent_id":1,"plan_id":null,"step_id":"2"}',
    '{"id":7,"tool":"echo","args":{"text":"hi"}}',
    '{"cmd":"press","id":"1","args":{"key":"\\u0041"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{},"_meta":{"policy":{},'
    '"requires_approval":false,"target":{}}}}',
    '{"type":"observation","data":{}}',
    '{"Type":"tool_call","tool_name":"x"}',
    '[{"tool":"a"}]',
]
FIELDS = ['{}', ' { } \r\n', '{"a":1.10 } \n', '{"f" : {"f":2} ,"b":3}', '{"\\u0066":null}', '{"a":12345678901234567890}']


TEXTS = FIELDS + [
    '[-0.5e+7,0,false,"\\"\\\\\\u00e9",[[],{}]]', '"\u00e9\\ud800"', '[1, {"a": [true, null], "b": "c"}]',
    '[{"a":' * 40 + '1' + '}]' * 40,
]


def main():
    fixtures, corpus = sys.argv[1:]
    messages = list(read_messages(fixtures))
    small = [message for message in messages if len(message) < 3000]
    first_lines = [b"\x01" + text.encode() for text in FIELDS] + [b"\x01\xef\xbb\xbf{}\n", b"\x00{\"n\":\"\xb4\"}"]
    seed(corpus, "message", messages)
    seed(corpus, "field", first_lines + [b"\x00" + message for message in small])
    seed(corpus, "calls", [call.encode() for call in CALLS])
    texts = [text.encode() for text in TEXTS + CALLS] + small
    seed(corpus, "json", [bytes([200, number % 64]) + text for number, text in enumerate(texts)])
    seed(corpus, "lines", [bytes([most, 4, 1, 2, 3, 200]) + b"\n".join(small[:3]) for most in (0, 3, 40, 255)])


def read_messages(fixtures):
    """Each message as it stands in its line, where it is the last field."""
    for name in ("real_combat", "real_screens", "made", "demo_session"):
        with open(os.path.join(fixtures, f"{name}.jsonl"), "rb") as lines:
            for line in lines:
                key = b',"msg":' if name == "demo_session" else b'"message":'
                message = line.partition(key)[2].rstrip()[:-1]
                if message:
                    json.loads(message)
                    yield message


def seed(corpus, target, inputs):
    folder = os.path.join(corpus, target)
    os.makedirs(folder, exist_ok=True)
    for number, content in enumerate(inputs):
        with open(os.path.join(folder, f"seed-{number:03}"), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
