// A model in place of a provider's: it asks for one shell command (COMMAND), then ends its turn, and says whether the
// command printed OUTPUT. Prints its port.
import http from "node:http"

const command = process.env.COMMAND
let said = "finished"

const events = (list) => list.map(([name, data]) => `${name ? `event: ${name}\n` : ""}data: ${data}\n\n`).join("")

// Claude Code: /v1/messages.
function messages(calls) {
  const block = calls
    ? [{ type: "tool_use", id: "toolu_01", name: "Bash", input: {} }, { type: "input_json_delta", partial_json: JSON.stringify({ command }) }]
    : [{ type: "text", text: "" }, { type: "text_delta", text: said }]
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage }
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block[0] },
    { type: "content_block_delta", index: 0, delta: block[1] },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: calls ? "tool_use" : "end_turn" }, usage },
    { type: "message_stop" },
  ].map((event) => [event.type, JSON.stringify(event)])
}

// Qwen Code: /chat/completions.
function completions(calls) {
  const call = { name: "run_shell_command", arguments: JSON.stringify({ command, description: "x", is_background: false }) }
  const delta = calls
    ? { role: "assistant", tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] }
    : { role: "assistant", content: said }
  const chunk = (choice) => JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, ...choice }] })
  return [["", chunk({ delta })], ["", chunk({ delta: {}, finish_reason: calls ? "tool_calls" : "stop" })], ["", "[DONE]"]]
}

// Codex: /responses.
function responses(calls) {
  const item = calls
    ? { type: "function_call", id: "f", call_id: "call_1", name: "exec_command", arguments: JSON.stringify({ cmd: command }) }
    : { type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: said }] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  return [
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_item.done", item },
    { type: "response.completed", response: { id: "r", usage } },
  ].map((event) => [event.type, JSON.stringify(event)])
}

const server = http.createServer((request, response) => {
  let body = ""
  request.on("data", (data) => (body += data))
  request.on("end", () => {
    const was = /"tool_result"|"role":"tool"|"function_call_output"/.test(body)
    const has = /"name":"(Bash|run_shell_command|exec_command)"/.test(body)
    if (was) said = body.includes(process.env.OUTPUT) ? "finished: it ran" : "finished: it did not run"
    const forms = [["/messages", messages], ["/chat/completions", completions], ["/responses", responses]]
    const form = forms.find(([path]) => request.url.split("?")[0].endsWith(path))
    response.writeHead(200, { "content-type": form ? "text/event-stream" : "application/json" })
    response.end(form ? events(form[1](has && !was)) : "{}")
  })
})
server.listen(0, "127.0.0.1", () => console.log(server.address().port))
