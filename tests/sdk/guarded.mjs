// The official TypeScript SDK as the client of a guarded file server: `guarded.mjs FOLDER CONFIGURATION PLACE [USER]`. FOLDER has the SDK in
// its node_modules, CONFIGURATION is a server's entry in a client's file, PLACE the served folder. USER is the decision of the
// client's own user, if the client can ask. Lists the folder, writes to a file, repeats that as often as the answer asks for it, and prints its
// view of each answer, a JSON array.
import { createRequire } from "node:module";

const [folder, configuration, place, user] = process.argv.slice(2);
const require = createRequire(folder + "/");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { ElicitRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const client = new Client({ name: "test", version: "0" }, { capabilities: user ? { elicitation: {} } : {} });
if (user) {
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { decision: user } }));
}
const { command, args } = JSON.parse(configuration);
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const got = [];
const call = async (name, input) => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    got.push({ text: content[0].text, isError: isError === true });
    return content[0].text;
};
await call("list_directory", { path: place });
const write = () => call("write_file", { path: place + "/old.txt", content: "new" });
while ((await write()).includes("Repeat the call")) {
    await new Promise((resolve) => setTimeout(resolve, 200));
}
console.log(JSON.stringify(got));
await client.close();
