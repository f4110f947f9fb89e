"""Writes the seeds for fuzzing: seed.py FIXTURES CORPUS (two folders)."""

import hashlib
import json
import os
import sys

# Output of `browser-bridge` about a page: both forms of its lists, a dialog, the focus, an outdated number.
BRIDGE = [
    '{"id":1,"tool":"browser_list_interactives","args":{}}',
    '{"id":1,"tool":"browser_list_interactives","status":"ok","data":{"total":2,"snapshot_id":"s1.1","items":["1 searchbox Search","12 button(disabled,covered) Pay now"]}}',
    '{"id":2,"tool":"browser_overlay_act","args":{"index":12}}',
    '{"id":2,"tool":"browser_overlay_act","status":"ok","data":{"nav_type":"none","changed":true,"focused_role":"button","focused_name":"Pay now","dialog":{"kind":"confirm","message":"Pay?"}}}',
    '{"id":3,"tool":"browser_dialog","args":{"accept":true}}',
    '{"id":3,"tool":"browser_dialog","status":"ok","data":{"nav_type":"full"}}',
    '{"id":4,"tool":"browser_find","args":{"text":"pay"}}',
    '{"id":4,"tool":"browser_find","status":"ok","data":{"snapshot_id":"s2.7","items":[{"id":"12","index":12,"role":"button","name":"Pay now"}]}}',
    '{"id":5,"tool":"browser_overlay_act","args":{"index":"12","snapshot_id":"s1.1"}}',
    '{"id":5,"tool":"browser_overlay_act","status":"error","kind":"not_found","code":"stale_index","data":{"snapshot_id":"s2.8","items":["13 link Home"]}}',
    '{"id":6,"tool":"browser_act_by_index","args":{"index":13,"action":"type","text":"x"}}',
]

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
GATED = [
    '{"tool":"browser_click","args":{"element":"Pay now","ref":"e7"}}', '{"tool":"browser_type","args":{"text":"a","submit":true},"target":{"role":"searchbox","name":"Suche"}}',
    '{"cmd":"wait_for","args":{"then":{"cmd":"press_button","args":{"path":"/root/DeleteSave"}}}}', '{"tool":"run_command","args":{"command":"ls -la"}}',
    '{"tool":"browser_navigate","args":{"url":"javascript:1"}}', '{"tool":"execute_sql","args":{"sql":"select 1"}}', '{"tool":"press_key","args":{"key":"Control+Enter"}}',
]
COMMANDS = [
    "cd x && ls | wc -l; git log 2>&1 >/dev/null", 'for f in $(ls) "$x" \'a b\'; do if [[ -f $f ]]; then cat <"$f"; else f() { echo `pwd`; }; fi; done', "cat <<E\nx ${y:-z}\nE\n",
    "case $1 in a|b) (ls) ;; *) ! { pwd; } & esac", "X=1 env A=b xargs -n 1 grep -l {a,b} *.c ~ <(ls) # end",
    "SELECT a, count(*) FROM t JOIN u ON t.a = u.b WHERE c IN (SELECT 1) -- end\nORDER BY 1", "WITH x AS (SELECT 'a' /* b */) SELECT [c d], \"e\" FROM x; SHOW TABLES",
]
FIELDS = ['{}', ' { } \r\n', '{"a":1.10 } \n', '{"f" : {"f":2} ,"b":3}', '{"\\u0066":null}', '{"a":12345678901234567890}']

