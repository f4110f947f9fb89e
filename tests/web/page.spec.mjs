// Tests of the page of agent-serve in Chromium, against a server whose agent is agent.py, with the real gates below it.
// PIPEWRIGHT_SERVE_URL is the address that agent-serve prints, with agent.py session={session} as its agent;
// PIPEWRIGHT_REPLAY_URL, if set, the address of one with --replay records.jsonl; PIPEWRIGHT_WEB_TESTS the folder whose node_modules has @playwright/test
// and axe-core; PIPEWRIGHT_SCREENSHOTS, if set, a folder for pictures; PIPEWRIGHT_PAGE, if set, a folder whose files replace
// those in the server.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const { PIPEWRIGHT_SERVE_URL: ADDRESS, PIPEWRIGHT_WEB_TESTS: MODULES = import.meta.dirname } = process.env;
const { PIPEWRIGHT_SCREENSHOTS: PICTURES, PIPEWRIGHT_PAGE: PAGE } = process.env;
const require = createRequire(`${MODULES}/`);
const { test, expect: hasty } = require("@playwright/test");
// Five seconds are few on a busy machine.
const expect = hasty.configure({ timeout: 30_000 });
const AXE = readFileSync(require.resolve("axe-core"), "utf8");
const ORIGIN = new URL(ADDRESS).origin;

test.use({
    launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] },
    viewport: { width: 1280, height: 800 },
});

test.beforeEach(async ({ context, page }) => {
    await prepare(context);
    page.faults = [];
    watch(page);
});

test.afterEach(async ({ page }) => {
    expect(page.faults).toEqual([]);
});

async function prepare(context) {
    if (PAGE) {
        // The server treats a page that it has not served as foreign.
        await context.grantPermissions(["local-network-access"]);
    }
    for (const [path, file] of PAGE ? [["/", "index.html"], ["/page.js", "page.js"], ["/page.css", "page.css"]] : []) {
        await context.route((address) => address.pathname === path && address.search === "", async (route) => {
            const response = await route.fetch({ maxRedirects: 0 });
            await route.fulfill({ response, body: readFileSync(join(PAGE, file)) });
        });
    }
}

/** What the browser complains about, such as a breach of the policy for content. */
function watch(page) {
    page.on("pageerror", (error) => page.faults?.push(error.message));
    page.on("console", (message) => {
        if (["error", "warning"].includes(message.type()) && !/ERR_CONNECTION|WebSocket|409|404/.test(message.text())) {
            page.faults?.push(message.text());
        }
    });
}

/** Begins a session, and shows it. */
async function begin(page) {
    await page.goto(ADDRESS);
    const id = `t${Date.now()}-${Math.floor(Math.random() * 1e6)}`;
    const response = await page.request.post(`${ORIGIN}/sessions`, { data: { session_id: id } });
    expect(response.status()).toBe(201);
    await show(page, id);
    return id;
}

async function show(page, id) {
    await page.goto(`${ORIGIN}/#${id}`);
    await expect(page.locator("#connection")).toHaveText("Connected");
}

async function say(page, text) {
    await page.getByLabel("Message", { exact: true }).fill(text);
    await page.keyboard.press("Enter");
    await expect(page.locator(".entry.user", { hasText: text.slice(0, 15) }).last()).toBeVisible();
}

const log = (page) => page.getByRole("log");
const held = (page) => page.locator(".call.held");
const armed = (page) => expect(held(page).last().getByRole("button", { name: /^Approve/ })).toBeEnabled();
const state = (page) => page.locator("nav [aria-current] .state");

async function picture(page, name) {
    if (PICTURES) {
        await page.screenshot({ path: join(PICTURES, `${name}.png`) });
    }
}

