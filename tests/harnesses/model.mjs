// A model in place of a provider's: it asks for one shell command (COMMAND), then ends its turn, and says whether the
// command printed OUTPUT. Prints its port.
import http from "node:http"

const command = process.env.COMMAND
let said = "finished"

// The shell of each harness, and its arguments. Gemini CLI and Qwen Code have the same.
const shells = {
  Bash: { command },
  bash: { command, description: "x" },
  exec_command: { cmd: command },
  run_commands: { commands: [command] },
  run_shell_command: { command, description: "x", is_background: false },
}

const events = (list) => list.map(([name, data]) => `${name ? `event: ${name}\n` : ""}data: ${data}\n\n`).join("")

// Claude Code: /v1/messages.
function messages(shell) {
  const block = shell
    ? [{ type: "tool_use", id: "toolu_01", name: shell, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(shells[shell]) }]
    : [{ type: "text", text: "" }, { type: "text_delta", text: said }]
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage }
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block[0] },
    { type: "content_block_delta", index: 0, delta: block[1] },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: shell ? "tool_use" : "end_turn" }, usage },
    { type: "message_stop" },
  ].map((event) => [event.type, JSON.stringify(event)])
}

// Qwen Code, Copilot CLI, OpenCode, Cline: /chat/completions.
function completions(shell) {
  const call = { name: shell, arguments: JSON.stringify(shells[shell]) }
  const delta = shell
    ? { role: "assistant", tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] }
    : { role: "assistant", content: said }
  const chunk = (choice) => JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, ...choice }] })
  return [["", chunk({ delta })], ["", chunk({ delta: {}, finish_reason: shell ? "tool_calls" : "stop" })], ["", "[DONE]"]]
}

// Codex: /responses.
function responses(shell) {
  const item = shell
    ? { type: "function_call", id: "f", call_id: "call_1", name: shell, arguments: JSON.stringify(shells[shell]) }
    : { type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: said }] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  return [
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_item.done", item },
    { type: "response.completed", response: { id: "r", usage } },
  ].map((event) => [event.type, JSON.stringify(event)])
}

// Gemini CLI: /models/MODEL:streamGenerateContent.
function content(shell) {
  const part = shell ? { functionCall: { name: shell, args: shells[shell] } } : { text: said }
  const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }
  return [["", JSON.stringify({ candidates: [candidate], usageMetadata: { totalTokenCount: 2 } })]]
}

const server = http.createServer((request, response) => {
  let body = ""
  request.on("data", (data) => (body += data))
  request.on("end", () => {
    const was = /"tool_result"|"role":"tool"|"function_call_output"|"functionResponse"/.test(body)
    const shell = Object.keys(shells).find((name) => body.includes(`"name":"${name}"`))
    if (was) said = body.includes(process.env.OUTPUT) ? "finished: it ran" : "finished: it did not run"
    const forms = [
      ["/messages", messages],
      ["/chat/completions", completions],
      ["/responses", responses],
      [":streamGenerateContent", content],
    ]
    const form = forms.find(([path]) => request.url.split("?")[0].endsWith(path))
    response.writeHead(200, { "content-type": form ? "text/event-stream" : "application/json" })
    response.end(form ? events(form[1](was ? undefined : shell)) : "{}")
    if (process.env.TRACE) console.error(request.method, request.url, was, shell, body.slice(0, 3000), "\n")
  })
})
server.listen(0, "127.0.0.1", () => console.log(server.address().port))
