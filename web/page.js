// The page of agent-serve: shows the records of sessions (docs/protocol.md), and sends the person's messages and answers.
// All text in records is foreign: it is added to the page only as text nodes.

const MOST_ENTRIES = 2000;
/** The most characters of records that are kept of each session. */
const MOST_CHARACTERS = 32 << 20;
const MOST_SHOWN = 2000;
const MOST_SHOWN_OF_MESSAGE = 20_000;
/** For this long after a held call appears, no key approves it, so that keys typed ahead do not. */
const UNARMED_MS = 500;
const POLL_MS = 5000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;

// JSON

/** Numbers that JavaScript would rewrite keep their original text: the person must approve exactly what is sent. */
function parse(text) {
    if (!JSON.rawJSON) return JSON.parse(text);
    const keepDigits = (_key, value, { source }) => typeof value === "number" && String(value) !== source ? JSON.rawJSON(source) : value;
    return JSON.parse(text, keepDigits);
}

const numberOf = (value) => typeof value === "number" ? value : JSON.isRawJSON?.(value) ? Number(value.rawJSON) : undefined;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON?.(value);
const listOf = (value) => Array.isArray(value) ? value : [];
/** A string unchanged, any other value as JSON. */
const textOf = (value) => typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

/** A table's entry for a foreign key. */
const named = (table, key) => Object.hasOwn(table, key) ? table[key] : undefined;

// Foreign text

const INVISIBLE = /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{16fe4}\u{1d159}]/gu;
const STEERING = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;
/** Shortens runs of blanks, except at the beginning of a line, where they are indentation. */
const MANY_BLANKS = /(?<=\S) {9,}/g;
const codePoint = (character) => `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
/** Replaces characters that are invisible or change how other text is displayed. */
const visible = (text) => text.replace(INVISIBLE, codePoint).replace(MANY_BLANKS, (blanks) => `<${blanks.length} blanks>`);
/** For texts of agents and people, in all scripts. */
const readable = (text) => text.replace(STEERING, codePoint);

/** The beginning and the end of an overlong text. */
function ends(text, most) {
    if (text.length <= most) return text;
    const first = Math.ceil(most * 0.7);
    const last = most - first;
    return `${text.slice(0, first)} ...(${text.length - most} more characters)... ${text.slice(-last)}`;
}

const shortened = (_key, value) => typeof value === "string" ? ends(value, MOST_SHOWN / 2) : value;

/** For an editor: JSON with invisible characters escaped. */
function editable(value) {
    const escape = (character) => [...Array(character.length).keys()].map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`);
    return JSON.stringify(value, null, 2).replace(INVISIBLE, (character) => escape(character).join(""));
}

/** The text of a result: of an MCP result that has only texts, these texts. */
function resultText(result) {
    const blocks = isObject(result) ? listOf(result.content) : [];
    const isText = (block) => block?.type === "text" && typeof block.text === "string";
    return blocks.length > 0 && blocks.every(isText) ? blocks.map((block) => block.text).join("\n") : result;
}