test("a complete session: messages, plan, agents, picture, calls, an approval by key", async ({ page }) => {
    await begin(page);
    await say(page, "whole please");
    await expect(held(page)).toBeVisible();
    await expect(page.locator("aside")).toContainText("Find the kettle");
    await expect(page.locator("aside li").first()).toContainText("done: It costs 19.90.");
    await expect(page.locator("aside li[aria-current]").first()).toContainText("Put it into the cart");
    await expect(page.locator("aside")).toContainText("buyer (buy)");
    await expect(page.getByAltText("Picture from browser_take_screenshot")).toHaveJSProperty("naturalWidth", 320);
    await expect(log(page).getByText("I look for the kettle.")).toHaveCount(1);
    await expect(log(page)).toContainText("browser_click failed (not_found) 1.3 s");
    await expect(log(page)).toContainText("record: something_new");
    await expect(held(page)).toContainText("12345678901234567890");
    // What the caller claims about its target is not shown to the person who decides.
    await expect(held(page)).not.toContainText("Total 19.90");
    await expect(held(page)).toContainText("Time left");
    await expect(state(page)).toContainText("1 held · waiting for approval");
    await expect(page.locator("#announcer")).toContainText("Waiting for your approval: send_order");
    await expect(page).toHaveTitle(/^\(\d+\) Waiting for approval/);
    await picture(page, "held");
    await armed(page);
    await page.keyboard.press("y");
    await expect(held(page)).toHaveCount(0);
    await expect(log(page)).toContainText("Approved here");
    await expect(log(page)).toContainText("The kettle is ordered.");
    await expect(log(page)).toContainText("Done · 3 steps · 2034 input tokens · 61 output tokens · 0.0102 US dollars");
    await expect(state(page)).toHaveText("idle");
    // The number has kept its digits on the way to the world and back.
    await expect(page.locator(".call", { hasText: "send_order" }).locator("pre").last()).toContainText('"number": 12345678901234567890');
    await page.getByRole("button", { name: /show it larger/ }).click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await picture(page, "picture");
    await page.getByRole("button", { name: "Close" }).click();
    await picture(page, "done");
});

test("an edit: checked while it is written, shown as a diff, approved", async ({ page }) => {
    await begin(page);
    await say(page, 'send {"to": "kim", "bcc": "spy\u202e", "number": 1.5}');
    await armed(page);
    await page.keyboard.press("e");
    const editor = page.getByLabel("Arguments, as JSON");
    await expect(editor).toBeFocused();
    await expect(editor).toHaveValue(/"spy\\u202e"/);
    const approve = page.getByRole("button", { name: "Approve as edited" });
    await expect(approve).toBeDisabled();
    await editor.fill('{"to": "kim", ');
    await expect(held(page)).toContainText("Invalid JSON");
    await expect(approve).toBeDisabled();
    await editor.fill('[1]');
    await expect(held(page)).toContainText("Arguments must be a JSON object");
    await editor.fill('{"to": "lee", "number": 1.5}');
    await expect(held(page).locator(".panel dl").last()).toContainText('"kim" → "lee"');
    await expect(held(page).locator(".panel dl").last()).toContainText('"spy<U+202E>" → (nothing)');
    await expect(held(page).locator(".panel dl").last()).not.toContainText("number");
    await picture(page, "edit");
    await approve.click();
    await expect(log(page)).toContainText("Approved as edited here");
    await expect(log(page)).toContainText('Result: {"sent": {"to": "lee", "number": 1.5}}');
    await expect(log(page)).toContainText("Arguments as edited");
});

test("a rejection, with a reason", async ({ page }) => {
    await begin(page);
    await say(page, "send");
    await armed(page);
    await page.keyboard.press("n");
    await expect(page.getByLabel("Reason, for the agent")).toBeFocused();
    await page.keyboard.type("yes, too expensive");
    await picture(page, "reject");
    await page.keyboard.press("Enter");
    await expect(log(page)).toContainText("Rejected here");
    await expect(log(page)).toContainText("Reason: yes, too expensive");
    await expect(log(page)).toContainText('Result: "rejected"');
    await expect(page.locator(".call .state")).toHaveText("rejected");
});

