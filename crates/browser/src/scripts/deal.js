// What a person sees in a frame, as lines, for the elements that order or pay, by their numbers: each with the lines of its own (`own`)
// and of every element around it (`around`, from the inside; a `part` is a form, a section or the like, a `row` an item of a list, a
// `stop` a dialog or a card). A text field stands for the button that Enter presses in it. A line is its text, its kind (1: the content of a field) and its
// place. Hidden text is left out: that of which nothing is drawn, outside of the page, or in the colour of what it is on. With `root`, only
// that part is read.
(numbers, most, root) => {
  const world = globalThis[Symbol.for("pipewright")] ?? {};
  const SILENT = new Set(["script", "style", "noscript", "template", "head", "title", "desc", "defs", "symbol", "metadata", "math", "canvas", "iframe", "object", "embed", "video", "audio", "datalist", "map", "option", "optgroup"]);
  const PARTS = new Set(["form", "section", "aside", "main", "region", "complementary", "group", "tabpanel", "body"]);
  const STOPS = new Set(["dialog", "alertdialog", "article"]);
  const ROWS = new Set(["li", "listitem", "tr", "row"]);
  const DEPTH = 500;
  const NODES = 5000;
  const MOST = 100;
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
  const kinds = new Set([...anchors.keys()].map((anchor) => localNameOf.call(anchor)));
  const keyOf = (element) => {
    const name = localNameOf.call(element);
    if (!kinds.has(name) || !(["a", "button", "input"].includes(name) || isControl(element))) return "";
    return `${name} ${(name === "input" ? element.value : element.textContent).trim().slice(0, 200)}`;
  };
  const read = (anchors) => {
    const around = new Map();
    for (const anchor of anchors.keys()) for (let at = parent(anchor); at; at = parent(at)) around.set(at, null);
    const childrenOf = (element) => {
      const isFilled = member(element, "localName") === "slot" && element.assignedNodes().length;
      return [...(isFilled ? element.assignedNodes() : member(member(element, "shadowRoot") ?? world.closed?.get(element) ?? element, "childNodes"))];
    };
    // Of a large page, what is near the elements is read, from the inside to the outside.
    const near = new Map();
    let left = NODES;
    const weigh = (node) => 1 + (isElement(node) ? call(node, "getElementsByTagName", "*").length : 0);
    const choose = (element) => {
      const nodes = childrenOf(element);
      const inner = nodes.map((node, index) => (around.has(node) || anchors.has(node) ? index : -1)).filter((index) => index >= 0);
      const chosen = new Set(inner.map((index) => nodes[index]));
      for (let distance = 1; distance < nodes.length && left > 0; distance += 1) {
        let isMore = false;
        for (const index of inner.flatMap((index) => [index - distance, index + distance])) {
          if (index < 0 || index >= nodes.length || chosen.has(nodes[index])) continue;
          isMore = true;
          const weight = weigh(nodes[index]);
          if (weight > left) continue;
          left -= weight;
          chosen.add(nodes[index]);
        }
        if (!isMore && inner.length === 1 && distance > Math.max(inner[0], nodes.length - inner[0])) break;
      }
      near.set(element, chosen);
      return chosen.size < nodes.length;
    };
    const paths = [...anchors.keys()].map((anchor) => {
      const path = [];
      for (let at = parent(anchor); at; at = parent(at)) if (isElement(at)) path.push(at);
      return path;
    });
    const cut = new Set();
    for (let level = 0; level < DEPTH && paths.some((path) => level < path.length); level += 1) {
      for (const path of paths) if (level < path.length && !near.has(path[level]) && choose(path[level])) cut.add(path[level]);
    }

    // Buttons of the same kind and text are for other deals.
    const rivals = new Map([...anchors.keys()].map((anchor) => [keyOf(anchor), []]));
    const lines = [];
    const targets = [];
    let total = 0;
    let text = "";
    let box = null;
    const flush = (isEnd) => {
      const plain = text.replace(/[\u200b-\u200d\u2060\ufeff\ue000-\uf8ff]|[\u{f0000}-\u{10ffff}]/gu, "").replace(/\s+/gu, " ").trim();
      // A mark belongs to the text behind it.
      if (plain === "[x]" && !isEnd) return;
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
      const is = (kinds) => kinds.has(role) || kinds.has(name);
      return is(STOPS) ? "stop" : is(ROWS) ? "row" : is(PARTS) ? "part" : "box";
    };
    const children = (element, depth, ground, style) => {
      const chosen = cut.has(element) ? near.get(element) : null;
      for (const node of childrenOf(element)) if (!chosen || chosen.has(node)) visit(node, depth + 1, ground, style);
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
      if (!isInline) flush(isTarget);
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
      if (!isInline) flush(isTarget);
      else if (own.display !== "inline" && own.display !== "contents") add(" ");
      const same = rivals.get(keyOf(node));
      if (same) same.push(start);
      if (isTarget) targets.push({ element: node, own: { start, end: lines.length } });
      // The line goes on behind an inline element, whose part of it is within the next one around it.
      if (around.has(node)) {
        around.set(node, { element: node, lines: { start, end: lines.length }, kind: kindOf(node, name), is_cut: cut.has(node) });
      }
      return undefined;
    };
    // From the outside, the colours under the root.
    const outer = [];
    for (let at = parent(root ?? document.body ?? document); at; at = parent(at)) if (isElement(at)) outer.unshift(getComputedStyle(at));
    const paper = matchMedia("(prefers-color-scheme: dark)").matches ? null : [255, 255, 255, 1];
    const ground = outer.reduce((before, style) => under(style, before), paper);
    if (document.body && innerWidth >= 10 && innerHeight >= 10) visit(root ?? document.body, 0, ground, outer.at(-1));
    flush(true);
    const found = targets.map(({ element, own }) => {
      const parts = [];
      for (let at = parent(element); at; at = parent(at)) {
        const part = around.get(at);
        if (part) parts.push(part);
      }
      return { element, numbers: anchors.get(element), own, around: parts, rivals: rivals.get(keyOf(element)) };
    });
    return { lines, targets: found, is_cut: total >= most, isPart: cut.size > 0 };
  };
  // Of very many, the others are read when they are pressed.
  const first = new Map([...anchors].slice(0, MOST));
  const whole = read(first);
  // What is near one of them must not depend on which others are asked about.
  return !whole.isPart || first.size < 2 ? [whole] : [...first].map((one) => read(new Map([one])));
}