function duration(milliseconds) {
    const seconds = Math.round(milliseconds / 1000);
    if (milliseconds === undefined) return "";
    if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
    return seconds < 60 ? `${(milliseconds / 1000).toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// Elements

/** Functions are listeners, `true` sets an attribute without a value. Attribute names must be constants. */
function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") element.addEventListener(name, value);
        else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== undefined));
    return element;
}

const button = (text, click, attributes = {}) => make("button", { type: "button", click, ...attributes }, text);
const byId = (id) => document.getElementById(id);

/** Text in a block; `short` is the part of a long text that is shown until the person asks for all of it. */
function block(tag, short, whole) {
    const text = make(tag, { class: "text" }, short);
    if (short === whole()) return text;
    const showAll = button("Show all", () => {
        text.textContent = whole();
        showAll.remove();
    });
    return make("div", {}, text, showAll);
}

function valueBlock(value) {
    if (typeof value === "string") return block("pre", visible(ends(value, MOST_SHOWN)), () => visible(value));
    const whole = () => visible(JSON.stringify(value, null, 2));
    return block("pre", ends(visible(JSON.stringify(value, shortened, 2)), MOST_SHOWN * 2), whole);
}

const messageBlock = (text) => block("div", readable(ends(text, MOST_SHOWN_OF_MESSAGE)), () => readable(text));
const isTextField = (element) => element?.matches?.("input, textarea, select") ?? false;

/** Rows of a term and its description; rows without a description are omitted. */
function facts(rows) {
    const shown = rows.filter(([, value]) => value !== undefined && value !== "");
    return make("dl", { class: "facts" }, ...shown.flatMap(([term, value]) => [
        make("dt", {}, term),
        make("dd", { class: "text" }, value instanceof Node ? value : visible(ends(textOf(value), MOST_SHOWN))),
    ]));
}

function announce(text) {
    byId("announcer").textContent = "";
    // Screen readers do not read a text that is replaced at once.
    setTimeout(() => { byId("announcer").textContent = text; }, 50);
}

// Calls

const CALL_STATES = {
    running: ["\u25b6", "running"], waiting: ["\u25d0", "waiting for your approval"], ok: ["\u2713", "ok"],
    failed: ["\u2717", "failed"], rejected: ["\u2298", "rejected"], unknown: ["?", "no result"],
};

const VERDICTS = { approved: "Approved", edited: "Approved as edited", rejected: "Rejected" };
const SETTLED_BY = {
    terminal: "at the terminal", answers: "over the answers channel", client: "in the MCP client", approver: "in another window",
    session: "by a rule for this session", timeout: "because nobody answered in time", nobody: "because nobody can be asked",
    end: "because the agent ended", caller: "because the agent withdrew it",
};

/** One call: its tool and arguments, its state, and, while a gate holds it, the question. */
class Call {
    constructor(view, record) {
        this.view = view;
        this.summary = make("summary");
        [this.inputs, this.output, this.settlements] = [make("div"), make("div"), make("div")];
        this.details = make("details", {}, this.summary, this.inputs, this.output);
        this.entry = make("div", { class: "entry call", role: "group", tabindex: "-1" }, this.details, this.settlements);
        this.describe(record);
    }

    /** Takes the tool and arguments from a record; once a gate has asked, the gate's version counts. */
    describe(record) {
        this.target = isObject(record.target) ? record.target : undefined;
        const shownTarget = [this.target?.role, this.target?.name && `"${textOf(this.target.name)}"`, this.target?.context];
        this.targetText = visible(ends(shownTarget.filter(Boolean).map(textOf).join(" "), 200));
        this.toolText = visible(ends(typeof record.tool_name === "string" ? record.tool_name : "a tool", 200));
        this.arguments = record.arguments ?? record.args;
        const inputs = this.arguments === undefined ? [] : [make("p", { class: "title" }, "Arguments"), valueBlock(this.arguments)];
        this.inputs.replaceChildren(...inputs);
        this.setState(this.state ?? "running");
    }

    setState(state) {
        this.state = state;
        const [icon, text] = CALL_STATES[state];
        const kind = state === "failed" && this.kind ? ` (${visible(ends(this.kind, 100))})` : "";
        this.summary.replaceChildren(
            make("span", { "aria-hidden": "true", class: state }, `${icon} `),
            make("code", { class: "name" }, this.toolText), " ",
            make("span", { class: "name" }, this.targetText), " ",
            make("span", { class: `state ${state}` }, `${text}${kind}`), " ",
            make("span", { class: "duration" }, this.took),
        );
        this.entry.setAttribute("aria-label", `Call of ${this.toolText}, ${text}`);
    }

    get isOver() { return this.hasResult || this.state === "unknown"; }

    hold(record) {
        this.describe(record);
        this.question = new Question(this, record);
        this.details.open = true;
        this.entry.classList.add("held");
        this.entry.append(this.question.panel);
        this.setState("waiting");
    }

    closeQuestion() {
        this.question?.close();
        this.question = undefined;
        this.entry.classList.remove("held");
    }

    /** The question is settled: how, as text for people. The result of the call may have arrived before. */
    settle(text, state) {
        this.closeQuestion();
        this.settlements.append(make("p", { class: "text title" }, text));
        if (!this.isOver) this.setState(state);
    }

    finish(record) {
        this.closeQuestion();
        this.hasResult = true;
        this.kind = typeof record.kind === "string" ? record.kind : undefined;
        this.took = duration(numberOf(record.duration_ms));
        const isRejected = ["rejected", "denied", "needs_approval"].includes(this.kind);
        const isOk = record.status === "ok" || (record.status === undefined && record.error === undefined);
        const value = isOk ? resultText(record.result) : record.error ?? record.data;
        const title = make("p", { class: "title" }, isOk ? "Result" : record.maybe_executed === true ? "Error; it may have been executed" : "Error");
        this.output.replaceChildren(title, ...value === undefined ? [] : [valueBlock(value)]);
        this.setState(isOk ? "ok" : isRejected ? "rejected" : "failed");
    }
}

/** The labels for the methods of a question. */
const DECISIONS = [
    { name: "approve", key: "y", text: "Approve", kind: "primary" },
    { name: "edit", key: "e", text: "Edit", kind: "" },
    { name: "reject", key: "n", text: "Reject", kind: "dangerous" },
];

/** A gate's question about a call: a panel with the decisions. */
class Question {
    constructor(call, record) {
        this.call = call;
        this.record = record;
        this.time = make("span", { role: "timer" });
        this.problem = make("p", { class: "problem", role: "alert" });
        this.choice = make("div");
        this.panel = make("div", { class: "panel" }, make("h2", {}, "Waiting for your approval"), this.facts(), this.problem, this.choice);
        this.isOpen = true;
        this.offer();
        this.timer = setInterval(() => this.showTime(), 1000);
        this.showTime();
    }

    facts() {
        const { policy, caller, beside_arguments: beside } = this.record;
        const target = this.call.target ?? {};
        return facts([
            ["Tool", make("code", {}, this.call.toolText)],
            ["Target", [target.role, target.name].filter(Boolean).map(textOf).join(" ")],
            ["Context", target.context], ["Value", target.value],
            ["Reason", policy?.reason], ["Rule", policy?.rule],
            ["Caller", caller], ["Beside the arguments", beside],
            ["Time left", this.record.expires_at ? this.time : undefined],
        ]);
    }

    showTime() {
        const left = Date.parse(this.record.expires_at) - Date.now();
        this.time.textContent = left > 0 ? duration(Math.ceil(left / 1000) * 1000).replace(".0", "") : "none";
    }

    close() {
        clearInterval(this.timer);
        this.isOpen = false;
        this.panel.remove();
    }

    /** Accepts no decision for a moment. */
    arm() {
        this.setArmed(false);
        clearTimeout(this.arming);
        this.arming = setTimeout(() => this.setArmed(this.isOpen && !isReplay()), UNARMED_MS);
    }

    setArmed(isArmed) {
        this.isArmed = isArmed;
        this.choice.querySelectorAll("button.decision").forEach((each) => { each.disabled = !isArmed; });
    }

    /** Shows the possible decisions. */
    offer() {
        this.isOffering = true;
        this.sent = this.call.answer = undefined;
        const decisions = DECISIONS.map(({ name, key, text, kind }) => {
            const decision = button(`${text} `, () => this[name](), { class: `decision ${kind}`, "aria-keyshortcuts": key });
            decision.append(make("kbd", { "aria-hidden": "true" }, key));
            return decision;
        });
        if (listOf(this.record.rule_offers).length > 0) {
            decisions.push(button("Allow for this session", () => this.allow(), { class: "decision" }));
        }
        this.choice.replaceChildren(make("div", { class: "buttons" }, ...decisions));
        this.arm();
    }

    /** Shows the second step of a decision: `send` is its button. */
    ask(first, decide, send, ...children) {
        this.isOffering = false;
        const submit = (event) => {
            event.preventDefault();
            decide();
        };
        const keydown = (event) => event.key === "Escape" && this.back();
        const buttons = make("div", { class: "buttons" }, send, button("Back", () => this.back()));
        this.choice.replaceChildren(make("form", { submit, keydown }, ...children, buttons));
        this.choice.scrollIntoView({ block: "nearest" });
        first.focus({ preventScroll: true });
    }

    back() {
        this.offer();
        this.call.entry.focus();
    }

    approve() {
        if (this.isArmed) {
            this.send({ action: "approve" });
        }
    }

    reject() {
        if (!this.isArmed) return;
        const reason = make("input", { type: "text", autocomplete: "off" });
        const decide = () => this.send({ action: "reject", feedback: reason.value || undefined });
        const label = make("label", {}, "Reason, for the agent (optional)", reason);
        this.ask(reason, decide, make("button", { class: "dangerous" }, "Reject"), label);
    }

    allow() {
        if (!this.isArmed) return;
        const offers = this.record.rule_offers.map(textOf);
        const choices = offers.map((rule, at) => make("input", { type: "radio", name: "rule", value: at, checked: at === offers.length - 1 }));
        const labels = offers.map((rule, at) => make("label", {}, choices[at], " ", make("code", { class: "text" }, visible(rule))));
        const decide = () => this.send({ action: "approve", scope: "session", rule: offers[choices.findIndex((choice) => choice.checked)] });
        const legend = make("legend", {}, "Approve this call, and every call that matches this rule until the end of the session");
        const send = make("button", { class: "decision primary" }, "Allow for this session");
        this.ask(choices.at(-1), decide, send, make("fieldset", {}, legend, ...labels));
        this.arm();
    }

    edit() {
        if (!this.isArmed) return;
        const old = this.call.arguments ?? {};
        const text = make("textarea", { class: "code", spellcheck: "false", input: () => check() });
        const [problem, changes] = [make("p", { class: "problem", role: "status" }), make("div")];
        const send = make("button", { class: "primary" }, "Approve as edited");
        const check = () => {
            const [edited, why] = readArguments(text.value);
            const changed = edited === undefined ? [] : differences(old, edited);
            problem.textContent = why ?? (changed.length === 0 ? "Nothing was changed." : "");
            changes.replaceChildren(facts(changed));
            send.disabled = changed.length === 0;
        };
        text.value = editable(old);
        text.rows = Math.min(12, text.value.split("\n").length + 1);
        check();
        const decide = () => this.send({ action: "edit", edited_arguments: readArguments(text.value)[0], replace: true });
        this.ask(text, decide, send, make("label", {}, "Arguments, as JSON", text), problem, changes);
    }

    send(decision) {
        const { call_id, nonce, arguments_sha256 } = this.record;
        if (!this.isOpen || this.sent || !this.call.view.send({ type: "hitl_response", call_id, nonce, arguments_sha256, ...decision })) return;
        this.sent = decision;
        this.problem.textContent = "";
        this.showAnswered("Answer sent.");
        this.call.entry.focus();
    }

    showAnswered(text) {
        this.isOffering = false;
        this.choice.replaceChildren(make("p", { role: "status" }, text));
    }

    /** An answer has reached the server, from this window or another. */
    takeAnswer(answer) {
        this.call.isAnsweredHere = this.sent?.action === answer.action && this.sent.feedback === answer.feedback;
        if (!this.call.isAnsweredHere) this.showAnswered("Answered in another window.");
    }

    /** The answer was refused, or may not have arrived. */
    offerAgain(why) {
        this.problem.textContent = why;
        this.offer();
    }
}

/** The arguments in a text, or why they are invalid. */
function readArguments(text) {
    try {
        const value = parse(text);
        return isObject(value) ? [value] : [undefined, "Arguments must be a JSON object: {...}"];
    } catch (error) {
        return [undefined, `Invalid JSON: ${error.message}`];
    }
}

/** Rows for the keys that differ. */
function differences(old, edited) {
    const written = (object, key) => Object.hasOwn(object, key) ? JSON.stringify(object[key]) : undefined;
    const keys = [...new Set([...Object.keys(old), ...Object.keys(edited)])];
    const shown = (value) => value === undefined ? "(nothing)" : visible(ends(value, MOST_SHOWN / 2));
    const changed = keys.filter((key) => written(old, key) !== written(edited, key));
    return changed.map((key) => [visible(key), make("span", {}, shown(written(old, key)), " \u2192 ", shown(written(edited, key)))]);
}

// Questions of tools

/** A form for an `input_request`. */
class InputForm {
    constructor(view, record) {
        this.view = view;
        this.record = record;
        const params = isObject(record.params) ? record.params : {};
        const schema = params.requestedSchema ?? record.schema;
        const message = textOf(params.message ?? record.message ?? record.method ?? "A tool asks");
        const source = [record.tool, record.server, record.source].filter(Boolean).map(textOf)[0];
        const { requestedSchema: _schema, message: _message, ...others } = params;
        this.fields = fieldsOf(schema);
        this.problem = make("p", { class: "problem", role: "alert" });
        this.entry = make("form", { class: "entry call ask", "aria-label": "A tool asks", submit: (event) => this.accept(event) },
            make("h2", {}, source ? `${visible(ends(source, 200))} asks` : "A tool asks"),
            make("p", { class: "text" }, visible(ends(message, MOST_SHOWN))),
            ...Object.keys(others).length > 0 ? [valueBlock(others)] : [],
            ...this.fields.map((field) => field.label), this.problem,
            make("div", { class: "buttons" },
                make("button", { class: "primary", disabled: isReplay() }, "Send"),
                button("Decline", () => this.answer({ action: "decline" }), { disabled: isReplay() })));
    }

    accept(event) {
        event.preventDefault();
        try {
            const values = this.fields.map((field) => [field.name, field.read()]).filter(([, value]) => value !== undefined);
            const whole = values.length === 1 && values[0][0] === undefined;
            this.answer({ action: "accept", content: whole ? values[0][1] : Object.fromEntries(values) });
        } catch (error) {
            this.problem.textContent = error.message;
        }
    }

    answer(answer) { this.view.send({ type: "input_response", request_id: this.record.request_id, ...answer }); }
    close(text) { this.entry.replaceWith(make("p", { class: "entry note" }, text)); }
}

/** The form's fields for a schema: one per property, or a single JSON field if a property has an unsupported type. */
function fieldsOf(schema) {
    const properties = isObject(schema?.properties) ? Object.entries(schema.properties) : undefined;
    const required = listOf(schema?.required);
    const fields = properties?.map(([name, property]) => fieldOf(name, isObject(property) ? property : {}, required.includes(name)));
    return fields?.every(Boolean) ? fields : [jsonField()];
}

function jsonField() {
    const input = make("textarea", { class: "code", rows: "5" });
    input.value = "{}";
    const read = () => {
        const [value, why] = readArguments(input.value);
        if (why) throw new Error(why);
        return value;
    };
    return { label: make("label", {}, "Answer, as JSON", input), read };
}

function fieldOf(name, property, isRequired) {
    const title = visible(ends(textOf(property.title ?? name), 200));
    const hint = property.description ? ` - ${visible(ends(textOf(property.description), 500))}` : "";
    const label = (input) => make("label", {}, `${title}${isRequired ? " (required)" : ""}${hint}`, " ", input);
    const choices = listOf(property.enum);
    if (choices.length > 0) {
        const shown = choices.map((choice) => visible(ends(textOf(choice), 200)));
        const options = shown.map((text, at) => make("option", { value: at, selected: choices[at] === property.default }, text));
        const input = make("select", { required: isRequired }, ...isRequired ? [] : [make("option", { value: "" }, "")], ...options);
        return { name, label: label(input), read: () => choices[input.value === "" ? -1 : Number(input.value)] };
    }
    if (property.type === "boolean") {
        const input = make("input", { type: "checkbox", checked: property.default === true });
        return { name, label: label(input), read: () => input.checked };
    }
    if (["string", "number", "integer"].includes(property.type)) {
        const isText = property.type === "string";
        const input = make("input", { type: isText ? "text" : "number", step: property.type === "integer" ? "1" : "any", required: isRequired });
        input.value = textOf(property.default);
        const read = () => input.value === "" && !isRequired ? undefined : isText ? input.value : parse(input.value);
        return { name, label: label(input), read };
    }
}

// The plan, the agents, the picture

const STEP_ICONS = { pending: "\u25cb", running: "\u25b6", blocked: "\u2298", error: "\u2717", done: "\u2713" };
const PICTURE_PATH = /\.(png|jpe?g|webp)$/i;
const PICTURE_TYPE = /^image\/(png|jpeg|webp|gif)$/;

function stepItem(text, status, detail, isCurrent) {
    const [icon, name] = [named(STEP_ICONS, status), visible(ends(textOf(status), 50))];
    return make("li", { "aria-current": isCurrent ? "step" : undefined },
        make("span", { class: `icon ${icon ? name : ""}`, "aria-hidden": "true" }, icon ?? "?"),
        make("span", { class: "text" }, visible(ends(text, 500)), make("span", { class: "detail" }, detail ? `${name}: ${detail}` : name)));
}

/** The address of the picture in a result. */
function pictureOf(session, result) {
    const blocks = isObject(result) ? [result, ...listOf(result.content)].filter(isObject) : [];
    const found = blocks.findLast((each) => PICTURE_PATH.test(each.path) || (PICTURE_TYPE.test(each.mimeType) && typeof each.data === "string"));
    if (!found || !PICTURE_PATH.test(found.path)) return found && `data:${found.mimeType};base64,${found.data}`;
    return `/sessions/${encodeURIComponent(session)}/image?path=${encodeURIComponent(found.path)}`;
}

class Side {
    constructor() {
        [this.plan, this.agents, this.picture] = [make("ol"), make("ul"), make("div")];
        [this.steps, this.results] = [[], new Map()];
        this.none = make("p", { class: "detail" }, "No plan and no picture yet.");
        this.element = make("div", {}, this.none, this.plan, this.agents, this.picture);
    }

    /** Shows a list under a heading. */
    showList(list, title, items) {
        this.none.remove();
        list.replaceChildren(...items);
        if (list.previousElementSibling?.textContent !== title) list.before(make("h2", {}, title));
    }

    takePlan(record) {
        if (this.planId !== textOf(record.plan_id)) {
            this.planId = textOf(record.plan_id);
            this.results.clear();
        }
        this.steps = listOf(record.steps).filter(isObject).slice(0, 500);
        this.current = record.current_step;
        this.showPlan();
    }

    takeProgress(record) {
        const step = this.steps.find((each) => each.id === record.step_id);
        if (!step || textOf(record.plan_id) !== this.planId) return;
        step.status = record.status;
        this.results.set(step.id, visible(ends(textOf(record.result), 500)));
        this.showPlan();
    }

    showPlan() {
        const item = (step) => stepItem(textOf(step.desc), step.status, this.results.get(step.id), step.id === this.current);
        this.showList(this.plan, "Plan", this.steps.map(item));
    }

    takeChain(record) {
        const agents = listOf(record.agents).filter(isObject).slice(0, 500);
        const name = (agent) => [agent.agent_id, agent.role && `(${textOf(agent.role)})`].filter(Boolean).map(textOf).join(" ");
        this.showList(this.agents, "Agents", agents.map((agent) => stepItem(name(agent), agent.status, "", agent.agent_id === record.current_agent)));
    }

    takePicture(address, tool) {
        this.none.remove();
        const alt = `Picture from ${tool}`;
        const image = make("img", { src: address, alt, error: () => { caption.textContent = `${alt}: cannot be loaded`; } });
        const caption = make("figcaption", {}, alt);
        const open = () => {
            byId("picture-image").src = address;
            byId("picture-image").alt = alt;
            byId("picture").showModal();
        };
        const larger = button("", open, { class: "thumbnail", "aria-label": `${alt}: show it larger` });
        larger.append(image);
        this.picture.replaceChildren(make("h2", {}, "Picture"), make("figure", {}, larger, caption));
    }
}

// A session

/** The view of one session. It is kept while another session is shown. */
class View {
    constructor(id) {
        this.id = id;
        [this.draft, this.outbox] = ["", []];
        this.reset();
    }

    /** Clears the view. */
    reset() {
        this.held?.forEach((call) => call.question.close());
        this.log = make("div", { class: "log", role: "log", "aria-label": "Conversation", "aria-relevant": "additions", tabindex: "0" });
        this.log.addEventListener("scroll", () => { this.isAtEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 60; });
        this.isAtEnd = true;
        this.side = new Side();
        [this.calls, this.held, this.asked, this.inputs, this.streams, this.sizes] = Array.from({ length: 6 }, () => new Map());
        [this.size, this.left, this.said] = [0, 0, ""];
        this.lastSeq = this.state = this.pending = this.leftNote = this.options = undefined;
    }

    add(entry) {
        // Held calls stay at the end.
        this.log.insertBefore(entry, this.held.values().next().value?.entry ?? null);
        this.count(entry);
        while (this.log.childElementCount > MOST_ENTRIES + 1 || (this.size > MOST_CHARACTERS && this.log.childElementCount > 2)) {
            this.dropOldest();
        }
        this.scroll();
        return entry;
    }

    /** Counts the current record as part of this entry. */
    count(entry) {
        this.sizes.set(entry, (this.sizes.get(entry) ?? 0) + this.recordSize);
        this.size += this.recordSize;
    }

    dropOldest() {
        this.leftNote ??= make("p", { class: "entry note" });
        const oldest = this.log.firstElementChild === this.leftNote ? this.leftNote.nextElementSibling : this.log.firstElementChild;
        this.size -= this.sizes.get(oldest) ?? 0;
        this.sizes.delete(oldest);
        oldest.remove();
        for (const calls of [this.calls, this.asked]) {
            calls.forEach((call, key) => call.entry === oldest && calls.delete(key));
        }
        this.left += 1;
        this.leftNote.textContent = `${plural(this.left, "older entry").replace("entrys", "entries")} left out`;
        this.log.prepend(this.leftNote);
    }

    /** Scrolls to the end, unless the person has scrolled away from it. */
    scroll() {
        if (!this.isAtEnd || this.isScrolling) return;
        this.isScrolling = true;
        requestAnimationFrame(() => {
            this.isScrolling = false;
            this.log.scrollTop = this.log.scrollHeight;
        });
    }

    note(text, kind = "note") { this.add(make("p", { class: `entry ${kind} text` }, text)); }

    message(kind, who, content) {
        return this.add(make("div", { class: `entry message ${kind}` }, make("div", { class: "who" }, who), content));
    }

    thought(content) {
        return this.add(make("details", { class: "entry thought" }, make("summary", {}, "Thought"), content));
    }

    get isWaiting() { return this.pending === "question" || this.pending === "manual"; }

    /** Sends a record; false if there is no connection. */
    send(record) { return !isReplay() && connection.send(this, record); }

    say(text) { return this.send({ type: "user_message", content: text, role: "user" }); }

    take(text) {
        const record = parse(text);
        this.recordSize = text.length;
        if (numberOf(record.seq) <= this.lastSeq) return;
        this.lastSeq = numberOf(record.seq) ?? this.lastSeq;
        (takers.get(record.type) ?? takeUnknown)(this, record);
        this.scroll();
    }

    /** The call of a record; a new one if no open call matches. */
    callFor(record) {
        const key = JSON.stringify(record.call_id ?? null);
        const known = this.calls.get(key);
        const call = known && !known.isOver ? known : new Call(this, record);
        this.calls.set(key, call);
        if (call === known) this.count(call.entry);
        else this.add(call.entry);
        return call;
    }

    callOf(record) { return this.calls.get(JSON.stringify(record.call_id ?? null)); }

    hold(record) {
        if (this.held.has(record.nonce)) return;
        const known = this.callFor(record);
        // An id may be used twice, so each question has its own card.
        const call = known.question ? new Call(this, record) : known;
        call.hold(record);
        this.held.set(record.nonce, call);
        this.asked.set(record.nonce, call);
        this.log.append(call.entry);
        this.isAtEnd = true;
        call.wantsAttention = true;
        requestAnimationFrame(() => this.callAttention(call));
    }

    /** Announces a held call, and moves the focus to it, unless the person is writing. */
    callAttention(call) {
        if (!call.question || !call.wantsAttention || this !== shown || !connection.isCaughtUp) return;
        call.wantsAttention = false;
        call.question.arm();
        announce(`Waiting for your approval: ${call.toolText} ${call.targetText}. Press y to approve, e to edit, n to reject.`);
        const focused = document.activeElement;
        const isWriting = isTextField(focused) && (focused.value !== "" || performance.now() - lastKeyAt < 2000);
        if (!isWriting && !call.entry.contains(focused)) call.entry.focus();
    }

    settle(nonce, text, state) {
        this.release(nonce);
        this.asked.get(nonce)?.settle(text, state);
        this.asked.delete(nonce);
    }

    /** A question is not open any more. */
    release(nonce) {
        const call = this.held.get(nonce);
        if (!call) return;
        const hadFocus = call.entry.contains(document.activeElement);
        this.held.delete(nonce);
        call.closeQuestion();
        this.held.forEach((other) => other.question.arm());
        if (hadFocus && this === shown) (this.heldCall?.entry ?? call.entry).focus({ preventScroll: true });
    }

    /** The question that keys apply to: the focused one, or else the oldest. */
    get heldCall() {
        const calls = [...this.held.values()];
        return calls.find((call) => call.entry.contains(document.activeElement)) ?? calls[0];
    }

    setState(state, pending) {
        this.state = state;
        this.pending = pending;
        this.isStopping = false;
        if (this.isWaiting && this === shown && connection.isCaughtUp) focusComposer();
    }

    /** The agent does not work any more. A gate may still ask: it reports when its question is settled. */
    close(why) {
        [...this.calls.values()].filter((call) => !call.isOver && !call.question).forEach((call) => call.setState("unknown"));
        this.closeInputs(why);
        this.streams.clear();
        this.retireOptions();
    }

    closeInputs(why, isMeant = () => true) {
        for (const [id, form] of this.inputs) {
            if (!isMeant(form.record)) continue;
            form.close(why);
            this.inputs.delete(id);
        }
    }

    /** Marks the choices as answered. */
    retireOptions() {
        this.options?.querySelectorAll("button").forEach((each) => { each.disabled = true; });
        this.options = undefined;
    }

    // Streamed messages

    /** Adds a part of a message: there is one open message for thoughts and one for text. */
    takePart(record) {
        const isThought = record.kind === "thought";
        const request = JSON.stringify(record.request_id ?? null);
        if (record.restarted === true) {
            [...this.streams.values()].filter((stream) => stream.request === request).forEach((stream) => stream.entry.remove());
            this.streams.clear();
        }
        let stream = this.streams.get(isThought);
        if (stream?.request !== request) {
            stream?.entry.removeAttribute("aria-busy");
            this.streams.delete(isThought);
            stream = undefined;
        }
        const token = textOf(record.token);
        if (token !== "") {
            stream ??= this.beginStream(isThought, request, record);
            stream.text += token;
            if (stream.text.length <= MOST_SHOWN_OF_MESSAGE) stream.node.appendData(readable(token));
        }
        if (record.is_final === true) stream?.entry.removeAttribute("aria-busy");
    }

    beginStream(isThought, request, record) {
        const node = document.createTextNode("");
        const content = make("div", { class: "text" }, node);
        const entry = isThought ? this.thought(content) : this.message("assistant", speaker(record), content);
        entry.setAttribute("aria-busy", "true");
        this.streams.set(isThought, { request, entry, node, text: "" });
        return this.streams.get(isThought);
    }

    /** Replaces the parts of a message by the complete message. */
    endStream(isThought, text) {
        const stream = this.streams.get(isThought);
        this.streams.delete(isThought);
        stream?.entry.removeAttribute("aria-busy");
        if (stream && text.includes(stream.text.trim())) stream.entry.remove();
    }
}

/** The sender, if there are several agents. */
function speaker(record) {
    const name = [record.agent_id, record.role].filter((each) => typeof each === "string").join(", ");
    return name === "" ? "Agent" : `Agent ${visible(ends(name, 100))}`;
}

// The effect of each record

const OUTCOMES = { done: "Done", limit: "Stopped at a limit", failed: "Failed", cancelled: "Stopped" };

const takers = new Map(Object.entries({
    user_message(view, record) {
        view.retireOptions();
        view.message("user", "You", messageBlock(textOf(record.content)));
    },

    cancel(view) { view.note("You stopped the agent."); },

    assistant_message(view, record) {
        if (record.request_id !== undefined || record.is_final === false) return view.takePart(record);
        const text = textOf(record.token);
        view.endStream(record.kind === "thought", text);
        const options = listOf(record.question?.options).filter((option) => typeof option === "string");
        if (record.kind === "thought") return text.trim() && view.thought(messageBlock(text));
        if (text.trim() === "" && options.length === 0) return;
        view.said = text;
        const kind = ["progress", "question", "summary"].includes(record.kind) ? record.kind : "assistant";
        const entry = view.message(kind, `${speaker(record)}${kind === "question" ? " asks" : ""}`, messageBlock(text));
        if (options.length > 0) {
            view.retireOptions();
            const choose = (option) => button(readable(ends(option, 200)), () => view.say(option), { disabled: isReplay() });
            view.options = make("div", { class: "options" }, ...options.slice(0, 50).map(choose));
            entry.append(view.options);
        }
    },

    tool_call(view, record) {
        if (record.requires_approval === true && typeof record.nonce === "string") return view.hold(record);
        view.callFor(record);
    },

    tool_result(view, record) {
        const call = view.callFor(record);
        if (call.question) view.release(call.question.record.nonce);
        call.finish(record);
        const isOfCall = (asked) => asked.call_id !== undefined && textOf(asked.call_id) === textOf(record.call_id);
        view.closeInputs("The question is no longer open.", isOfCall);
        const address = pictureOf(view.id, record.result);
        if (address) view.side.takePicture(address, call.toolText);
    },

    hitl_response(view, record) {
        const call = view.asked.get(record.nonce);
        if (!call || call.answer) return;
        call.answer = record;
        call.question?.takeAnswer(record);
        if (typeof record.feedback === "string" && record.feedback !== "") {
            call.settlements.append(make("p", { class: "text title" }, `Reason: ${readable(ends(record.feedback, MOST_SHOWN))}`));
        }
    },

    policy_result(view, record) {
        const by = record.by === "approver" && view.asked.get(record.nonce)?.isAnsweredHere ? "here" : named(SETTLED_BY, record.by) ?? "";
        const verdict = named(VERDICTS, record.verdict) ?? "Settled";
        view.settle(record.nonce, `${verdict} ${by}`, record.verdict === "rejected" ? "rejected" : "running");
    },

    status(view, record) {
        if (record.call_id !== undefined) return takeCallStatus(view, record);
        if (record.ended !== undefined) {
            view.close("The agent ended");
            view.setState("ended");
            // An error has already reported the reason.
            return record.status === "error" ? undefined : view.note(readable(ends(textOf(record.ended), MOST_SHOWN)));
        }
        view.goal = typeof record.current_goal === "string" ? record.current_goal : view.goal;
        const isWaiting = record.status === "waiting_user";
        const pending = isWaiting && ["confirm", "manual", "question"].includes(record.pending_kind) ? record.pending_kind : undefined;
        view.setState(pending ?? (["running", "idle", "error"].includes(record.status) ? record.status : "running"), pending);
    },

    plan_update: (view, record) => view.side.takePlan(record),
    plan_progress: (view, record) => view.side.takeProgress(record),
    agent_chain_update: (view, record) => view.side.takeChain(record),

    final(view, record) {
        view.streams.clear();
        view.closeInputs("The question is no longer open.");
        view.setState("idle");
        const content = textOf(record.content);
        if (content.trim() !== "" && content.trim() !== view.said.trim()) {
            view.message("assistant", speaker(record), messageBlock(content));
        }
        view.note(summaryOf(record), "final note");
    },

    error(view, record) {
        const context = isObject(record.context) ? record.context : {};
        const call = view.held.get(context.nonce) ?? (context.call_id === undefined ? undefined : view.callOf(context));
        const text = readable(ends(textOf(record.content), MOST_SHOWN));
        if (call?.question) return call.question.offerAgain(text);
        view.note(text, "error");
    },

    input_request(view, record) {
        const form = new InputForm(view, record);
        view.inputs.set(record.request_id, form);
        view.add(form.entry);
        if (view === shown && connection.isCaughtUp) announce("A tool asks you something.");
    },

    input_response(view, record) {
        const answers = { accept: "You answered the tool's question.", decline: "You declined to answer." };
        view.closeInputs(named(answers, record.action) ?? "The question was withdrawn.", (asked) => asked.request_id === record.request_id);
    },

    gap(view, record) {
        view.streams.clear();
        view.note(`${plural(numberOf(record.last) - numberOf(record.first) + 1, "record")} left out`);
    },

    observation(view, record) {
        const event = isObject(record.data) ? record.data.event ?? record.data.type : undefined;
        collapsed(view, `Observed: ${[record.server, record.source, event].filter(Boolean).map(textOf).join(" ")}`, record);
    },
}));

/** The record as JSON, behind a summary line. */
function collapsed(view, title, record) {
    view.add(make("details", { class: "entry record" }, make("summary", { class: "text" }, visible(ends(title, 200))), valueBlock(record)));
}

function takeUnknown(view, record) {
    collapsed(view, `record: ${textOf(record.type)}`, record);
}

const CALL_STATUSES = { waiting_human: "waiting", approved: "running", edited_by_human: "running", rejected: "rejected" };

/** Shows a gate's record about a call. */
function takeCallStatus(view, record) {
    const [call, state] = [view.callOf(record), named(CALL_STATUSES, record.status)];
    if (!call || call.isOver || !state) return;
    if (record.status === "edited_by_human") {
        call.settlements.append(make("p", { class: "title" }, "Arguments as edited"), valueBlock(record.edited_arguments ?? {}));
    }
    call.setState(state);
}

function summaryOf(record) {
    const outcome = named(OUTCOMES, record.outcome) ?? visible(textOf(record.outcome));
    const limit = typeof record.limit === "string" ? ` (${visible(record.limit)})` : "";
    const usage = isObject(record.usage) ? record.usage : {};
    const counted = (value, noun) => numberOf(value) > 0 ? plural(numberOf(value), noun) : undefined;
    const cost = numberOf(usage.cost) === undefined ? undefined : `${textOf(usage.cost)} US dollars`;
    const parts = [counted(record.steps, "step"), counted(record.denied, "denied call"), counted(usage.input, "input token"),
        counted(usage.output, "output token"), cost];
    return [`${outcome}${limit}`, ...parts.filter(Boolean)].join(" \u00b7 ");
}

// The connection to the shown session

const connection = {
    retryMs: FIRST_RETRY_MS,
    /** Whether arriving records are new, which they are once the kept records have arrived. */
    isCaughtUp: false,

    open(view) {
        clearTimeout(this.retry);
        clearTimeout(this.settling);
        this.socket?.close();
        this.view = view;
        this.connect(view);
    },

    connect(view) {
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        const after = view.lastSeq === undefined ? "" : `?after=${view.lastSeq}`;
        const socket = new WebSocket(`${scheme}//${location.host}/sessions/${encodeURIComponent(view.id)}/ws${after}`);
        this.socket = socket;
        this.isCaughtUp = false;
        showConnection("Connecting");
        const isCurrent = () => this.socket === socket;
        socket.addEventListener("open", () => isCurrent() && this.begin(view));
        socket.addEventListener("message", (event) => isCurrent() && this.receive(view, event.data));
        socket.addEventListener("close", (event) => isCurrent() && this.end(view, event.code));
    },

    begin(view) {
        this.retryMs = FIRST_RETRY_MS;
        showConnection("Connected");
        view.outbox.splice(0).forEach((record) => this.send(view, record));
        const lost = "The connection was lost: the answer may not have arrived.";
        view.held.forEach((call) => call.question.sent && call.question.offerAgain(lost));
        this.settle(view);
    },

    /** The kept records arrive without a pause. */
    settle(view) {
        clearTimeout(this.settling);
        this.settling = setTimeout(() => {
            this.isCaughtUp = true;
            view.held.forEach((call) => view.callAttention(call));
            if (view.isWaiting) focusComposer();
            refresh();
        }, 150);
    },

    receive(view, text) {
        try {
            view.take(text);
        } catch (error) {
            view.note(`A record cannot be shown: ${error.message}`, "error");
        }
        if (!this.isCaughtUp) this.settle(view);
        refresh();
    },

    end(view, code) {
        this.socket = undefined;
        if (code === 1000) {
            view.isClosed = true;
            [...view.held.keys()].forEach((nonce) => view.settle(nonce, "Not settled: the session was closed", "unknown"));
            view.close("The session was closed");
            showConnection("Session closed");
            return refresh();
        }
        showConnection("Connection lost, reconnecting", true);
        this.retry = setTimeout(async () => {
            await poll();
            if (this.view === view && !this.socket) this.connect(view);
        }, this.retryMs);
        this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS);
    },

    send(view, record) {
        if (this.view === view && this.socket?.readyState === WebSocket.CONNECTING && view.lastSeq === undefined) {
            return view.outbox.push(record) > 0;
        }
        if (this.view !== view || this.socket?.readyState !== WebSocket.OPEN) {
            showNotice("Not connected: nothing was sent. Try again in a moment.");
            return false;
        }
        showNotice("");
        this.socket.send(JSON.stringify(record));
        return true;
    },
};