test("a rule for the session: its text is shown before it is made", async ({ page }) => {
    await begin(page);
    await say(page, "sends 2");
    await armed(page);
    await held(page).getByRole("button", { name: "Allow for this session" }).click();
    await expect(held(page)).toContainText("every call that matches this rule");
    await expect(held(page).locator("fieldset code").first()).not.toBeEmpty();
    await picture(page, "rule");
    await held(page).getByRole("button", { name: "Back" }).click();
    await armed(page);
    await held(page).getByRole("button", { name: "Allow for this session" }).click();
    await held(page).getByRole("radio").first().check();
    await held(page).getByRole("button", { name: "Allow for this session" }).click();
    await expect(log(page)).toContainText("Approved here");
    await expect(page.locator(".entry.final")).toBeVisible();
    await expect(page.locator(".call .state")).toHaveText(["ok", "ok"]);
});

test("one call after the other, by key", async ({ page }) => {
    await begin(page);
    await say(page, "sends 3");
    for (const number of [0, 1, 2]) {
        await expect(held(page)).toContainText(`"number": ${number}`);
        await expect(held(page)).toBeFocused();
        await armed(page);
        await page.keyboard.press("y");
    }
    await expect(page.locator(".call .state")).toHaveText(["ok", "ok", "ok"]);
    await expect(page.getByLabel("Message", { exact: true })).toHaveValue("");
});

test("keys typed ahead or into a text field approve nothing", async ({ page }) => {
    await begin(page);
    await page.getByLabel("Message", { exact: true }).fill("send");
    await page.keyboard.press("Enter");
    await held(page).waitFor();
    // Each key restarts the time.
    for (let i = 0; i < 8; i += 1) {
        await page.keyboard.press("y");
        await page.waitForTimeout(100);
    }
    await expect(held(page)).toBeVisible();
    await armed(page);
    await page.getByLabel("Message", { exact: true }).focus();
    await page.keyboard.type("yen");
    await expect(page.getByLabel("Message", { exact: true })).toHaveValue(/yen$/);
    await expect(held(page)).toBeVisible();
    await held(page).focus();
    await page.keyboard.press("Control+y");
    await page.waitForTimeout(100);
    await expect(held(page)).toBeVisible();
    await page.keyboard.press("y");
    await expect(log(page)).toContainText("Approved here");
});

test("a person who is writing keeps the focus when a call is held", async ({ page, context }) => {
    const id = await begin(page);
    const other = await context.newPage();
    other.faults = page.faults;
    watch(other);
    await show(other, id);
    await page.getByLabel("Message", { exact: true }).focus();
    await page.keyboard.type("next I want");
    // From another window, so that the call is held while this person writes, and not before.
    await say(other, "send");
    await held(page).waitFor();
    await armed(page);
    await expect(page.getByLabel("Message", { exact: true })).toBeFocused();
    await expect(page.getByLabel("Message", { exact: true })).toHaveValue("next I want");
});

test("a question with options, and one with a text answer", async ({ page }) => {
    await begin(page);
    await say(page, "question");
    await expect(state(page)).toHaveText("asks you");
    await expect(page.getByLabel("Message", { exact: true })).toBeFocused();
    await picture(page, "question");
    await page.getByRole("button", { name: "blue" }).click();
    await expect(log(page)).toContainText("It is blue.");
    await expect(page.getByRole("button", { name: "red" })).toBeDisabled();
    await say(page, "question");
    await say(page, "green");
    await expect(log(page)).toContainText("It is green.");
});

test("a step that only the person can do", async ({ page }) => {
    await begin(page);
    await say(page, "manual");
    await expect(page.locator("#manual")).toContainText("Please log in at the shop.");
    await expect(state(page)).toHaveText("waiting for you");
    await picture(page, "manual");
    await page.getByRole("button", { name: "Done" }).click();
    await expect(log(page)).toContainText("You wrote: done.");
    await expect(page.locator("#manual")).toBeHidden();
});