LOG = [
    '{"format":"pipewright-log","version":1,"seq":0,"start":"2026-11-22T01:00:00.000000Z","child":"agent","command":["bot"]}',
    '{"t":10,"seq":1,"dir":"in","msg":{"n":[1.10,null]}}',
    '{"t":20,"seq":2,"dir":"out","text":"go\\u0000","eol":"\\r\\n"}',
    '{"t":20,"seq":3,"dir":"err","b64":"tPI=","more":true}',
    '{"t":25,"seq":4,"dir":"err","withheld":"secret","eol":""}',
    '{"t":30,"seq":7,"lost":2}',
    '{"t":30,"seq":8,"end":"exit status 0","status":0}',
]
PLAIN = ['{"ts":"2026-11-22T01:00:00Z","status":"ok"}', '{"ts":1763773201.5}', '[7]', '{"ts":1,"a":"\xb4"}']
# Cases for read_pieces: complete records, torn ones, and text that only begins like one.
PIECES = ['{"t":1,"seq":1,"lost":1}', '{"t":1', '{"t":', '{"a":{"a":', '{"t":"\\', '[[[', '{"":[']


TEXTS = FIELDS + [
    '[-0.5e+7,0,false,"\\"\\\\\\u00e9",[[],{}]]', '"\u00e9\\ud800"', '[1, {"a": [true, null], "b": "c"}]',
    '[{"a":' * 40 + '1' + '}]' * 40,
]
FILTERS = [
    '.game_state.current_hp > 10 and .in_game',
    'select(.a | test("(?i)\\bab+")) | .b = $v',
    'walk(if type == "string" then gsub("(?<x>a)"; "<\\(.x)>") else . end)',
    'def f(g): if . > 0 then . - 1 | f(g) else g end; reduce .[]? as [$a, {b: $c}] (0; . + 1) | f(.)',
    '[.. | numbers] | sort_by(-.) | group_by(. % 2) | map(add) | @csv, tojson',
    'try error({a: [1, 2.5e3]}) catch (label $out | foreach .a[] as $x (0; . + $x; ., break $out))',
    'del(.a, .b[1:]) | to_entries | from_entries | [paths] | getpath(.[0]) // "none"',
]


LONG = b'{"state":1,"of":"a long line that tells where we are, for there is no other like it"}'
TALKS = [
    (b"a\n\nb\nc\n\nd", b"a\nx\nb\nc\nd"),
    (b'{"a":[{"b":1}]}\n\n' + LONG + b"\n\nz", b'{"a":[{"b":1.0}]}\n' + LONG),
]

