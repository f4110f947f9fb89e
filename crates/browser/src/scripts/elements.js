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
  // A styled box may stand for them elsewhere.
  const FIELDS = ["area", "input", "select", "textarea", "label"];
  const OTHERS = "[onclick],[tabindex]:not([tabindex^='-']),[role=gridcell]";
  const SELECTOR = `${CONTROLS},${OTHERS}`;
  // State kept between runs. Elements with an id are properties of the global object in this world too; only a symbol is safe
  // from collisions.
  const world = (globalThis[Symbol.for("pipewright")] ??= {});
  world.numbers ??= new WeakMap();
  world.elements ??= new Map();
  world.last ??= 0;
  // For clicks: controls inside another element.
  world.controls = CONTROLS;
  world.selector = SELECTOR;
  world.listening = new WeakSet();

  cutOffs.clear();
  seenBoxes = new Map();
  const MOST_OPTIONS = 200;
  let found = [];
  const kinds = new Set();
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
    if (element.getAttribute("draggable") === "true") return true;
    const list = element.parentElement;
    if (element instanceof SVGGraphicsElement) return listening.has(list) && list.localName === "g" && element.localName !== "g" && Boolean(named(element));
    if (element.localName !== "li" && element.localName !== "tr") return false;
    const isHeard = listening.has(list) || (element.localName === "tr" && listening.has(list?.parentElement));
    return isHeard && list !== document.body && !element.querySelector(SELECTOR);
  };
  // A page may also listen elsewhere. Then the mouse pointer shows what can be pressed: where a hand begins, and not in what it is in.
  const HANDS = ["pointer", "grab", "move"];
  const handed = handsWhileHovered();
  const hands = new Map();
  const hasHand = (element) => {
    if (!isElement(element)) return false;
    if (!hands.has(element)) hands.set(element, HANDS.includes(getComputedStyle(element).cursor) || handed.has(element));
    return hands.get(element);
  };
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
    const box = boxAt(element);
    return box.bottom > 0 && box.right > 0 && box.top < height && box.left < width;
  };
  // What shows more under the mouse pointer. Libraries also listen on wrappers, rows and what is shown by this itself.
  const TOLD = "tr,td,th,[role=row],[role=cell],[role=gridcell],[role=columnheader],[role=dialog],[role=grid],[role=listbox],[role=menu],[role=tooltip]";
  const triggers = hoverTriggers();
  const hovers = new Set([...triggers, ...hovered.filter((element) => !call(element, "matches", TOLD))]);
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let element = walker.nextNode(); element; element = walker.nextNode()) {
      // A form exposes its inputs as properties, which may shadow these methods. A person acts on the inputs anyway.
      if (element instanceof HTMLFormElement) continue;
      if (isNear(element)) {
        const isKind = element.matches(CONTROLS);
        if (isKind) kinds.add(element);
        const isListening = (!isKind && beginsHand(element)) || listens(element);
        if (isListening) world.listening.add(element);
        if (isKind || isListening || hovers.has(element) || element.matches(OTHERS)) found.push(element);
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
  const shownIn = new Map(found.map((element) => [element, shownBy(element)]).filter(([, shown]) => shown));
  const isNeeded = among(shownIn, { kinds, hovers, triggers, listening, begun, handed, height, deepest });
  found = found.filter((element) => shownIn.has(element) && isNeeded(element));

  // Whether a part of the page that scrolls hides the middle of an element.
  const isScrolledOut = (element, box) => {
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    for (let at = parent(element); at && at !== document.body; at = parent(at)) {
      if (!isElement(at) || getComputedStyle(at).overflow === "visible") continue;
      const { left, right, top, bottom } = boxAt(at);
      if (x < left || x > right || y < top || y > bottom) return true;
    }
    return false;
  };
  // Positions are taken before roles and names: for each of these, the browser brings its layout up to date.
  const places = found.map((element) => ({ element, shown: shownIn.get(element), box: placeOf(element, shownIn.get(element)) }));
  // What is before the left or upper edge of the page, where nothing scrolls.
  const [left, top] = [-scrollX, -scrollY];
  const isOutOfReach = (element, box) => {
    const isWithinReach = ({ right, bottom }) => right > left && bottom > top;
    if (isWithinReach(box)) return false;
    for (let at = parent(element); at && at !== document.body; at = parent(at)) {
      if (isElement(at) && getComputedStyle(at).overflow !== "visible" && isWithinReach(boxAt(at))) return false;
    }
    return true;
  };
  const placed = places.filter(({ element, box }) => !isOutOfReach(element, box));
  // What a field shows in its box, such as a placeholder.
  const isInBox = (top, element) => {
    const box = isField(element) ? boxOf(element) : null;
    let at = top;
    while (box && at && at !== box && !listed.has(at)) at = parent(at);
    return Boolean(box) && at === box;
  };
  const listed = new Set(found);
  for (const one of placed) {
    const { element, shown, box } = one;
    one.isInView = box.bottom > 0 && box.right > 0 && box.top < height && box.left < width;
    // The middle, and the points around it that a click also tries.
    const isFree = ([across, down]) => {
      const x = Math.min(Math.max(box.x + box.width * across, 0), width - 1);
      const y = Math.min(Math.max(box.y + box.height * down, 0), height - 1);
      const top = deepest(x, y);
      return top && (isWithin(top, element) || isWithin(element, top) || isWithin(top, shown) || isInBox(top, element) || [...(element.labels ?? [])].some((label) => isWithin(top, label)));
    };
    one.isCovered = one.isInView && ![[0.5, 0.5], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]].some(isFree);
    if (one.isCovered && isScrolledOut(shown, box)) one.isInView = one.isCovered = false;
  }
  const items = [];
  const owners = [];
  const hasSort = Boolean(document.querySelector("[aria-sort]"));
  // By role and name, most are one of a kind.
  const firsts = new Map();
  const equal = new Map();
  const icons = new Map();
  // The name of the button that Enter presses, by form.
  const submitters = new Map();
  const enteredBy = (form) => {
    if (!submitters.has(form)) {
      const submitter = submitterOf(form);
      submitters.set(form, submitter ? named(submitter) : "");
    }
    return submitters.get(form);
  };
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
      box: [Math.round(box.x), Math.round(box.y), Math.round(box.width), Math.round(box.height)],
    };
    if (isPlaceholder(element, name)) item.placeholder = true;
    const entered = isTyped(element) && element.form ? enteredBy(element.form) : "";
    if (entered) item.enters = entered;
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
    if (hovers.has(element) && !element.matches(CONTROLS)) marks.push("hover");
    if (element.ariaCurrent && element.ariaCurrent !== "false") marks.push("current");
    // The state of a column is often that of the header around its button.
    const header = hasSort && !isField(element) ? element.closest("[aria-sort]") : null;
    const sorted = header && header !== element && call(header, "querySelector", CONTROLS) === element ? header.ariaSort : element.ariaSort;
    if (["ascending", "descending"].includes(sorted)) marks.push(sorted);
    if (element.ariaExpanded === "true" || (element.localName === "summary" && element.parentElement?.open)) marks.push("expanded");
    else if (element.ariaExpanded === "false" && !["combobox", "tab"].includes(role) && !element.ariaHasPopup) marks.push("collapsed");
    if (element.localName === "textarea" || element.ariaMultiLine === "true") marks.push("multiline");
    if ((element.localName === "select" && element.multiple) || element.ariaMultiSelectable === "true") marks.push("multiple");
    if (element.readOnly && WRITTEN.includes(role)) marks.push("readonly");
    if (element.required || element.ariaRequired === "true") marks.push("required");
    if (element.ariaInvalid === "true" || element.matches(":user-invalid")) marks.push("invalid");
    if (rootOf(element).activeElement === element) marks.push("focused");
    if (marks.length) item.marks = marks;
    items.push(item);
    const icon = name ? "" : iconOf(element);
    if (icon) icons.set(item, icon);
    const [at, key] = [owners.push(element) - 1, `${role} ${name || icon}`];
    if (!firsts.has(key)) firsts.set(key, at);
    else if (equal.has(key)) equal.get(key).push(at);
    else equal.set(key, [firsts.get(key), at]);
  }
  for (const alike of equal.values()) tellApart(alike.map((at) => [owners[at], items[at]]));
  for (const [item, icon] of icons) item.place = [`icon "${icon}"`, item.place].filter(Boolean).join(" ");
  seenBoxes = null;
  return { items, opaque: world.opaque.length, origin };
}