test("a question from a tool: a form for its schema", async ({ page }) => {
    await begin(page);
    await say(page, "input");
    const form = page.getByRole("form", { name: "A tool asks" });
    await expect(form).toContainText("How shall it be sent?");
    await form.getByRole("spinbutton").fill("3");
    await form.getByLabel(/^speed/).selectOption("fast");
    await form.getByRole("checkbox").check();
    await picture(page, "input");
    await form.getByRole("button", { name: "Send" }).click();
    await expect(log(page)).toContainText('Answer: {"count": 3, "gift": true, "speed": "fast"}');
    await expect(form).toHaveCount(0);
    await say(page, "input");
    await form.getByRole("button", { name: "Decline" }).click();
    await expect(log(page)).toContainText("Answer: null");
});

test("a stream: the complete message replaces it, and void text is removed", async ({ page }) => {
    await begin(page);
    await say(page, "stream 8");
    await expect(page.locator(".entry[aria-busy]")).toContainText("word3");
    await expect(page.locator(".entry.final")).toBeVisible();
    await expect(page.locator(".entry.assistant")).toHaveCount(1);
    await expect(page.locator(".entry.assistant")).toContainText("word0 word1 word2 word3 word4 word5 word6 word7");
    await expect(page.locator(".entry[aria-busy]")).toHaveCount(0);
    await say(page, "restarted");
    await expect(log(page)).toContainText("This counts.");
    await expect(log(page)).not.toContainText("void");
});

test("a lost connection: the page reconnects, and shows each record once", async ({ page }) => {
    const servers = [];
    await page.routeWebSocket(/\/ws/, (socket) => {
        servers.push({ socket, address: socket.url() });
        socket.connectToServer();
    });
    await begin(page);
    await say(page, "stream 25");
    await expect(log(page)).toContainText("word5");
    await servers.at(-1).socket.close({ code: 1012, reason: "test" });
    await expect(page.locator("#connection")).toHaveText("Connection lost, reconnecting");
    await picture(page, "lost");
    await expect(page.locator("#connection")).toHaveText("Connected");
    expect(servers.at(-1).address).toMatch(/\?after=\d+$/);
    await expect(page.locator(".entry.final")).toBeVisible();
    await expect(page.locator(".entry.assistant")).toHaveCount(1);
    const words = [...Array(25).keys()].map((number) => `word${number}`).join(" ");
    await expect(page.locator(".entry.assistant .text")).toHaveText(words);
    await expect(page.locator(".entry.user")).toHaveCount(1);
});

test("a lost connection while a call is held", async ({ page }) => {
    const sockets = [];
    let lost = 0;
    await page.routeWebSocket(/\/ws/, (socket) => {
        sockets.push(socket);
        const server = socket.connectToServer();
        // The first answer is lost.
        socket.onMessage((message) => message.includes("hitl_response") && lost++ === 0 ? undefined : server.send(message));
    });
    await begin(page);
    await say(page, "send");
    await armed(page);
    await page.keyboard.press("y");
    await expect(held(page)).toContainText("Answer sent.");
    await sockets.at(-1).close({ code: 1012, reason: "test" });
    await expect(held(page)).toContainText("the answer may not have arrived");
    await armed(page);
    await held(page).getByRole("button", { name: "Approve" }).click();
    await expect(log(page)).toContainText("Approved here");
});

