// Node's WebSocket client in a session with an agent: `talk.mjs URL TOKEN MESSAGE`. Approves held calls, and prints the types of all records.
import {createRequire} from "node:module";
const require = createRequire(process.env.PIPEWRIGHT_WEB_TESTS + "/");
const {WebSocket} = require("ws");

const [url, token, message] = process.argv.slice(2);
const socket = new WebSocket(url, {headers: {Authorization: `Bearer ${token}`}});
const types = [];
socket.on("open", () => socket.send(JSON.stringify({type: "user_message", content: message, role: "user"})));
socket.on("message", (data) => {
    const record = JSON.parse(data);
    types.push(record.type);
    if (record.requires_approval) {
        socket.send(JSON.stringify({type: "hitl_response", call_id: record.call_id, action: "approve"}));
    }
    if (record.type === "final") {
        socket.close();
    }
});
socket.on("close", () => console.log(JSON.stringify(types)));
