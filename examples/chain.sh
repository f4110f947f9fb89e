#!/usr/bin/env bash
# Three agents work one after the other on the same files: one rewrites, one writes tests, one explains. Each gets the final message of the agent before it.
#
# usage: chain.sh [FOLDER [MODEL]]
#
# FOLDER has main.py; by default it is a new folder with a small main.py. MODEL is a model such as gemini/gemini-3-flash; by default a script takes its
# place. Prints the records of all agents, and agent_chain_update records between them. Ends with 1 if an agent does not reach its goal. Needs jq.
set -euo pipefail
folder=${1:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    printf 'def t(a):\n    r = 0\n    for x in a: r = r + x\n    return r\n' >"$folder/main.py"
fi
cd "$folder"
agents=(refactorer tester explainer)
declare -A roles=([refactorer]=refactor [tester]=test [explainer]=docs)
declare -A goals=(
    [refactorer]='Give the function in main.py a good name, and make it short.'
    [tester]='Write tests for main.py into test_main.py.'
    [explainer]='Explain in one sentence what main.py does.'
)

# The world: the files of the folder, by plain names only.
world() {
    jq --unbuffered -c . | while IFS= read -r line; do
        name=$(jq -r '.arguments.path // empty' <<<"$line")
        case $(jq -r '.tool_name // .type' <<<"$line") in
        list_tools) jq -c '{type: "tool_list", request_id, world: "files", tools: [
            {name: "read_file", description: "Reads a file of the folder.", input_schema: {type: "object", properties: {path: {type: "string"}}, required: ["path"]}},
            {name: "write_file", description: "Writes a file of the folder.", input_schema: {type: "object", properties: {path: {type: "string"}, content: {type: "string"}}, required: ["path", "content"]}}]}' <<<"$line" ;;
        *) if [[ ! $name =~ ^[a-z_]+\.py$ ]]; then
            jq -c '{type: "tool_result", call_id, status: "error", kind: "denied", error: "only names such as main.py"}' <<<"$line"
        elif [[ $line == *'"write_file"'* ]]; then
            jq -j '.arguments.content' <<<"$line" >"$name"
            jq -c '{type: "tool_result", call_id, status: "ok", result: "written"}' <<<"$line"
        else
            jq -c --rawfile content "$name" '{type: "tool_result", call_id, status: "ok", result: $content}' <<<"$line"
        fi ;;
        esac
    done
}

# The model: each request gets the next turn of the agent's script.
model() {
    local turns=(
        '[{"tool_name":"read_file","arguments":{"path":"main.py"}}]'
        '[{"tool_name":"write_file","arguments":{"path":"main.py","content":"def total(numbers):\n    return sum(numbers)\n"}}]'
        '[{"tool_name":"assistant_done","arguments":{"reason":"main.py has total(numbers)."}}]'
    )
    [ "$1" != tester ] || turns[1]='[{"tool_name":"write_file","arguments":{"path":"test_main.py","content":"from main import total\nassert total([1, 2]) == 3\n"}}]'
    [ "$1" != tester ] || turns[2]='[{"tool_name":"assistant_done","arguments":{"reason":"test_main.py has one test."}}]'
    [ "$1" != explainer ] || turns[1]='[{"tool_name":"assistant_done","arguments":{"reason":"main.py adds numbers."}}]'
    local request at=0
    while IFS= read -r request; do
        jq -c --argjson calls "${turns[at]}" '{type: "model_turn", request_id, status: "ok", stop: "call", text: "",
            calls: [$calls[] + {call_id: .request_id}], usage: {}, provider: "script", model: "turns", raw: {}, latency_ms: 0, retries: 0}' <<<"$request"
        at=$((at + 1))
    done
}
export -f model world

# The state of the chain: the agents before the current one are done, those after it are blocked.
update() {
    jq -nc --arg current "$1" --arg status "$2" --args '{type: "agent_chain_update", chain_id: "chain-1",
        agents: [$ARGS.positional as $all | ($all | index($current)) as $at | $all | to_entries[] |
            {agent_id: .value, status: (if .key < $at then "done" elif .key == $at then $status else "blocked" end)}],
        current_agent: $current}' "${agents[@]}"
}

before='Nobody has worked on it yet.'
for agent in "${agents[@]}"; do
    update "$agent" running
    llm="bash -c 'model $agent'"
    [ $# -lt 2 ] || llm="llm-pipe --model $2"
    status=0
    agent-loop --goal "${goals[$agent]} What was done before: $before" --agent-id "$agent" --role "${roles[$agent]}" --chain-id chain-1 \
        --llm "$llm" -- bash -c world </dev/null | tee records.jsonl || status=$?
    before=$(jq -r 'select(.type == "final").content' records.jsonl)
    rm records.jsonl
    if [ "$status" != 0 ]; then
        update "$agent" error
        exit 1
    fi
    update "$agent" done
done