test("missed records, an error for this window only, a repeated question, a closed session", async ({ page }) => {
    await page.routeWebSocket(/\/ws/, (socket) => {
        const send = (record) => socket.send(JSON.stringify(record));
        const call = { type: "tool_call", call_id: 1, tool_name: "rm", arguments: { path: "a" } };
        const question = { ...call, nonce: "n", requires_approval: true, arguments_sha256: "0" };
        send({ type: "gap", first: 5, last: 1004, seq: 1004 });
        send({ ...question, seq: 1005 });
        // The agent's own record describes the call differently.
        send({ ...call, tool_name: "ls", arguments: { path: "b" }, seq: 1006 });
        socket.onMessage((message) => {
            const record = JSON.parse(message);
            if (record.type === "hitl_response") {
                send({ type: "error", context: { call_id: 1 }, content: "the answer was not accepted: why not" });
            } else {
                send({ type: "error", context: {}, content: "it is no message" });
                socket.close({ code: 1000, reason: "the session is closed" });
            }
        });
    });
    await begin(page);
    await expect(log(page)).toContainText("1000 records left out");
    await expect(page.locator(".call")).toHaveCount(1);
    await expect(held(page)).toContainText("rm");
    await expect(held(page)).not.toContainText('"b"');
    await armed(page);
    await page.keyboard.press("y");
    await expect(held(page)).toContainText("the answer was not accepted: why not");
    await armed(page);
    await page.getByLabel("Message", { exact: true }).fill("x");
    await page.getByLabel("Message", { exact: true }).press("Enter");
    await expect(log(page)).toContainText("it is no message");
    await expect(page.locator("#connection")).toHaveText("Session closed");
    await expect(held(page)).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Restart" })).toBeVisible();
});

test("two windows on one session: the first answer counts", async ({ page, context }) => {
    const id = await begin(page);
    const other = await context.newPage();
    other.faults = page.faults;
    watch(other);
    await show(other, id);
    await say(page, "send");
    await expect(held(page)).toBeVisible();
    await expect(held(other)).toBeVisible();
    await expect(other.locator(".entry.user")).toContainText("send");
    await armed(other);
    await held(other).getByRole("button", { name: "Approve" }).click();
    await expect(log(other)).toContainText("Approved here");
    await expect(log(page)).toContainText("Approved in another window");
    await expect(held(page)).toHaveCount(0);
    await picture(page, "other-window");
    await other.reload();
    await expect(log(other)).toContainText("Approved in another window");
    await expect(held(other)).toHaveCount(0);
});

test("two windows answer at the same time: one answer counts, and both windows show which", async ({ page, context }) => {
    const id = await begin(page);
    const other = await context.newPage();
    await show(other, id);
    await say(page, "send");
    await armed(page);
    await armed(other);
    await held(other).getByRole("button", { name: "Reject" }).click();
    await Promise.all([
        other.getByLabel("Reason, for the agent").press("Enter"),
        held(page).getByRole("button", { name: "Approve" }).click({ noWaitAfter: true, timeout: 1000 }).catch(() => undefined),
    ]);
    await expect(held(page)).toHaveCount(0);
    await expect(held(other)).toHaveCount(0);
    const here = /(Approved|Rejected) here/;
    const [first, second] = [await log(page).textContent(), await log(other).textContent()];
    expect([here.test(first), here.test(second)].filter(Boolean)).toHaveLength(1);
    expect([first, second].filter((text) => text.includes("in another window"))).toHaveLength(1);
    const verdict = (text) => text.match(/(Approved|Rejected) (here|in another)/)[1];
    expect(verdict(first)).toBe(verdict(second));
});

test("hostile records are text: HTML, escape sequences, bidi, a long argument", async ({ page }) => {
    await begin(page);
    await say(page, "hostile");
    await expect(log(page)).toContainText('<img src=x onerror="document.title=\'taken\'">');
    await expect(log(page)).toContainText("pay<U+202E>knab<U+202C> <U+001B>[31mred<U+001B>[0m");
    await expect(page.locator("aside")).toContainText("<U+202E>");
    await expect(log(page)).toContainText("record: constructor");
    await expect(log(page)).toContainText("record: __proto__");
    await picture(page, "hostile-input");
    await page.getByRole("form", { name: "A tool asks" }).getByRole("button", { name: "Decline" }).click();
    await expect(held(page)).toBeVisible();
    await expect(held(page)).toContainText("<300 blanks>");
    await expect(held(page)).toContainText("END");
    await expect(held(page)).not.toContainText("MIDDLE");
    const shown = (await held(page).textContent()).length;
    expect(shown).toBeLessThan(20_000);
    await picture(page, "hostile");
    const whole = held(page).getByRole("button", { name: "Show all" }).first();
    await whole.click();
    await expect(held(page)).toContainText("MIDDLE");
    const foreign = await page.evaluate(() => document.querySelectorAll("main img:not([alt]), script:not([src]), main b, main script").length);
    expect(foreign).toBe(0);
    expect(await page.evaluate(() => /[\u202a-\u202e\u001b]/.test(document.body.textContent))).toBe(false);
    await expect(page).not.toHaveTitle("taken");
    await armed(page);
    await page.keyboard.press("y");
    await expect(page.locator(".call .state").last()).toHaveText("ok");
});

