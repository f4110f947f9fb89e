// What a person sees in a frame, as lines, for the elements that order or pay, by their numbers: each with the lines of its own (`own`)
// and of every element around it (`around`, from the inside; a `part` is a form, a section or the like, a `stop` a dialog, a row or a
// card). A text field stands for the button that Enter presses in it. A line is its text, its kind (1: the content of a field) and its
// place. Hidden text is left out: that of which nothing is drawn, outside of the page, or in the colour of what it is on. With `root`, only
// that part is read.
(numbers, most, root) => {
  const world = globalThis[Symbol.for("pipewright")] ?? {};
  const SILENT = new Set(["script", "style", "noscript", "template", "head", "title", "desc", "defs", "symbol", "metadata", "math", "canvas", "iframe", "object", "embed", "video", "audio", "datalist", "map", "option", "optgroup"]);
  const PARTS = new Set(["form", "section", "aside", "main", "region", "complementary", "group", "tabpanel", "body"]);
  const STOPS = new Set(["dialog", "alertdialog", "li", "listitem", "tr", "row", "article"]);
  const DEPTH = 500;
  const anchors = new Map();
  const submitters = new Map();
  const enteredIn = (field) => {
    if (!submitters.has(field.form)) submitters.set(field.form, submitterOf(field.form));
    return submitters.get(field.form) ?? field;
  };
  for (const number of numbers) {
    const element = world.elements?.get(number)?.deref();
    if (!element?.isConnected) continue;
    const anchor = isTyped(element) ? enteredIn(element) : element;
    anchors.has(anchor) ? anchors.get(anchor).push(number) : anchors.set(anchor, [number]);
  }
  const around = new Map();
  for (const anchor of anchors.keys()) for (let at = parent(anchor); at; at = parent(at)) around.set(at, null);

  const lines = [];
  const targets = [];
  let total = 0;
  let text = "";
  let box = null;
  const flush = () => {
    const plain = text.replace(/[\u200b-\u200d\u2060\ufeff\ue000-\uf8ff]|[\u{f0000}-\u{10ffff}]/gu, "").replace(/\s+/gu, " ").trim();
    if (plain) {
      lines.push([plain, 0, (box ?? [0, 0, 0, 0]).map(Math.round)]);
      total += plain.length;
    }
    text = "";
    box = null;
  };
  const place = ({ left, top, right, bottom }) => {
    box = box ? [Math.min(box[0], left), Math.min(box[1], top), Math.max(box[2], right), Math.max(box[3], bottom)] : [left, top, right, bottom];
  };
  const add = (more, rectangle) => {
    text += more;
    if (rectangle) place(rectangle);
  };
  const range = document.createRange();
  // A part of it is drawn within the page.
  const isDrawnAt = ({ left, top, right, bottom }) => right - left > 1 && bottom - top > 1 && right + scrollX > 0 && bottom + scrollY > 0;
  const colour = (value) => /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/u.exec(value)?.slice(1).map((one) => (one === undefined ? 1 : Number(one)));
  const isLike = (one, other) => [0, 1, 2].every((at) => Math.abs(one[at] - other[at]) < 8);
  // The colour under the text, or null if it is not known.
  const under = (style, before) => {
    if (style.backgroundImage !== "none" || style.backdropFilter !== "none" || style.mixBlendMode !== "normal") return null;
    const own = colour(style.backgroundColor);
    if (!own) return null;
    return own[3] === 0 ? before : own[3] === 1 ? own : null;
  };
  const isSeen = (style, ground) => {
    if (parseFloat(style.fontSize) < 1 || style.visibility !== "visible") return false;
    const ink = colour(style.webkitTextFillColor || style.color);
    if (!ink || style.backgroundClip.includes("text") || style.textShadow !== "none") return true;
    return ink[3] > 0.05 && !(ground && ink[3] === 1 && isLike(ink, ground));
  };
  // Text that a style sheet adds. What it counts or draws cannot be read.
  const generated = (element, which, ground) => {
    const style = getComputedStyle(element, which);
    if (["none", "normal"].includes(style.content) || style.display === "none" || style.opacity === "0" || !isSeen(style, ground)) return;
    const parts = style.content.match(/"(?:[^"\\]|\\.)*"|counters?\([^)]*\)/gu) ?? [];
    add(parts.map((part) => (part.startsWith('"') ? part.slice(1, -1).replace(/\\(.)/gu, "$1") : "(a number of the style sheet)")).join(""));
  };
  const contentOf = (element, name) => {
    if (isSecret(element)) return ["", 0];
    if (name === "select") return [[...element.selectedOptions].map((option) => option.label).join(", "), 0];
    if (name === "textarea") return [element.value.slice(0, 200), element.readOnly || element.disabled ? 0 : 1];
    if (["button", "submit", "reset", "number", "range"].includes(element.type)) return [element.value, 0];
    if (["hidden", "file", "color", "image", "checkbox", "radio"].includes(element.type)) return ["", 0];
    return [element.value.slice(0, 200), element.readOnly || element.disabled ? 0 : 1];
  };
  const field = (element, name) => {
    const [content, kind] = contentOf(element, name);
    const rectangle = element.getBoundingClientRect();
    if (!content.trim() || !isDrawnAt(rectangle)) return;
    if (!kind) return add(` ${content} `, rectangle);
    flush();
    add(content, rectangle);
    const before = lines.length;
    flush();
    if (lines.length > before) lines[before][1] = 1;
  };
  const isOn = (element, name) => {
    if (name === "input" && ["checkbox", "radio"].includes(element.type)) return element.checked;
    return ["checkbox", "radio", "switch"].includes(call(element, "getAttribute", "role")) && member(element, "ariaChecked") === "true";
  };
  const kindOf = (element, name) => {
    const role = call(element, "getAttribute", "role") ?? name;
    return STOPS.has(role) || STOPS.has(name) ? "stop" : PARTS.has(role) || PARTS.has(name) ? "part" : "box";
  };
  const children = (element, depth, ground, style) => {
    const isFilled = member(element, "localName") === "slot" && element.assignedNodes().length;
    const nodes = isFilled ? element.assignedNodes() : member(member(element, "shadowRoot") ?? world.closed?.get(element) ?? element, "childNodes");
    for (const node of nodes) visit(node, depth + 1, ground, style);
  };
  const visit = (node, depth, ground, style) => {
    const type = typeOf(node);
    if (type === Node.TEXT_NODE) {
      if (!node.data.trim()) return add(" ");
      if (total + text.length >= most || !isSeen(style, ground)) return undefined;
      range.selectNodeContents(node);
      const drawn = [...range.getClientRects()].filter(isDrawnAt);
      if (!drawn.length) return undefined;
      text += node.data.slice(0, most);
      return drawn.forEach(place);
    }
    if (type !== Node.ELEMENT_NODE || depth > DEPTH) return undefined;
    const name = localNameOf.call(node);
    if (SILENT.has(name)) return undefined;
    if (isOn(node, name)) add(" [x] ");
    const own = getComputedStyle(node);
    if (own.display === "none" || Number(own.opacity) < 0.05) return undefined;
    // Text only for screen readers, or folded away.
    if (own.display !== "contents" && own.overflow !== "visible" && (member(node, "offsetWidth") <= 1 || member(node, "offsetHeight") <= 1)) return undefined;
    if (own.position === "absolute" && /^rect\((?:0|1)px,? (?:0|1)px,? (?:0|1)px,? (?:0|1)px\)$/u.test(own.clip)) return undefined;
    if (/^inset\((?:50|[6-9]\d|100)%/u.test(own.clipPath)) return undefined;
    if (name === "br") return flush();
    const isTarget = anchors.has(node);
    const isInline = !isTarget && (own.display.startsWith("inline") || own.display === "contents");
    if (!isInline) flush();
    else if (own.display !== "inline" && own.display !== "contents") add(" ");
    const start = lines.length;
    const over = under(own, ground);
    generated(node, "::before", over);
    if (["input", "textarea", "select"].includes(name)) {
      if (own.visibility === "visible") field(node, name);
    } else if (name === "details" && !node.open) {
      for (const child of node.children) if (child.localName === "summary") visit(child, depth + 1, over, own);
    } else children(node, depth, over, own);
    generated(node, "::after", over);
    if (!isInline) flush();
    else if (own.display !== "inline" && own.display !== "contents") add(" ");
    if (isTarget) targets.push({ element: node, own: { start, end: lines.length } });
    // The line goes on behind an inline element, whose part of it is within the next one around it.
    if (around.has(node)) {
      around.set(node, { element: node, lines: { start, end: lines.length }, kind: kindOf(node, name) });
    }
    return undefined;
  };
  // From the outside, the colours under the root.
  const outer = [];
  for (let at = parent(root ?? document.body ?? document); at; at = parent(at)) if (isElement(at)) outer.unshift(getComputedStyle(at));
  const paper = matchMedia("(prefers-color-scheme: dark)").matches ? null : [255, 255, 255, 1];
  const ground = outer.reduce((before, style) => under(style, before), paper);
  if (document.body && innerWidth >= 10 && innerHeight >= 10) visit(root ?? document.body, 0, ground, outer.at(-1));
  flush();
  const found = targets.map(({ element, own }) => {
    const parts = [];
    for (let at = parent(element); at; at = parent(at)) {
      const part = around.get(at);
      if (part) parts.push(part);
    }
    return { element, numbers: anchors.get(element), own, around: parts };
  });
  return { lines, targets: found, is_cut: total >= most };
}