WIDE = '{"cmd":"x","args":{"a":-9223372036854775807,"b":[1234567890123456,1.5e3]}}'
SERVERS = [
    ['{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}', '{"id":2,"result":{"tools":[{"name":"x"}],"nextCursor":1}}',
     '{"id":3,"result":{"tools":[]}}', '{"method":"notifications/tools/list_changed"}', '{"id":7,"method":"ping"}',
     r'{"id":4,"result":{"content":[{"type":"text","text":"{\"status\":\"ok\",\"data\":[\n1]}"}]}}', "noise",
     '{"id":5,"result":{"isError":true,"content":[{"text":"no"}]}}', '{"id":6,"error":{"code":-32601,"message":"no"}}'],
    ['{"id":1,"result":{"supportedVersions":["2026-07-28"]}}', '{"id":2,"result":{"tools":[]}}',
     '{"id":3,"result":{"resultType":"input_required","requestState":"s"}}'],
]
CLIENTS = [
    ['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}', '>{"type":"tool_list","tools":[{"name":"x"}]}',
     '{"id":2,"method":"tools/call","params":{"name":"x","arguments":{"a":1.10},"_meta":{"progressToken":1}}}',
     '>{"type":"observation","call_id":"c1","data":{"event":"progress","data":{"progress":1}}}',
     '>{"type":"tool_result","call_id":"c1","status":"ok","result":{"content":[{"type":"image","path":"/a"}]},"events":[1]}',
     '{"method":"notifications/cancelled","params":{"requestId":2}}', '>{"type":"observation","data":{"event":"tools"}}'],
    ['{"id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}',
     '>{"type":"tool_list","tools":[{"name":"x","input_schema":{"properties":{"a":{"x-mcp-header":"A"}}}}]}',
     '>{"type":"tool_result","call_id":"c1","status":"error","error":"no","kind":"lost","code":"E","data":{}}'],
]
ANSWERS = [
    '{"ok":true,"id":1,"data":{"n":1.10,"big":12345678901234567890},"events":[{"seq":1}],"frame":2}',
    '{"ok":false,"id":null,"error":"a","code":"BAD_JSON","hint":"b","details":{},"dropped":3}',
    '{"events":[{"type":"tick"}],"frame":9}',
]
BROWSER = [
    '{"id":1,"result":{}}',
    '{"id":2,"error":{"code":-32000,"message":"m"},"sessionId":"A"}',
    '{"method":"Target.attachedToTarget","params":{"sessionId":"A","targetInfo":{"targetId":"T","type":"page","title":"","url":""}}}',
    '{"method":"Target.attachedToTarget","params":{"sessionId":"B","targetInfo":{"targetId":"F","type":"iframe","title":"","url":""}},"sessionId":"A"}',
    '{"method":"Target.attachedToTarget","params":{"sessionId":"C","targetInfo":{"targetId":"G","type":"iframe","title":"","url":""}},"sessionId":"B"}',
    '{"method":"Page.lifecycleEvent","params":{"frameId":"T","loaderId":"L","name":"init"},"sessionId":"A"}',
    '{"method":"Page.frameNavigated","params":{"frame":{"id":"T","loaderId":"L","url":"u"}},"sessionId":"A"}',
    '{"method":"Network.requestWillBeSent","params":{"requestId":"L","type":"Document"},"sessionId":"A"}',
    '{"method":"Network.responseReceived","params":{"requestId":"L","type":"Document","loaderId":"L","frameId":"T","response":{"status":200}},"sessionId":"A"}',
    '{"method":"Network.loadingFinished","params":{"requestId":"L"},"sessionId":"C"}',
    '{"method":"Page.javascriptDialogOpening","params":{"type":"alert","message":"m"},"sessionId":"C"}',
    '{"method":"Target.targetCrashed","params":{"targetId":"T"}}',
    '{"method":"Target.detachedFromTarget","params":{"sessionId":"B"}}',
    "",
]
STREAMS = ['data: {"n":1}\r\n\r\nid: 7\nevent: message\nretry: 20\ndata\n\n', '\ufeff: x\rdata:1\rdata: 2\r\r', 'data: ' + 'x' * 40]
APPROVALS = [
    '{"type":"status","status":"waiting_human","call_id":1,"nonce":"n","tool_name":"rm","arguments":{"a":1.10},"target":{"role":"x"},"policy":{},'
    '"arguments_sha256":"00","caller":"sh","asked_at":"2026-11-22T01:00:00.000000Z","expires_at":"2026-11-22T01:05:00.000000Z","rule_offers":["tool"]}',
    '{"type":"session_rules","rules":[{"rule_id":"session-1","rule":"tool"}]}', '{"type":"error","context":{"nonce":"n"},"content":"no"}',
    '{"type":"policy_result","call_id":1,"nonce":"n","verdict":"approved","by":"approver"}', '{"type":"revoke_rule","rule_id":"session-1"}',
]
WRITTEN = [
    '<tool_call>wait<arg_key>ms</arg_key><arg_value>5</arg_value></tool_call>', "[look(), wait(ms=5, why='a')]", "{'name': 'look',}",
    '<|tool_call_begin|>look:0<|tool_call_argument_begin|>{}<|tool_call_end|>', '[TOOL_CALLS]wait[ARGS]{"ms":5}', '<function=look></function>',
    '<function_calls><invoke name="wait"><parameter name="ms">5</parameter></invoke></function_calls>',
    '<|channel|>commentary to=functions.wait <|message|>{"ms":5}<|call|>', '<｜tool▁call▁begin｜>look<｜tool▁sep｜>{}<｜tool▁call▁end｜>',
    '<think>a</think> b function_call: name=wait args={"ms":1.10} c', "function_call: name='wait', args={'ms'", '{"mode":"ask","question":"a"}',
    '<tool_call>{"name":"look","arguments":"{}"}</tool_call>', '[TOOL_CALLS][{"name":"look"}]', '[TOOL_CALL]{"tool":"look"}[/TOOL_CALL]',
    '<tool_call>\n<function=wait>\n<parameter=why>\na\n</parameter>\n</function>\n</tool_call>', '<|python_tag|>{"name":"wait","parameters":{}}',
    '```json\n{"function":{"name":"look","arguments":{}}}\n```',
]
SCHEMAS = [
    '{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"],"additionalProperties":false}\n{"a":1.5}',
    '{"$ref":"#/$defs/b","$defs":{"b":{"anyOf":[{"const":1},{"pattern":"^a+$"}]}}}\n"aab"',
]
ENTRIES = [
    '"event":"start","command":"hitl-gate","program":"0.1.0","format":"pipewright-audit","version":1',
    '"event":"verdict","call_id":7,"tool":"pay","digest":"sha256:1","verdict":"confirm","mode":"enforce","did":"marked"',
    '"event":"settled","call_id":7,"tool":"pay","digest":"sha256:1","verdict":"edited","digest_after":"sha256:2"',
    '"event":"passed","call_id":7,"tool":"pay","digest":"sha256:2","required_approval":true',
    '"event":"end"',
]
MASKED = [
    '{"to":"ann\\u0040example.com","a":"{\\"otp\\":\\"123456\\"}","cookies":[{"name":"sid","value":"x"}],"<EMAIL_1>":4111111111111111}',
    '{"type":"tool_call","arguments":{"text":"hunter2"},"target":{"name":"Password"}}', "4111 1111 1111 1111 GB29 NWBK 6016 1331 9268 19 <CARD_1>",
    "password='x' Cookie: a=b https://a:b1@c/ Bearer abc123def tel. +44 (0)20 7946 0018 x12", "-----BEGIN PRIVATE KEY-----\\nMIIB\\n-----END PRIVATE KEY-----",
    "sk-ant-0123456789abcdefghij eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln \u00ad\uff14\uff11 \\u005cu0040",
]
PROJECT = 'config_version=5\r\n\n[autoload]\n\nAgentBridge="*res://x.gd"\n\n[display]\nSCRIPT ERROR: Parse Error'