test("with the keyboard only: start a session, write, edit, stop", async ({ page }) => {
    // In a page that has shown no other session: one of another test may ask something, which moves the focus.
    const id = await begin(page);
    await page.goto("about:blank");
    await show(page, id);
    await page.keyboard.press("Tab");
    await expect(page.getByRole("button", { name: "Skip to the message box" })).toBeFocused();
    await picture(page, "skip");
    await page.keyboard.press("Enter");
    await expect(page.getByLabel("Message", { exact: true })).toBeFocused();
    const newSession = page.getByRole("button", { name: "New session" });
    await tabTo(page, newSession, "Shift+Tab");
    await page.keyboard.press("Enter");
    await expect(page.getByLabel("Message", { exact: true })).toBeFocused();
    await expect(page.locator("#connection")).toHaveText("Connected");
    await page.keyboard.type("send");
    await page.keyboard.press("Enter");
    await expect(held(page)).toBeFocused();
    await tabTo(page, held(page).getByRole("button", { name: "Edit" }), "Tab");
    await armed(page);
    await page.keyboard.press("Enter");
    await expect(page.getByLabel("Arguments, as JSON")).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(held(page)).toBeFocused();
    await armed(page);
    await page.keyboard.press("y");
    await expect(page.locator(".entry.final")).toBeVisible();
    await tabTo(page, page.getByLabel("Message", { exact: true }), "Tab");
    await page.keyboard.type("line 1");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("line 2");
    await page.keyboard.press("Enter");
    await expect(page.locator(".entry.user").last()).toContainText("line 1\nline 2");
    await page.keyboard.type("wait");
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByRole("button", { name: "Stop" }), "Shift+Tab");
    await page.keyboard.press("Enter");
    await expect(log(page)).toContainText("Stopped");
    await expect(page.getByRole("button", { name: "Stop" })).toBeHidden();
});

async function tabTo(page, target, key) {
    const passed = [];
    for (let i = 0; i < 60; i += 1) {
        passed.push(await page.evaluate(() => `${document.activeElement.tagName}#${document.activeElement.id}`));
        if (await target.evaluate((element) => element === document.activeElement).catch(() => false)) {
            return;
        }
        await page.keyboard.press(key);
    }
    throw new Error(`it is not reached by Tab: ${passed.join(" ")}`);
}

test("several sessions: each keeps its view, and calls held elsewhere are shown", async ({ page }) => {
    const first = await begin(page);
    await say(page, "echo one");
    await expect(log(page)).toContainText("You said: one");
    const second = await begin(page);
    await say(page, "sends 1");
    await held(page).waitFor();
    await page.getByLabel("Message", { exact: true }).fill("a draft");
    await page.locator(`nav a[href$="#${first}"]`).click();
    await expect(log(page)).toContainText("You said: one");
    await expect(page.getByLabel("Message", { exact: true })).toHaveValue("");
    await expect(page.locator(`nav a[href$="#${second}"]`)).toContainText("1 held", { timeout: 7000 });
    await picture(page, "sessions");
    await page.locator(`nav a[href$="#${second}"]`).click();
    expect(new URL(page.url()).hash).toBe(`#${second}`);
    await expect(held(page)).toBeVisible();
    await expect(page.locator(".entry.user")).toHaveCount(1);
    await expect(page.getByLabel("Message", { exact: true })).toHaveValue("a draft");
    await page.getByLabel("Message", { exact: true }).fill("");
    await armed(page);
    await held(page).getByRole("button", { name: "Approve" }).click();
    await expect(page.locator(".entry.final")).toBeVisible();
});