// The sessions

const views = new Map();
let listed = [];
let shown;
/** When the person last typed. */
let lastKeyAt = -Infinity;

const isReplay = () => listed.some((session) => session.replay === true);
const listedSession = (view) => listed.find((session) => session.session_id === view?.id);

/** The state of the shown session comes from its records, which are earlier than the list. */
function stateOf(view, session) {
    if (!view || view !== shown) return session?.state ?? "closed";
    if (view.isClosed || view.state === "ended") return view.isClosed ? "closed" : "ended";
    return view.held.size > 0 ? "confirm" : view.state ?? session?.state ?? "starting";
}

const heldIn = (session) => session.session_id === shown?.id ? shown.held.size : numberOf(session.held) ?? 0;

const SESSION_STATES = {
    idle: "idle", running: "running", confirm: "waiting for approval", manual: "waiting for you", question: "asks you",
    ended: "ended", starting: "starting", closed: "closed", error: "error",
};

const DENIED = "Access was denied: open the address that agent-serve printed when it started.";

async function request(address, options) {
    const response = await fetch(address, options);
    if (response.status === 401) throw new Error(DENIED);
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(readable(textOf(answer.error ?? `The server answered ${response.status}`)));
    return answer;
}

async function poll() {
    try {
        listed = listOf((await request("/sessions")).sessions).sort((one, other) => one.begun_at < other.begun_at ? 1 : -1);
    } catch (error) {
        if (error.message === DENIED) showNotice(error.message);
        return;
    }
    for (const session of listed) {
        const view = views.get(session.session_id);
        // A restarted session sends its history again.
        if (view?.begunAt && view.begunAt !== session.begun_at) {
            view.reset();
            view.isClosed = false;
            if (view === shown) show(view.id);
        }
        if (view) view.begunAt = session.begun_at;
    }
    refresh();
}