def main():
    fixtures, corpus = sys.argv[1:]
    messages = list(read_messages(fixtures))
    small = [message for message in messages if len(message) < 3000]
    first_lines = [b"\x01" + text.encode() for text in FIELDS] + [b"\x01\xef\xbb\xbf{}\n", b"\x00{\"n\":\"\xb4\"}"]
    seed(corpus, "message", messages)
    seed(corpus, "field", first_lines + [b"\x00" + message for message in small])
    seed(corpus, "calls", [call.encode() for call in CALLS])
    seed(corpus, "approvals", ["\n".join(APPROVALS).encode(), "\n\n".join(APPROVALS).encode()])
    seed(corpus, "commands", [text.encode() for text in COMMANDS])
    seed(corpus, "gates", [call.encode() for call in CALLS + GATED])
    texts = [text.encode() for text in TEXTS + CALLS] + small
    seed(corpus, "json", [bytes([200, number % 64]) + text for number, text in enumerate(texts)])
    inputs = ['{"a":[1,2.50,{"b":null}],"b":"ab"}', '[1,"a\\u0041",true,[[]]]', "5"]
    seed(corpus, "filters", [f"{one}\0{other}".encode() for one in FILTERS for other in inputs])
    lines = [f"{call}\n{answer}".encode() for call in CALLS + [WIDE] for answer in ANSWERS]
    seed(corpus, "game_lines", lines + [PROJECT.encode()])
    seed(corpus, "server_lines", ["\n".join(answer).encode() for answer in SERVERS])
    seed(corpus, "client_lines", ["\n".join(answer).encode() for answer in CLIENTS])
    seed(corpus, "server_events", [bytes([size]) + stream.encode() for size in (1, 200) for stream in STREAMS])
    seed(corpus, "browser_messages", [bytes([size]) + b"\0".join(message.encode() for message in BROWSER) for size in (1, 255)])
    seed(corpus, "mask", [line.encode() for line in MASKED + CALLS])
    seed(corpus, "snapshots", list(snapshots(os.path.join(os.path.dirname(fixtures.rstrip("/")), "snapshots"))) + ["\n".join(BRIDGE).encode()])
    seed(corpus, "text_calls", [text.encode() for text in WRITTEN])
    seed(corpus, "turns", list(turns(os.path.join(os.path.dirname(fixtures.rstrip("/")), "models"))))
    seed(corpus, "schemas", [schema.encode() for schema in SCHEMAS])
    talks = [bytes([how]) + b"\x02\x01\x02\x00" + talk + b"\xff" + live for how in range(8) for talk, live in TALKS]
    seed(corpus, "alignment", talks)
    seed(corpus, "lines", [bytes([most, 4, 1, 2, 3, 200]) + b"\n".join(small[:3]) for most in (0, 3, 40, 255)])
    seed(corpus, "audit", [bytes([how]) + content for how, content in audits()])
    seed(corpus, "journal", [bytes([meaning]) + content for meaning, content in journal(small)])