test("an ended agent is restarted", async ({ page }) => {
    await begin(page);
    await say(page, "exit 3");
    await expect(state(page)).toHaveText("ended");
    await expect(log(page)).toContainText("the agent ended");
    await expect(page.locator(".entry.error")).toHaveCount(1);
    await picture(page, "ended");
    await page.getByRole("button", { name: "Restart" }).click();
    await expect(page.getByRole("button", { name: "Restart" })).toBeHidden();
    await say(page, "echo again");
    await expect(log(page)).toContainText("You said: again");
    await expect(page.locator(".entry.user")).toHaveCount(2);
});

test("a held call is withdrawn when the agent is stopped, and when it ends", async ({ page }) => {
    await begin(page);
    await say(page, "send");
    await held(page).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect(held(page)).toHaveCount(0);
    await expect(log(page)).toContainText("Rejected because the agent withdrew it");
    await say(page, "send");
    await held(page).waitFor();
    await say(page, "exit");
    await expect(held(page)).toHaveCount(0);
    await expect(log(page)).toContainText("Rejected because the agent ended");
});

test("a recording: everything is shown, and nothing can be sent", async ({ page }) => {
    const { PIPEWRIGHT_REPLAY_URL: replay } = process.env;
    test.skip(!replay);
    await page.goto(replay);
    await expect(page.locator("#connection")).toHaveText("Recording");
    await expect(log(page)).toContainText("I look for the kettle.");
    await expect(page.locator("aside")).toContainText("Find the kettle");
    await expect(page.getByLabel("Message", { exact: true })).toBeDisabled();
    await expect(page.getByRole("button", { name: "Send" })).toBeDisabled();
    await expect(page.getByRole("button", { name: "New session" })).toBeDisabled();
    await expect(page.getByRole("button", { name: "Restart" })).toBeHidden();
    await page.waitForTimeout(700);
    await expect(held(page).getByRole("button", { name: "Approve" })).toBeDisabled();
    await page.keyboard.press("y");
    await expect(held(page)).toBeVisible();
    await axe(page, "recording");
    await picture(page, "recording");
});