async function begin(session) {
    const body = JSON.stringify(session);
    const begun = await request("/sessions", { method: "POST", headers: { "content-type": "application/json" }, body });
    await poll();
    return begun.session_id;
}

/** Does something that needs the server, and reports why it fails. */
async function attempt(action) {
    showNotice("");
    try {
        return await action();
    } catch (error) {
        showNotice(error.message);
    }
}

async function newSession() {
    const id = await begin({});
    location.hash = `#${id}`;
    show(id);
    byId("message").focus();
    return views.get(id);
}

async function restart() {
    const view = shown;
    await begin({ session_id: view.id });
    view.state = undefined;
    if (view.isClosed) {
        view.isClosed = false;
        connection.open(view);
    }
    refresh();
}

function show(id) {
    if (shown) shown.draft = byId("message").value;
    if (shown?.id !== id) showNotice("");
    if (!views.has(id)) views.set(id, new View(id));
    shown = views.get(id);
    shown.begunAt ??= listedSession(shown)?.begun_at;
    shown.held.forEach((call) => {
        call.wantsAttention = true;
        call.question.arm();
    });
    byId("log-place").replaceChildren(shown.log);
    byId("side-place").replaceChildren(shown.side.element);
    byId("message").value = shown.draft;
    connection.open(shown);
    shown.isAtEnd = true;
    shown.scroll();
    refresh();
}

