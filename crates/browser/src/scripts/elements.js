// Runs in an isolated world in each frame, which the page can neither see nor change. Returns the elements that a person could
// act on: those that match the selector, and those that listen to clicks. The browser supplies the latter (`known`), including
// those in closed shadow roots, and the closed roots themselves; `hovered` only listen to the mouse being over them. An element keeps its number as long as its document exists.
(scope, known, hovered) => {
  const CONTROLS = [
    "a[href]", "area[href]", "button", "input:not([type=hidden])", "select", "textarea", "summary", "video[controls]", "audio[controls]",
    "[contenteditable='']", "[contenteditable=true]", "[contenteditable=plaintext-only]",
    ...["button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio",
      "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem"].map((role) => `[role=${role}]`),
  ].join(",");
  // Those that take the focus only to be scrolled, or for the controls in them.
  const CONTAINERS = ["radiogroup", "rowgroup", "tablist", "tabpanel"].map((role) => `[role=${role}]`).join(",");
  // A styled box may stand for them elsewhere.
  const FIELDS = ["area", "input", "select", "textarea", "label"];
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

  const MOST_OPTIONS = 200;
  let found = [];
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
    const list = element.parentElement;
    if (element instanceof SVGGraphicsElement) return listening.has(list) && list.localName === "g" && element.localName !== "g" && Boolean(named(element));
    if (element.localName !== "li" && element.localName !== "tr") return false;
    const isHeard = listening.has(list) || (element.localName === "tr" && listening.has(list?.parentElement));
    return isHeard && list !== document.body && !element.querySelector(SELECTOR);
  };
  // A page may also listen elsewhere. Then the mouse pointer shows what can be pressed: where a hand begins, and not in what it is in.
  const hasHand = (element) => isElement(element) && getComputedStyle(element).cursor === "pointer";
  const begun = new Set();
  const beginsHand = (element) => {
    if (!hasHand(element) || element === document.body || element === document.documentElement) return false;
    const around = parent(element);
    if (hasHand(isShadowRoot(around) ? around.host : around) || getComputedStyle(element).pointerEvents === "none") return false;
    begun.add(element);
    return true;
  };
  const width = innerWidth;
  const height = innerHeight;
  const isNear = (element) => {
    if (scope !== "viewport" || FIELDS.includes(element.localName)) return true;
    const box = element.getBoundingClientRect();
    return box.bottom > 0 && box.right > 0 && box.top < height && box.left < width;
  };
  // What shows more under the mouse pointer.
  const hovers = new Set([...hovered, ...hoverTriggers()]);
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let element = walker.nextNode(); element; element = walker.nextNode()) {
      // A form exposes its inputs as properties, which may shadow these methods. A person acts on the inputs anyway.
      if (element instanceof HTMLFormElement) continue;
      if (isNear(element)) {
        const isListening = beginsHand(element) || listens(element);
        if (isListening) world.listening.add(element);
        if (isListening || hovers.has(element) || element.matches(SELECTOR)) found.push(element);
      }
      const shadow = element.shadowRoot ?? closed.get(element);
      if (shadow) visit(shadow);
      else if (element.localName.includes("-")) world.opaque.push(element);
    }
  };
  visit(document);

  const deepest = (x, y) => {
    let element = document.elementFromPoint(x, y);
    for (;;) {
      const root = (element && member(element, "shadowRoot")) ?? closed.get(element);
      const inner = root?.elementFromPoint(x, y);
      if (!inner || inner === element) return element;
      element = inner;
    }
  };
  const isControl = (element) => element.matches(CONTROLS);
  const shownIn = new Map(found.map((element) => [element, shownBy(element)]).filter(([, shown]) => shown));
  const inner = new Map();
  const add = (map, key, value) => (map.has(key) ? map.get(key).push(value) : map.set(key, [value]));
  const around = new Map();
  const outerOf = (element) => {
    const passed = [];
    let at = parent(element);
    while (at && !shownIn.has(at) && !around.has(at)) {
      passed.push(at);
      at = parent(at);
    }
    const outer = at && !shownIn.has(at) ? around.get(at) : at;
    for (const one of passed) around.set(one, outer);
    return outer;
  };
  const outers = new Map([...shownIn.keys()].map((element) => [element, outerOf(element)]));
  for (const element of shownIn.keys()) {
    for (let at = outers.get(element); at; at = outers.get(at)) add(inner, at, element);
  }
  // Whether an element has text of its own, outside of the others that are listed and of their labels.
  const hasText = (element) => {
    const isOthers = (node) => node !== element && (shownIn.has(node) || (node.localName === "label" && shownIn.has(node.control)));
    const filter = (node) => (isElement(node) ? (isOthers(node) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP) : NodeFilter.FILTER_ACCEPT);
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, filter);
    // A text may be shown in a slot of another one.
    const isOwn = (text) => {
      for (let at = text.assignedSlot ?? parent(text); at && at !== element; at = parent(at)) if (isOthers(at)) return false;
      return true;
    };
    for (let text = walker.nextNode(); text; text = walker.nextNode()) if (text.data.replace(NOTHING, "") && isVisible(text.parentElement) && isOwn(text)) return true;
    return false;
  };
  // What is pressed through another element of the list: containers that listen for their controls, wrappers, labels, and copies that
  // are cut off. A container that takes the focus under a label of its own stays.
  const isTwice = (element) => {
    const isStop = () => element.tabIndex >= 0 && Boolean(element.ariaLabel || element.getAttribute("aria-labelledby"));
    const within = inner.get(element) ?? [];
    const outer = outers.get(element);
    if (element.localName === "label") return shownIn.has(element.control) || isNameOfAnother(element);
    if (element.matches(CONTAINERS) && !world.listening.has(element)) return true;
    const label = element.closest("label");
    if (label && label.control !== element && shownIn.has(label.control) && isNamedLike(element, label.control)) return true;
    // The link of a tab, the button of an option: pressing either is the same.
    if (outer?.matches("[role=tab],[role=option],[role=menuitem],[role=treeitem]") && isNamedLike(element, outer)) return true;
    if (element.matches("[role=option]")) return isCutOff(element);
    if (isControl(element)) {
      if (element.matches("[role=listbox]")) return within.some((one) => one.matches("[role=option]")) || isCutOff(element);
      return within.length > 0 && !isStop() && element.matches("[role=combobox],[role=checkbox],[role=radio],[role=switch]") && within.some((one) => one.matches("input"));
    }
    if (within.length > 0) {
      if (isStop() || hovers.has(element)) return false;
      if (!hasText(element) || (within.length === 1 && WRITTEN.includes(roleOf(within[0])))) return true;
      if (hasHand(element) || element.matches("[onclick],tr,li")) return false;
      return within.length > 3 || element.parentElement === document.body || element.getBoundingClientRect().height > height / 2;
    }
    if (begun.has(element) && [element.previousElementSibling, element.nextElementSibling].some((field) => isOver(field, element))) return true;
    if (!outer || !isControl(outer) || isField(outer)) return false;
    const name = named(element);
    return name ? isNamedLike(element, outer) || name === valueOf(outer, roleOf(outer)) : !begun.has(element) || isMostOf(element, outer);
  };
  const isNameOfAnother = (label) => Boolean(label.id && rootOf(label).querySelector(`[aria-labelledby~="${CSS.escape(label.id)}"]`));
  // A transparent field over the styled box that a person sees in its place.
  const isOver = (field, element) => shownIn.get(field) === field && isField(field) && !isVisible(field) && isMostOf(field, element) && isOnTop(field, element);
  // Outside of the window only the style can tell.
  const isOnTop = (field, element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const top = deepest(x + width / 2, y + height / 2);
    return top ? top === field : Number(getComputedStyle(field).zIndex) > 0;
  };
  // An icon in a control may be another one; its body is not.
  const isMostOf = (element, outer) => {
    const [own, around] = [element, outer].map((one) => one.getBoundingClientRect());
    return 2 * own.width * own.height >= around.width * around.height;
  };
  const isNamedLike = (element, outer) => named(element) === named(outer, shownIn.get(outer));
  const isCutOff = (element) => {
    for (let at = parent(element), level = 0; isElement(at) && level < 6; at = parent(at), level += 1) {
      if ((at.offsetWidth < 2 || at.offsetHeight < 2) && getComputedStyle(at).overflow !== "visible") return true;
    }
    return false;
  };
  found = found.filter((element) => shownIn.has(element) && !isTwice(element));

  // Positions are taken before roles and names: for each of these, the browser brings its layout up to date.
  const placed = found.map((element) => ({ element, shown: shownIn.get(element), box: placeOf(element, shownIn.get(element)) }));
  for (const one of placed) {
    const { element, shown, box } = one;
    one.isInView = box.bottom > 0 && box.right > 0 && box.top < height && box.left < width;
    // The middle, and the points around it that a click also tries.
    const isFree = ([across, down]) => {
      const x = Math.min(Math.max(box.x + box.width * across, 0), width - 1);
      const y = Math.min(Math.max(box.y + box.height * down, 0), height - 1);
      const top = deepest(x, y);
      return top && (isWithin(top, element) || isWithin(element, top) || isWithin(top, shown) || [...(element.labels ?? [])].some((label) => isWithin(top, label)));
    };
    one.isCovered = one.isInView && ![[0.5, 0.5], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]].some(isFree);
  }
  const items = [];
  const equal = new Map();
  for (const { element, shown, box, isInView, isCovered } of placed) {
    if (scope === "viewport" && !isInView) continue;
    // Names take most of the time.
    const { role, name } = identify(element, shown);
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
    if (isPlaceholder(element, name)) item.placeholder = true;
    const value = valueOf(element, role);
    // An empty combobox may show its label in its place.
    if (value && (role !== "combobox" || value.replaceAll(name, "").trim())) item.value = shortened(value);
    if (element.localName === "select") item.options = [...element.options].slice(0, MOST_OPTIONS).map((option) => shortened(option.label));
    const marks = [];
    if (element.matches(":disabled") || element.ariaDisabled === "true") marks.push("disabled");
    if (!isInView) marks.push("off-screen");
    if (isCovered) marks.push("covered");
    if (element.matches(":checked") || [element.ariaChecked, element.ariaSelected, element.ariaPressed].includes("true")) marks.push("checked");
    else if (element.indeterminate || element.ariaChecked === "mixed") marks.push("mixed");
    if (hovers.has(element) && !isControl(element)) marks.push("hover");
    if (element.ariaExpanded === "true" || (element.localName === "summary" && element.parentElement?.open)) marks.push("expanded");
    if (element.required || element.ariaRequired === "true") marks.push("required");
    if (element.ariaInvalid === "true" || element.matches(":user-invalid")) marks.push("invalid");
    if (rootOf(element).activeElement === element) marks.push("focused");
    if (marks.length) item.marks = marks;
    items.push(item);
    add(equal, `${role} ${name}`, [element, item]);
  }
  for (const alike of equal.values()) if (alike.length > 1) tellApart(alike);
  return { items, opaque: world.opaque.length, origin };
}
