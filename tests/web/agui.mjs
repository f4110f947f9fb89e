// The official client of AG-UI runs a session to its end: `agui.mjs URL TOKEN MESSAGE ANSWER...`, where each ANSWER, JSON text, is the payload
// for the next interrupt. Prints the client's data: the types of events, its messages, and the result. The client itself fails a run whose
// events are out of order.
import {createRequire} from "node:module";
const require = createRequire(process.env.PIPEWRIGHT_WEB_TESTS + "/");
const {HttpAgent} = require("@ag-ui/client");

const [url, token, message, ...answers] = process.argv.slice(2);
const agent = new HttpAgent({
    url,
    threadId: "official",
    headers: {Authorization: `Bearer ${token}`},
    initialMessages: [{id: "u1", role: "user", content: message}],
});
const events = [];
const failures = [];
const subscriber = {
    onEvent: ({event}) => {
        events.push(event.name ?? event.type);
    },
    onRunFailed: ({error}) => {
        failures.push(error.message);
    },
};
let ran = await agent.runAgent({runId: "run-1"}, subscriber);
for (const [number, answer] of answers.entries()) {
    const [interrupt] = agent.pendingInterrupts;
    const resume = [{interruptId: interrupt.id, status: "resolved", payload: JSON.parse(answer)}];
    ran = await agent.runAgent({runId: `run-${number + 2}`, resume}, subscriber);
}
const roles = agent.messages.map(({role}) => role);
console.log(JSON.stringify({events: [...new Set(events)], failures, roles, result: ran.result, pending: agent.pendingInterrupts?.length ?? 0}));