function showHash() {
    const id = decodeURIComponent(location.hash.slice(1));
    if (id !== "" && id !== shown?.id) show(id);
}

// The parts around the log

function showNotice(text) {
    byId("notice").textContent = text;
    byId("notice").hidden = text === "";
}

function showConnection(text, isLost = false) {
    byId("connection").textContent = text;
    byId("connection").classList.toggle("lost", isLost);
}

let isRefreshing = false;

/** Shows the states again, before the next frame. */
function refresh() {
    if (isRefreshing) return;
    isRefreshing = true;
    setTimeout(() => {
        isRefreshing = false;
        showList();
        showControls();
    }, 30);
}

function sessionItem(session) {
    const view = views.get(session.session_id);
    const held = heldIn(session);
    const state = named(SESSION_STATES, stateOf(view, session)) ?? "unknown";
    const goal = session.goal ?? view?.goal;
    const heldText = held > 0 ? [make("span", { class: "held" }, `${held} held`), " \u00b7 "] : [];
    return make("li", {}, make("a", { href: `./#${session.session_id}`, "aria-current": view && view === shown ? "page" : undefined },
        make("span", { class: "name" }, visible(ends(textOf(goal ?? session.session_id), 80))),
        make("span", { class: "state" }, ...heldText, state)));
}

