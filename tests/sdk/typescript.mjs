// The official TypeScript SDK as the client of a server: `typescript.mjs FOLDER COMMAND ARGS...`. FOLDER has the SDK in its node_modules.
// Prints the results as one JSON object.
import { createRequire } from "node:module";

const [folder, command, ...args] = process.argv.slice(2);
const require = createRequire(folder + "/");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { ToolListChangedNotificationSchema } = require("@modelcontextprotocol/sdk/types.js");

const client = new Client({ name: "test", version: "0" });
const changed = new Promise((resolve) => client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve(true)));
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const call = (name, input, options) => client.callTool({ name, arguments: input }, undefined, options);
const progress = [];
const steps = await call("test_tool_with_progress", {}, { onprogress: (step) => progress.push(step.progress) });
const abort = new AbortController();
const waiting = call("wait", {}, { signal: abort.signal }).then(() => false, () => true);
abort.abort();
const got = {
    tools: tools.map((tool) => tool.name),
    echo: (await call("echo", { message: "hi" })).structuredContent,
    image: (await call("test_image_content", {})).content[0].mimeType,
    failed: await call("fail", {}),
    unknown: await call("no_such_tool", {}).then((result) => result.isError === true, (error) => error.code),
    steps: steps.content.length,
    progress,
    cancelled: await waiting,
    seen: JSON.parse((await call("seen", {})).content[0].text).filter((line) => line.includes('"cancel"')).length,
};
await call("test_trigger_tool_change", {});
got.changed = await changed;
console.log(JSON.stringify(got));
await client.close();