def audits():
    """The selecting byte, and a file, texts or fields."""
    lines, prev = [], "0" * 64
    for seq, entry in enumerate(ENTRIES):
        line = f'{{"seq":{seq},"prev":"{prev}","time":"2026-11-22T01:00:00.{seq:06}Z",{entry}'
        prev = hashlib.sha256(line.encode()).hexdigest()
        lines.append(f'{line},"hash":"{prev}"}}\n'.encode())
    yield 0, b"".join(lines)
    yield 0, b"".join(lines) + b"\xff" + b"".join(lines[:2]) + lines[3][:-9]
    for change in (1, 40, 200):
        yield 1, bytes([change]) + b'c1\n[1, {"a":null}]\npay\n"\xc3\xa9\\ud800"\n7\n7'
    yield 2, ENTRIES[1].encode()


def journal(messages):
    """The selecting byte, and the limits, reads and bytes."""
    log, plain = "\n".join(LOG).encode(), "\n".join(PLAIN).encode("latin-1")
    for meaning in (0, 1):
        for content in (log, plain, log.replace(b"\n", b""), log[:-9] + log, log.replace(b'"t":2', b'"t":')):
            yield meaning, b"\xff\x08\x00" + content
    for piece in PIECES:
        yield 2, b"\xff\x08\x00" + piece.encode()
    lines = b"\xef\xbb\xbf" + messages[0] + b"\r\n\n \n\xb4\xf2\n[[[[]]]]\n\x00\x01\n" + log + b"\nno line feed"
    for most in (0, 1, 40, 255):
        yield 3, bytes([most, 3, 5, 1, 2, 3, 200, 7]) + lines


def snapshots(folder):
    """Each recording, and each answer with its call."""
    for name in sorted(name for name in os.listdir(folder) if name.endswith(".jsonl")):
        with open(os.path.join(folder, name), "rb") as file:
            lines = file.read().splitlines()
        yield b"\n".join(lines)
        for at in range(0, len(lines), 2):
            yield b"\n".join(lines[at : at + 2] + [b'{"tool":"browser_click","args":{"target":"text=Delete"}}'])


def turns(folder):
    """Each stream as the answer of each of the first providers."""
    for name in sorted(name for name in os.listdir(folder) if name.endswith(".sse")):
        with open(os.path.join(folder, name), "rb") as file:
            stream = file.read()
        for which in range(16):
            yield bytes([which]) + stream


def read_messages(fixtures):
    """Each message in its original form: it is the last field of its line."""
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