function showList() {
    const focused = document.activeElement?.getAttribute("href");
    const sessions = shown && !listedSession(shown) ? [...listed, { session_id: shown.id, state: "closed" }] : listed;
    const items = sessions.map(sessionItem);
    const list = byId("sessions");
    if (items.length !== list.childElementCount || items.some((item, at) => !item.isEqualNode(list.children[at]))) {
        list.replaceChildren(...items);
        scrollToShown(list);
        [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    }
    const held = listed.reduce((sum, session) => sum + heldIn(session), 0);
    document.title = held > 0 ? `(${held}) Waiting for approval - Agent sessions` : "Agent sessions";
}

/** Scrolls the list to the shown session. (scrollIntoView would also move the place from which Tab goes on.) */
function scrollToShown(list) {
    const around = list.parentElement;
    const [item, box] = [list.querySelector("[aria-current]"), around].map((element) => element?.getBoundingClientRect());
    if (item) around.scrollLeft += Math.min(0, item.left - box.left) + Math.max(0, item.right - box.right);
}

function showControls() {
    const state = shown && stateOf(shown, listedSession(shown));
    const replays = isReplay();
    byId("stop").hidden = replays || !["running", "confirm", "manual", "question"].includes(state);
    byId("stop").disabled = shown?.isStopping ?? false;
    byId("restart").hidden = replays || !["ended", "closed"].includes(state);
    byId("new-session").disabled = replays;
    byId("message").disabled = byId("send").disabled = replays;
    byId("manual").hidden = replays || shown?.pending !== "manual";
    byId("manual-text").textContent = readable(ends(shown?.said || shown?.goal || "", MOST_SHOWN));
    if (replays && shown) showConnection("Recording");
}

function focusComposer() {
    const focused = document.activeElement;
    if (!isTextField(focused) && !byId("picture").open && shown.held.size === 0) byId("message").focus();
}

async function sendMessage(event) {
    event.preventDefault();
    const message = byId("message");
    const text = message.value;
    if (text.trim() === "" || message.disabled) return;
    const view = shown ?? await attempt(newSession);
    if (!view?.say(text)) return;
    message.value = "";
    view.isAtEnd = true;
}

function decideByKey(event) {
    const isTyped = isTextField(document.activeElement) || event.ctrlKey || event.metaKey || event.altKey || event.repeat;
    const question = shown?.heldCall?.question;
    if (isTyped || !question || isReplay() || byId("picture").open) return;
    const decision = DECISIONS.find(({ key }) => key === event.key);
    if (!decision || !question.isOffering) return;
    event.preventDefault();
    question[question.isArmed ? decision.name : "arm"]();
}

function listen() {
    const click = (id, action) => byId(id).addEventListener("click", action);
    click("skip", () => byId("message").focus());
    click("new-session", () => attempt(newSession));
    click("restart", () => attempt(restart));
    click("stop", () => { shown.isStopping = shown.send({ type: "cancel" }); });
    click("manual-done", () => shown.say("done"));
    click("picture-close", () => byId("picture").close());
    byId("composer").addEventListener("submit", sendMessage);
    byId("message").addEventListener("keydown", (event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) sendMessage(event);
    });
    document.addEventListener("keydown", (event) => {
        decideByKey(event);
        // A person who has sent a message is waiting, not writing.
        lastKeyAt = event.key === "Enter" || !isTextField(event.target) ? -Infinity : performance.now();
    });
    document.addEventListener("visibilitychange", () => shown?.held.forEach((call) => call.question.arm()));
    window.addEventListener("hashchange", showHash);
    const wide = matchMedia("(width >= 48rem)");
    wide.addEventListener("change", () => { byId("side").open = wide.matches; });
    byId("side").open = wide.matches;
}

async function start() {
    listen();
    await poll();
    showHash();
    if (!shown && listed.length > 0) location.hash = `#${listed[0].session_id}`;
    else if (!shown) showConnection("No session: write a message to start one");
    setInterval(poll, POLL_MS);
}

start();
