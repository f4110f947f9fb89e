// Roles and names: the browser's own, or, if it was started without the flag that provides them, those that the accessibility
// mappings give to HTML elements (HTML-AAM), and the usual sources of a name (accname) in their order.
const INPUTS = {
  button: "button", submit: "button", reset: "button", image: "button", file: "button", checkbox: "checkbox", radio: "radio", range: "slider",
  number: "spinbutton", search: "searchbox", color: "", date: "", month: "", week: "", time: "", "datetime-local": "",
};
const [computedRoleOf, computedNameOf] = ["computedRole", "computedName"].map((name) => Object.getOwnPropertyDescriptor(Element.prototype, name)?.get);
const checkVisibility = Element.prototype.checkVisibility;
// Most elements of long lists have the role of their kind, and the browser takes its time to say so. An `aria-` attribute may make it another one.
const plainRoleOf = (element) => {
  const kind = member(element, "localName");
  if (!["a", "button", "input"].includes(kind) || ["role", "aria-haspopup", "switch"].some((name) => element.hasAttribute(name))) return "";
  if (kind === "input") return ["checkbox", "radio", "submit"].includes(element.type) ? INPUTS[element.type] : element.type === "text" && !element.list ? "textbox" : "";
  return kind === "button" ? "button" : element.hasAttribute("href") ? "link" : "";
};
const roleOf = (element) => {
  const computed = plainRoleOf(element) || computedRoleOf?.call(element);
  if (computed !== undefined) return computed;
  const given = call(element, "getAttribute", "role")?.trim().split(/\s+/u)[0];
  if (given) return given;
  switch (member(element, "localName")) {
    case "a": case "area": return element.hasAttribute("href") ? "link" : "";
    case "button": return "button";
    case "textarea": return "textbox";
    case "option": return "option";
    case "select": return element.multiple || element.size > 1 ? "listbox" : "combobox";
    case "input": return element.list ? "combobox" : INPUTS[element.type] ?? "textbox";
    default: return "";
  }
};
// The text of an element, including alternative texts of its images, without the contents of its inputs.
const textOf = (element) => {
  if (["select", "textarea", "input", "script", "style"].includes(member(element, "localName"))) return "";
  const label = member(element, "ariaLabel");
  if (label) return label;
  if (member(element, "localName") === "img") return element.alt;
  const text = (node) => (member(node, "nodeType") === Node.TEXT_NODE ? node.data : member(node, "nodeType") === Node.ELEMENT_NODE ? textOf(node) : "");
  return [...member(element, "childNodes")].map(text).join(" ");
};
const nameOf = (element) => {
  const computed = computedNameOf?.call(element);
  if (computed !== undefined) return computed;
  const labels = (call(element, "getAttribute", "aria-labelledby") ?? "").split(/\s+/u).filter(Boolean)
    .map((id) => call(element, "getRootNode").getElementById?.(id));
  const sources = [
    () => labels.filter(Boolean).map(textOf).join(" "),
    () => member(element, "ariaLabel"),
    () => [...(member(element, "labels") ?? [])].map(textOf).join(" "),
    () => (member(element, "localName") === "input" && INPUTS[element.type] === "button" ? element.value || element.alt : ""),
    () => member(element, "alt"),
    () => textOf(element),
    () => member(element, "title"),
    () => member(element, "placeholder"),
  ];
  return sources.map((source) => source()).find((name) => typeof name === "string" && name.trim()) ?? "";
};
// A name of at most 120 characters. A shortened name ends with "…", so that a gate can tell that it is incomplete.
const LONGEST = 120;
const shortened = (name) => {
  const plain = (name ?? "").replace(/\s+/gu, " ").trim();
  if (plain.length <= LONGEST) return plain;
  // Whole characters, not half surrogate pairs; an enormous name is not read completely.
  const characters = [...plain.slice(0, 2 * LONGEST + 2)];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("")}…` : plain;
};
// Dates, times and colours have no role of their own, and neither have many editors.
const plain = (element) => (element.localName === "input" ? element.type : element.localName === "summary" ? "button" : element.isContentEditable ? "textbox" : "clickable");

const isVisible = (one) => checkVisibility.call(one, { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
const isDrawn = (one) => checkVisibility.call(one, { visibilityProperty: true, contentVisibilityAuto: true });
// An element with `display: contents` has no box of its own.
const isTextVisible = (text) => {
  let at = text.parentElement;
  if (isVisible(at)) return true;
  const { display, visibility } = getComputedStyle(at);
  if (display !== "contents" || visibility !== "visible") return false;
  const range = document.createRange();
  range.selectNodeContents(text);
  if (!range.getClientRects().length) return false;
  while (isElement(at) && getComputedStyle(at).display === "contents") at = parent(at);
  return isElement(at) && isVisible(at);
};
// While a list is made nothing moves, so it keeps the boxes that it has seen.
let seenBoxes = null;
const boxAt = (one) => {
  const seen = seenBoxes?.get(one);
  if (seen) return seen;
  const box = call(one, "getBoundingClientRect");
  seenBoxes?.set(one, box);
  return box;
};
const sizeOf = (one) => { const { width, height } = boxAt(one); return Math.min(width, height) > 1 ? 2 : Number(width > 0 || height > 0); };
// A field that keeps a value for the form, or repeats another for screen readers.
const isMirrorField = (element) => element.matches("input:not([type=button],[type=checkbox],[type=file],[type=image],[type=radio],[type=submit]),select") && (element.ariaHidden === "true" || (element.tabIndex < 0 && !isVisible(element)));
// The box in whose place a person sees a control: the nearest visible element around it that has no other control, or only mirrors of it.
const MOST_MIRRORS = 8;
const boxOf = (element, mirrors = MOST_MIRRORS) => {
  const { controls } = globalThis[Symbol.for("pipewright")] ?? {};
  let at = element;
  for (let level = 0; level < 4; level += 1) {
    at = parent(at);
    if (isShadowRoot(at)) at = at.host;
    if (!isElement(at) || at === document.body || !controls) return null;
    const own = call(at, "querySelectorAll", controls);
    if (own.length > 1 && (own.length > mirrors || ![...own].every((one) => one === element || isMirrorField(one)))) return null;
    if (isVisible(at) && sizeOf(at) === 2) return at;
  }
  return null;
};
// What is cut off to nothing, by itself or by something around it: only keyboards and screen readers meet it. A list forgets first what
// is known.
const cutOffs = new Map();
const isCutOff = (element) => {
  if (!isElement(element) || element === document.body) return false;
  if (!cutOffs.has(element)) {
    const { width, height } = boxAt(element);
    // The box is also a cheap answer for most elements; it is scaled by transformations, the others are not.
    const size = Math.min(width, height) >= 12 ? 12 : Math.min(member(element, "offsetWidth"), member(element, "offsetHeight"));
    const around = parent(element);
    // A button of one pixel also has a border.
    cutOffs.set(element, (size < 2 && isClipping(element)) || ((size < 12 || isField(element)) && isClippedAway(element)) || isCutOff(isShadowRoot(around) ? around.host : around));
  }
  return cutOffs.get(element);
};
const isClippedAway = (element) => /^rect\((0|1)px, \1px, \1px, \1px\)$/u.test(getComputedStyle(element).clip) || getComputedStyle(element).clipPath === "inset(50%)";
const isClipping = (element) => {
  const { clip, clipPath, overflow, display } = getComputedStyle(element);
  return !["contents", "inline"].includes(display) && (clip !== "auto" || clipPath !== "none" || overflow !== "visible");
};
// The label that a person presses in the place of a field: one that is not covered, if there is one.
const labelOf = (element) => {
  const labels = [...(element.labels ?? [])].filter((label) => isVisible(label) && sizeOf(label) === 2);
  return labels.length > 1 ? labels.find(isOnTop) ?? labels[0] : labels[0] ?? null;
};
// Whether the middle of an element takes the pointer; outside of the window, whether it may.
const isOnTop = (element) => {
  const { x, y, width, height } = boxAt(element);
  const top = rootOf(element).elementFromPoint(x + width / 2, y + height / 2);
  return top ? isWithin(top, element) : getComputedStyle(element).pointerEvents !== "none";
};
const isSwitch = (element) => element.localName === "input" && ["file", "checkbox", "radio"].includes(element.type);
// The image that an area of a map is a part of, and the position of the area.
const imageOf = (area) => {
  const { name } = area.closest("map") ?? {};
  return name ? document.querySelector(`img[usemap=${CSS.escape(`#${name}`)}]`) ?? document.querySelector(`img[usemap="#${CSS.escape(name)}"]`) : null;
};
const placeOf = (element, shown = element) => {
  const box = boxAt(shown);
  const numbers = element.localName === "area" && element.shape !== "default" ? element.coords.split(/[\s,;]+/u).map(Number) : [];
  if (numbers.length < 3 || numbers.some(Number.isNaN)) return box;
  const [x, y, r] = numbers;
  const [across, down] = numbers.length === 3 ? [[x - r, x + r], [y - r, y + r]] : [0, 1].map((axis) => numbers.filter((_, index) => index % 2 === axis));
  const [left, top] = [Math.min(...across), Math.min(...down)];
  return new DOMRect(box.x + left, box.y + top, Math.max(...across) - left, Math.max(...down) - top);
};
// The visible representation of an element, if it has one: itself; for a file input, a checkbox or a radio button, its label; for a
// transparent field, of which pages show a picture of their own, itself or its box.
const shownBy = (element) => {
  if (element.localName === "area") {
    const image = imageOf(element);
    return image && isVisible(image) ? image : null;
  }
  const isBoxed = element.matches("input,select") && (sizeOf(element) < 2 || isCutOff(element));
  const own = isVisible(element) && !isBoxed ? sizeOf(element) : 0;
  if (own === 2 && (element.localName !== "button" || !isCutOff(element))) return element;
  const standing = isSwitch(element) || element.localName === "button" ? labelOf(element) : null;
  if (standing || own) return standing && (sizeOf(element) < 2 || isCutOff(element)) ? standing : element;
  if (!element.matches("input,select") || !isDrawn(element) || element.closest("[aria-hidden=true]")) return null;
  const box = boxOf(element);
  const isWhole = !isBoxed && sizeOf(element) === 2;
  if (box) return isWhole ? element : box;
  return element.type === "file" || (isWhole && (element.type === "range" || isOnTop(element))) ? element : null;
};
// The text in that box, or in one around it that has no other control either.
const textAround = (element, boxes) => {
  for (let at = boxOf(element); at && boxes > 0; at = boxOf(at, 0), boxes -= 1) {
    const text = textOf(at).replace(NOTHING, " ").trim();
    if (text) return text;
  }
  return "";
};
const NOTHING = /[\s\u200b-\u200d\ufeff]+/gu;
const WRITTEN = ["combobox", "searchbox", "spinbutton", "textbox"];
// The text that is shown in the slots of an element, and the text that names the host of the shadow tree whose only control it is.
const slotted = (element) => [...call(element, "querySelectorAll", "slot")].flatMap((slot) => slot.assignedNodes({ flatten: true })).map((node) => (isElement(node) ? member(node, "innerText") : node.data)).join(" ").trim();
const hostName = (element) => {
  const root = rootOf(element);
  if (!isShadowRoot(root) || root.querySelectorAll(globalThis[Symbol.for("pipewright")]?.controls ?? "*").length > 1) return "";
  const { host } = root;
  const label = host.closest("label") ?? (host.id ? rootOf(host).querySelector(`label[for="${CSS.escape(host.id)}"]`) : null);
  return host.ariaLabel || label?.innerText || hostName(host);
};
const isField = (element) => ["input", "select", "textarea"].includes(element.localName) || element.isContentEditable;
const named = (element, shown = element) => {
  // What a combobox shows is its value, but for a label in it.
  if (element.getAttribute("role") === "combobox" && !isField(element) && !element.ariaLabel && !element.hasAttribute("aria-labelledby")) {
    const fields = [element, ...element.querySelectorAll("select,input")];
    const labels = [...fields.flatMap((field) => [...(field.labels ?? [])]).filter((label) => !isWithin(element, label)), ...element.querySelectorAll("label")];
    return shortened(labels.map((label) => label.innerText).find(Boolean) || element.title);
  }
  const own = (shown && shown !== element && shown.localName === "label" && shown.innerText.trim()) || nameOf(element);
  const isBare = !own || (element.type === "file" && !element.labels?.length && !element.ariaLabel);
  const seen = isBare && !isVisible(element) && (element.localName === "select" || (element.localName === "input" && roleOf(element) !== "combobox")) ? textAround(element, 1) : "";
  const drawn = element instanceof SVGElement ? textOf(element).trim() || element.id || Object.values(element.dataset)[0] : "";
  return shortened(seen || own || (isField(element) ? "" : element.innerText || slotted(element)) || element.placeholder || element.title || drawn || hostName(element) || "");
};
// Whether a name is only what an empty field shows.
const isPlaceholder = (element, name) => Boolean(name) && shortened(element.placeholder) === name && !element.labels?.length && !element.ariaLabel;
// The role and name of an element in lists; `shown` is its visible representation.
const identify = (element, shown = shownBy(element)) => {
  const own = roleOf(element);
  return { role: ["generic", "none", ""].includes(own) ? plain(element) : own, name: named(element, shown) };
};
