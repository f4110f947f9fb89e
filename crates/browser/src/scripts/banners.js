// Finds consent dialogs in the visible part of a frame, by role, name and position. Returns the buttons of each, and how many
// frames lie over the page, which may contain a dialog. `words` are the phrases of data/consent.json by category; `known` are
// closed shadow roots.
(words, isInside, known) => {
  const world = (globalThis[Symbol.for("pipewright")] ??= {});
  const LONGEST_LABEL = 80;
  const LONGEST_TEXT = 8000;
  const CONTROLS = "button, a, input[type=button], input[type=submit], summary, [role=button], [role=link], [onclick], [tabindex]";
  const TOGGLES = "input[type=checkbox], [role=switch], [role=checkbox]";
  // A dialog with fields for a person's own text is not a consent dialog.
  const FIELDS = "input[type=email], input[type=password], input[type=tel], input[type=number], input[type=date], textarea, input[type=text], input:not([type])";
  const CROSSES = new Set(["×", "✕", "✖", "✗", "╳", "⨯", "✘", "x", "X", "⨉", "❌"]);

  // The words of a text, in order. In scripts without spaces, each character is a word. Case, accents and punctuation are
  // ignored.
  const units = (text) => text.normalize("NFKD").toLowerCase().replace(/[\u0300-\u036f]/gu, "").normalize("NFC")
    .replace(/[ıłđøðςßæœ]/gu, (letter) => ({ ı: "i", ł: "l", đ: "d", ø: "o", ð: "d", ς: "σ", ß: "ss", æ: "ae", œ: "oe" })[letter])
    .replace(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}ー]/gu, " $& ")
    .match(/[\p{L}\p{N}\p{M}ー]+/gu) ?? [];
  // Builds a tree of phrases, with the categories at each phrase's end.
  const plant = () => {
    const root = { next: new Map() };
    for (const [category, phrases] of words) {
      for (const phrase of phrases.split("|")) {
        let node = root;
        for (const unit of units(phrase)) {
          if (!node.next.has(unit)) node.next.set(unit, { next: new Map() });
          node = node.next.get(unit);
        }
        node.categories = [...node.categories ?? [], category];
      }
    }
    return root;
  };
  if (world.phrasesOf !== words.length) {
    world.phrases = plant();
    world.phrasesOf = words.length;
  }
  // Calls back for each of the longest phrases from left to right, or with null for a word that is in none.
  const read = (text, found) => {
    for (let at = 0; at < text.length;) {
      let node = world.phrases;
      let end = at;
      let categories = null;
      for (let next = at; node && next < text.length; next += 1) {
        node = node.next.get(text[next]);
        if (node?.categories) [end, categories] = [next + 1, node.categories];
      }
      found(categories, at);
      at = Math.max(end, at + 1);
    }
  };

  // The meaning of a button's label, and whether it mentions cookies or "all"; null for any other label.
  const kindOf = (label) => {
    if (CROSSES.has(label.trim())) return { kind: "close", isClear: false };
    if (!label || label.length > LONGEST_LABEL) return null;
    const has = new Set();
    let unknown = 0;
    let count = 0;
    read(units(label), (categories) => {
      count += 1;
      if (!categories) unknown += 1;
      // "Consent" can also be a noun, as in "Consent settings".
      const isName = categories?.includes("accept") && categories.includes("purpose");
      for (const category of categories ?? []) has.add(isName && category === "accept" ? "name" : category);
    });
    if (has.has("name") && !has.has("settings")) has.add("accept");
    const is = (...categories) => categories.some((category) => has.has(category));
    if (!count || is("never", "other", "erase")) return null;
    const isClear = is("topic", "all", "necessary", "optional");
    const kind = () => {
      if (is("reject")) return is("accept") && !is("necessary", "none") ? null : "decline";
      if (is("none")) return is("accept", "topic", "all") ? "decline" : null;
      if (unknown) return null;
      if (is("necessary") && !is("all", "optional")) return is("only", "accept", "save", "ack") ? "decline" : null;
      if (is("choice") && !is("all", "optional")) return is("save", "accept", "ack") ? "save" : "settings";
      if (is("save")) return is("all") ? "accept_all" : "save";
      if (is("accept")) {
        if (is("settings")) return null;
        return is("all", "optional") ? "accept_all" : "accept";
      }
      if (is("settings")) return is("all", "optional") ? null : "settings";
      if (is("ack")) return is("all") ? null : "acknowledge";
      if (is("close")) return "close";
      return is("no") ? "decline" : null;
    };
    // A label that declines may contain a name: "Reject all Acme cookies".
    if (unknown > 1 || (unknown === 1 && !isClear)) return null;
    const found = kind();
    return found && { kind: found, isClear };
  };

  const closed = new Map(known.map((root) => [root.host, root]));
  const rootOf = (element) => member(element, "shadowRoot") ?? closed.get(element) ?? null;
  const parentOf = (node) => member(node, "assignedSlot") ?? member(node, "parentElement")
    ?? (call(node, "getRootNode") === document ? null : call(node, "getRootNode").host ?? null);
  const isVisible = (element) => {
    if (!call(element, "checkVisibility", { opacityProperty: true, visibilityProperty: true })) return false;
    const box = call(element, "getBoundingClientRect");
    return box.width > 0 && box.height > 0;
  };

  // Samples what the window shows, more densely at the edges, where bars are.
  const shown = new Set();
  const [width, height] = [innerWidth, innerHeight];
  const between = (length, edges, parts) => [
    ...edges, ...edges.map((edge) => length - edge), ...Array.from({ length: parts }, (_, index) => (length * (index + 0.5)) / parts),
  ].filter((at) => at >= 0 && at < length);
  for (const y of between(height, [6, 20, 40, 65, 95], 10)) {
    for (const x of between(width, [12, 40], 9)) {
      let element = document.elementFromPoint(x, y);
      for (let inner = element && rootOf(element)?.elementFromPoint(x, y); inner && inner !== element; inner = rootOf(element)?.elementFromPoint(x, y)) {
        element = inner;
      }
      if (element) shown.add(element);
    }
  }
  world.opaque = [...shown].filter((element) => member(element, "localName").includes("-") && !rootOf(element));

  const isDialog = (element) => ["dialog", "alertdialog"].includes(call(element, "getAttribute", "role")) || member(element, "localName") === "dialog"
    || call(element, "getAttribute", "aria-modal") === "true";
  const isOverlay = (element) => {
    if (isDialog(element)) return true;
    const style = getComputedStyle(element);
    return style.position === "fixed" || style.position === "sticky" || (style.position === "absolute" && Number(style.zIndex) >= 1);
  };
  // A notice above or below the page's subject, in the page's flow.
  const isAside = (element) => {
    if (element === document.body || element === document.documentElement || call(element, "closest", "main, article, nav, form, [role=main]")) return false;
    if (call(element, "getBoundingClientRect").width < width * 0.7) return false;
    const subject = document.querySelector("main, [role=main], article, h1");
    if (!subject || call(element, "contains", subject)) return false;
    const isBefore = call(element, "compareDocumentPosition", subject) & Node.DOCUMENT_POSITION_FOLLOWING;
    const end = document.querySelector("main, [role=main], footer");
    return isBefore || (end !== null && !call(element, "contains", end) && Boolean(end.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING));
  };

  const pressed = world.pressed ??= new WeakSet();
  const labelsOf = (control) => ["innerText", "value", "computedName", "ariaLabel", "title"].map((name) => member(control, name))
    .filter((label) => typeof label === "string" && label.trim()).map((label) => label.trim());
  const has = (label, ...wanted) => {
    let isSo = false;
    read(units(label), (categories) => { isSo ||= wanted.some((category) => categories?.includes(category)); });
    return isSo;
  };
  // A link to another document is not an answer.
  const isAway = (control) => member(control, "localName") === "a" && /^(https?|file):/u.test(control.href) && !/^(#|$)/u.test(control.getAttribute("href"))
    && control.href.split("#")[0] !== location.href.split("#")[0];

  // The visible content of an element: its text, and its buttons.
  const gather = (container) => {
    const found = { text: "", controls: [], toggles: [], hasField: false, hasSubject: false };
    let visited = 0;
    const walk = (node, isPointed) => {
      if (member(node, "nodeType") === 3) {
        if (found.text.length < LONGEST_TEXT * 3) found.text += `${node.data} `;
        return;
      }
      const kind = member(node, "localName");
      if (member(node, "nodeType") !== 1 || (visited += 1) > 3000 || ["script", "style", "noscript", "template"].includes(kind)) return;
      const style = getComputedStyle(node);
      if (style.display === "none") return;
      if (call(node, "matches", TOGGLES)) found.toggles.push(node);
      else if (style.opacity === "0") return;
      if (style.visibility === "visible") {
        if (call(node, "matches", FIELDS) && isVisible(node)) found.hasField = true;
        if (call(node, "matches", "main, article, nav, h1")) found.hasSubject = true;
        const isControl = call(node, "matches", CONTROLS) || (!isPointed && style.cursor === "pointer");
        if (isControl && found.controls.length < 200 && isVisible(node)) found.controls.push(node);
      } else if (!member(node, "childElementCount")) return;
      const isFilled = kind === "slot" && node.assignedNodes().length;
      const nodes = isFilled ? node.assignedNodes() : member(rootOf(node) ?? node, "childNodes");
      for (const child of nodes) walk(child, isPointed || style.cursor === "pointer");
    };
    walk(container, false);
    return found;
  };

  const pathOf = (element) => {
    const parts = [];
    for (let at = element; at && parts.length < 5; at = parentOf(at)) {
      const [id, kind] = [member(at, "id"), member(at, "localName")];
      if (id) {
        parts.unshift(`#${CSS.escape(id)}`);
        break;
      }
      const around = member(at, "parentNode");
      const same = around ? [...member(around, "children")].filter((other) => member(other, "localName") === kind) : [];
      parts.unshift(same.length > 1 ? `${kind}:nth-of-type(${same.indexOf(at) + 1})` : kind);
    }
    return parts.join(" > ");
  };

  world.actions = [];
  const keep = (container, element) => world.actions.push({ container, element }) - 1;

  const judge = (container, isPart) => {
    const { text, controls, toggles, hasField, hasSubject } = gather(container);
    if (hasField || (hasSubject && !isDialog(container) && !isInside)) return null;
    const all = units(text.slice(0, LONGEST_TEXT));
    if (text.length > (isPart ? 1500 : isDialog(container) || isInside ? LONGEST_TEXT * 3 : LONGEST_TEXT)) return null;
    const seen = { topic: 0, purpose: new Set(), other: 0, erase: 0 };
    read(all, (categories, at) => {
      if (categories?.includes("topic")) seen.topic += 1;
      if (categories?.includes("purpose")) seen.purpose.add(all[at]);
      // A dialog states its subject at the beginning; many also link terms at the end.
      if (categories?.includes("other") || (categories?.includes("contract") && at < 25)) seen.other += 1;
      if (categories?.includes("erase") && at < 12) seen.erase += 1;
    });
    if (seen.erase) return null;
    const actions = [];
    let others = 0;
    for (const element of controls) {
      if (pressed.has(element) || call(element, "matches", ":disabled") || member(element, "ariaDisabled") === "true") {
        others += 1;
        continue;
      }
      const labels = labelsOf(element).filter((label) => label.length <= LONGEST_LABEL);
      if (labels.some((label) => has(label, "erase"))) return null;
      if (!isAway(element) && labels.some((label) => has(label, "never"))) seen.other += 1;
      const kinds = labels.map(kindOf).filter(Boolean);
      const found = kinds.find(({ kind }) => kind === "decline") ?? kinds[0];
      // The visible label and the accessible name may differ: neither may promise more than the other.
      if (found && !labels.some((label) => has(label, "never", "other"))) actions.push({ ...found, element, isAway: isAway(element) });
      else if (member(element, "localName") !== "a") others += 1;
    }
    const offers = (kind) => actions.some((action) => action.kind === kind);
    const asksBoth = offers("decline") && (offers("accept") || offers("accept_all"));
    const isConsent = seen.topic > 0 ? seen.purpose.size >= 1 && (!(isPart || isInside) || seen.purpose.size + seen.topic > 2) : seen.purpose.size >= 4 && asksBoth;
    if (!isConsent) return null;
    // A dialog that is also about something else is answered only if the button says what it declines. Settings that only mention
    // cookies belong to something else.
    const isOurs = ({ kind }) => seen.purpose.size >= 2 || !["save", "settings"].includes(kind);
    const kept = actions.filter((action) => !action.isAway && isOurs(action) && (!seen.other || (action.kind === "decline" && action.isClear)));
    if (!kept.length) return null;
    const on = toggles.filter((toggle) => (member(toggle, "checked") || member(toggle, "ariaChecked") === "true") && !call(toggle, "matches", ":disabled")
      && member(toggle, "ariaDisabled") !== "true");
    return {
      actions: kept.map(({ kind, element }) => ({ kind, selector: pathOf(element), number: keep(container, element) })),
      on: on.map((toggle) => ({ kind: "toggle", selector: pathOf(toggle), number: keep(container, toggle) })),
      hasToggles: toggles.length > 0,
      isAlone: actions.length === 1 && others === 0,
    };
  };
  // From the inside outwards: the first consent dialog.
  const banners = [];
  const judged = new Map();
  const frames = new Set();
  const isOfBanner = new Set();
  for (const start of shown) {
    let isOver = isInside;
    let aside = null;
    for (let at = start; at && at !== document.documentElement; at = parentOf(at)) {
      if (isOfBanner.has(at)) {
        aside = null;
        break;
      }
      const isBody = isInside && at === document.body;
      const isPart = !isBody && !isOverlay(at);
      isOver ||= !isPart;
      if (isPart) {
        if (isAside(at)) aside = at;
        continue;
      }
      if (!judged.has(at) && judged.size < 60) judged.set(at, judge(at, false));
      if (judged.get(at)) {
        banners.push(judged.get(at));
        isOfBanner.add(at);
        aside = null;
        break;
      }
    }
    if (aside && !isOver && !judged.has(aside) && judged.size < 60) {
      judged.set(aside, judge(aside, true));
      if (judged.get(aside)) banners.push(judged.get(aside));
    }
    if (member(start, "localName") === "iframe" && isOver) frames.add(start);
  }
  world.frames_of = [...frames];
  return { banners, frames: world.frames_of.length, opaque: world.opaque.length };
}
