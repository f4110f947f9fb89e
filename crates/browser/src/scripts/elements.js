// Runs in an isolated world in each frame, which the page can neither see nor change. Returns the elements that a person could
// act on: those that match the selector, and those that listen to clicks. The browser supplies the latter (`known`), including
// those in closed shadow roots, and the closed roots themselves. An element keeps its number as long as its document exists.
(scope, known) => {
  const CONTROLS = [
    "a[href]", "area[href]", "button", "input:not([type=hidden])", "select", "textarea", "summary", "video[controls]", "audio[controls]",
    "[contenteditable='']", "[contenteditable=true]", "[contenteditable=plaintext-only]",
    ...["button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio",
      "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem"].map((role) => `[role=${role}]`),
  ].join(",");
  const SELECTOR = `${CONTROLS},[onclick],[tabindex]:not([tabindex^='-']),[role=gridcell]`;
  // State kept between runs. Elements with an id are properties of the global object in this world too; only a symbol is safe
  // from collisions.
  const world = (globalThis[Symbol.for("pipewright")] ??= {});
  world.numbers ??= new WeakMap();
  world.elements ??= new Map();
  world.last ??= 0;
  // For clicks: controls inside another element.
  world.controls = CONTROLS;
  world.listening = new WeakSet();

  const found = [];
  const listening = new Set(known);
  // Closed roots, to be searched from inside.
  const closed = (world.closed = new Map());
  for (const node of known) {
    for (let root = rootOf(node); isShadowRoot(root); root = rootOf(root.host)) closed.set(root.host, root);
  }
  // Custom elements that may have a closed root.
  world.opaque = [];
  // A page may listen at its root, and a list may listen for all of its items. Then the items are what is clicked or dragged.
  const listens = (element) => {
    if (listening.has(element)) return element !== document.body && element !== document.documentElement;
    if (element.localName !== "li" && element.localName !== "tr") return false;
    const list = element.parentElement;
    const isHeard = listening.has(list) || (element.localName === "tr" && listening.has(list?.parentElement));
    return isHeard && list !== document.body && !element.querySelector(SELECTOR);
  };
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let element = walker.nextNode(); element; element = walker.nextNode()) {
      // A form exposes its inputs as properties, which may shadow these methods. A person acts on the inputs anyway.
      if (element instanceof HTMLFormElement) continue;
      const isListening = listens(element);
      if (isListening) world.listening.add(element);
      if (isListening || element.matches(SELECTOR)) found.push(element);
      const shadow = element.shadowRoot ?? closed.get(element);
      if (shadow) visit(shadow);
      else if (element.localName.includes("-")) world.opaque.push(element);
    }
  };
  visit(document);

  const width = innerWidth;
  const height = innerHeight;
  const deepest = (x, y) => {
    let element = document.elementFromPoint(x, y);
    for (;;) {
      const root = (element && member(element, "shadowRoot")) ?? closed.get(element);
      const inner = root?.elementFromPoint(x, y);
      if (!inner || inner === element) return element;
      element = inner;
    }
  };
  const items = [];
  let total = 0;
  for (const element of found) {
    const shown = shownBy(element);
    if (!shown) continue;
    const box = shown.getBoundingClientRect();
    total += 1;
    const isInView = box.bottom > 0 && box.right > 0 && box.top < height && box.left < width;
    if (scope === "viewport" && !isInView) continue;
    // Names take most of the time.
    const { role, name, isInferred } = identify(element, shown);
    let number = world.numbers.get(element);
    if (number === undefined) {
      number = world.last += 1;
      world.numbers.set(element, number);
      world.elements.set(number, new WeakRef(element));
    }
    const item = {
      number,
      role,
      name,
      box: [box.x, box.y, box.width, box.height].map(Math.round),
    };
    // Passwords are not returned; a button's value is its name.
    const isField = ["input", "textarea", "select"].includes(element.localName);
    if (isField && !["password", "file", "checkbox", "radio", "button", "submit", "reset", "image"].includes(element.type)) {
      const value = element.localName === "select" ? [...element.selectedOptions].map((option) => option.label).join(", ") : element.value;
      if (value) item.value = shortened(value);
    }
    const marks = [];
    if (element.matches(":disabled") || element.ariaDisabled === "true") marks.push("disabled");
    if (!isInView) marks.push("off-screen");
    else {
      // The middle, and the points around it that a click also tries.
      const isFree = ([across, down]) => {
        const x = Math.min(Math.max(box.x + box.width * across, 0), width - 1);
        const y = Math.min(Math.max(box.y + box.height * down, 0), height - 1);
        const top = deepest(x, y);
        return top && (isWithin(top, element) || isWithin(element, top) || [...(element.labels ?? [])].some((label) => isWithin(top, label)));
      };
      if (![[0.5, 0.5], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]].some(isFree)) marks.push("covered");
    }
    if (element.matches(":checked") || element.ariaChecked === "true" || element.ariaSelected === "true") marks.push("checked");
    if (rootOf(element).activeElement === element) marks.push("focused");
    if (marks.length) item.marks = marks;
    if (isInferred) item.inferred = true;
    items.push(item);
  }
  return { items, total, opaque: world.opaque.length };
}