test("without a session, the first message starts one", async ({ page }) => {
    // The server has sessions of other tests, which this window must not show.
    await page.route("**/sessions", (route) => route.request().method() === "GET" ? route.fulfill({ json: { sessions: [] } }) : route.continue());
    await page.goto(ADDRESS);
    await expect(page.locator("#connection")).toContainText("write a message to start one");
    await say(page, "echo first");
    await expect(log(page)).toContainText("You said: first");
    expect(new URL(page.url()).hash).toMatch(/^#./);
});

test("the latest of many entries are kept", async ({ page }) => {
    await begin(page);
    await say(page, "many 2500");
    await expect(log(page)).toContainText("entry 2499");
    expect(await log(page).evaluate((element) => element.childElementCount)).toBeLessThanOrEqual(2001);
    await expect(log(page).locator(":scope > *").first()).toContainText("older entries left out");
});

for (const colorScheme of ["light", "dark"]) {
    test.describe(`axe, ${colorScheme}`, () => {
        test.use({ colorScheme });
        test("no violations in any state", async ({ page }) => {
            test.slow();
            await page.goto(ADDRESS);
            await axe(page, "no session");
            await begin(page);
            await axe(page, "empty");
            await say(page, "whole");
            await armed(page);
            await page.keyboard.press("y");
            await page.locator(".entry.final").waitFor();
            await say(page, "send");
            await held(page).waitFor();
            await axe(page, "held, not armed");
            await armed(page);
            await axe(page, "held");
            await picture(page, `held-${colorScheme}`);
            await page.keyboard.press("e");
            await page.getByLabel("Arguments, as JSON").fill('{"a": 1}');
            await axe(page, "edit");
            await page.getByRole("button", { name: "Back" }).click();
            await armed(page);
            await page.keyboard.press("n");
            await axe(page, "reject");
            await page.getByRole("button", { name: "Back" }).click();
            await armed(page);
            await held(page).getByRole("button", { name: "Allow for this session" }).click();
            await axe(page, "rule");
            await page.getByRole("button", { name: "Back" }).click();
            await armed(page);
            await page.keyboard.press("y");
            await expect(page.locator(".entry.final")).toHaveCount(2);
            await page.evaluate(() => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
            await axe(page, "done");
            await page.getByRole("button", { name: /show it larger/ }).click();
            await axe(page, "picture");
            await page.keyboard.press("Escape");
            await say(page, "question");
            await page.getByRole("button", { name: "blue" }).waitFor();
            await axe(page, "question");
            await say(page, "red");
            await say(page, "manual");
            await page.locator("#manual").waitFor();
            await axe(page, "manual");
            await page.getByRole("button", { name: "Done" }).click();
            await say(page, "input");
            await page.getByRole("form", { name: "A tool asks" }).waitFor();
            await axe(page, "input");
            await picture(page, `input-${colorScheme}`);
            await page.getByRole("button", { name: "Decline" }).click();
            await say(page, "stream 10");
            await page.locator("[aria-busy]").waitFor();
            await axe(page, "stream");
            await say(page, "hostile");
            await page.getByRole("form", { name: "A tool asks" }).waitFor();
            await axe(page, "hostile");
            await page.getByRole("button", { name: "Decline" }).click();
            await held(page).waitFor();
            await armed(page);
            await axe(page, "hostile, held");
            await page.keyboard.press("y");
            await expect(state(page)).toHaveText("idle");
            await say(page, "exit 1");
            await expect(state(page)).toHaveText("ended");
            await axe(page, "ended");
        });
    });
}

async function axe(page, where) {
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    const found = violations.map((each) => `${each.id}: ${each.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`);
    expect(found, where).toEqual([]);
}

for (const width of [320, 360]) {
    test.describe(`phone, ${width} px`, () => {
        test.use({ viewport: { width, height: 640 }, hasTouch: true });
        test("everything fits, and the plan is below the log", async ({ page }) => {
            await begin(page);
            await say(page, "whole");
            await held(page).waitFor();
            await expectNoOverflow(page);
            await picture(page, `phone-held-${width}`);
            await expect(page.locator("aside")).toContainText("Plan, agents, picture");
            await expect(page.getByText("Find the kettle")).toBeHidden();
            await page.getByText("Plan, agents, picture").click();
            await expect(page.getByText("Find the kettle")).toBeVisible();
            await expectNoOverflow(page);
            await picture(page, `phone-plan-${width}`);
            await page.getByText("Plan, agents, picture").click();
            await armed(page);
            await held(page).getByRole("button", { name: "Edit" }).tap();
            await expectNoOverflow(page);
            await picture(page, `phone-edit-${width}`);
            await page.getByRole("button", { name: "Back" }).tap();
            await armed(page);
            await held(page).getByRole("button", { name: "Approve" }).tap();
            await page.locator(".entry.final").waitFor();
            await say(page, "hostile");
            await page.getByRole("button", { name: "Decline" }).tap();
            await held(page).waitFor();
            await expectNoOverflow(page);
            await picture(page, `phone-hostile-${width}`);
            await axe(page, "phone");
        });
    });
}

async function expectNoOverflow(page) {
    const wide = await page.evaluate(() => [document.documentElement, ...document.querySelectorAll(".log, .log > *, aside, #composer")]
        .filter((element) => element.scrollWidth > element.clientWidth + 1).map((element) => element.outerHTML.slice(0, 1000)));
    expect(wide).toEqual([]);
}
