// Which elements of a list a person needs: not those that are pressed through another one, nor what only keyboards and screen readers
// meet. `shownIn` has each element with what a person sees of it.
const ofRoles = (roles) => roles.map((role) => `[role=${role}]`).join(",");
// Those that take the focus only to be scrolled, or for the controls in them; groups may also take keys, under a label of their own.
const CONTAINERS = ofRoles(["grid", "menu", "menubar", "radiogroup", "rowgroup", "table", "tablist", "tabpanel", "tree", "treegrid"]);
const GROUPS = ofRoles(["alertdialog", "application", "dialog", "document", "group", "list", "region", "toolbar"]);
// In these, a part with the same name does the same.
const WHOLE = `${ofRoles(["tab", "option", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem", "button", "link", "combobox", "columnheader"])},a[href],button`;
const SWITCHES = ofRoles(["checkbox", "radio", "switch", "slider"]);
const add = (map, key, value) => (map.has(key) ? map.get(key).push(value) : map.set(key, [value]));
const among = (shownIn, { kinds, hovers, triggers, listening, begun, handed, height, deepest }) => {
  const world = globalThis[Symbol.for("pipewright")];
  const isControl = (element) => kinds.has(element);
  // The nearest listed element around each, and all listed ones in each.
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
  const inner = new Map();
  for (const element of shownIn.keys()) {
    for (let at = outers.get(element); at; at = outers.get(at)) add(inner, at, element);
  }
  const isNamedLike = (element, outer) => named(element, shownIn.get(element)) === named(outer, shownIn.get(outer));
  // Whether an element has text of its own, outside of the others that are listed and of their labels.
  const hasText = (element) => {
    const isOthers = (node) => node !== element && (shownIn.has(node) || (node.localName === "label" && Boolean(node.control)));
    const filter = (node) => (isElement(node) ? (isOthers(node) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP) : NodeFilter.FILTER_ACCEPT);
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, filter);
    // A text may be shown in a slot of another one.
    const isOwn = (text) => {
      for (let at = text.assignedSlot ?? parent(text); at && at !== element; at = parent(at)) if (isOthers(at)) return false;
      return true;
    };
    for (let text = walker.nextNode(); text; text = walker.nextNode()) if (/[\p{L}\p{N}]/u.test(text.data) && isTextVisible(text) && isOwn(text)) return true;
    return false;
  };
  // A container that takes the focus under a label of its own.
  const isStop = (element) => element.tabIndex >= 0 && Boolean(element.ariaLabel || element.getAttribute("aria-labelledby"));
  // The text that names another element, by its id or for.
  const isNameOfAnother = (element) => {
    if (element.hasAttribute("role") || element.tabIndex >= 0) return false;
    const of = element.getAttribute("for");
    const root = of || element.id ? rootOf(element) : null;
    return Boolean(root && ((of && root.querySelector(`#${CSS.escape(of)}`)) || (element.id && root.querySelector(`[aria-labelledby~="${CSS.escape(element.id)}"]`))));
  };
  // The box that a person sees in the place of a field, and what is in it, unless it listens itself.
  const boxes = new Set([...shownIn].filter(([element, shown]) => shown !== element && element.localName !== "area").map(([, shown]) => shown));
  const standsForAnother = (element) => {
    if (boxes.has(element)) return true;
    for (let at = parent(element), level = 0; isElement(at) && level < 4 && !listening.has(element); at = parent(at), level += 1) if (boxes.has(at)) return true;
    return false;
  };
  // The one part of an option, or of a day of a calendar, that listens.
  const isBodyOf = (element, outer) => {
    if (isControl(element) || inner.get(outer).length > 1 || !(outer.matches(WHOLE) || (outer.matches("[role=gridcell]") && isMostOf(element, outer)))) return false;
    return Boolean(named(element)) && named(outer, shownIn.get(outer)).includes(named(element));
  };
  // The pointer over an item of a list may become a hand only where it is, and then in a part of it.
  const keepsNumber = (outer, element) => !isControl(element) && world.numbers.has(outer) && !world.numbers.has(element) && isNamedLike(element, outer);
  const takesPointer = (field) => isVisible(field) && !field.readOnly && getComputedStyle(field).pointerEvents !== "none";
  // A transparent field over the styled box that a person sees in its place.
  const isOver = (field, element) => field !== element && shownIn.get(field) === field && isField(field) && !isVisible(field) && isMostOf(field, element) && isOnTop(field, element);
  const isBeside = (one, element) => Boolean(one) && (one.localName === "slot" ? one.assignedElements({ flatten: true }).some((field) => isOver(field, element)) : isOver(one, element));
  const isUnderField = (element) => isBeside(element.previousElementSibling, element) || isBeside(element.nextElementSibling, element);
  // Outside of the window only the style can tell.
  const isOnTop = (field, element) => {
    const { x, y, width, height } = boxAt(element);
    const top = deepest(x + width / 2, y + height / 2);
    return top ? top === field : Number(getComputedStyle(field).zIndex) > 0;
  };
  // An icon in a control may be another one; its body is not.
  const isMostOf = (element, outer) => {
    const [own, around] = [element, outer].map(boxAt);
    return 2 * own.width * own.height >= around.width * around.height;
  };
  // What is pressed through another element of the list: containers that listen for their controls, wrappers, labels, and copies.
  const isTwice = (element) => {
    const within = inner.get(element) ?? [];
    const outer = outers.get(element);
    if (element.localName === "label") return shownIn.has(element.control) || isNameOfAnother(element) || [...element.parentElement.children].some((field) => isSwitch(field) && !isVisible(field) && shownIn.has(field));
    const isContainer = element.hasAttribute("role") && (element.matches(CONTAINERS) || (element.matches(GROUPS) && !isStop(element)));
    if (isContainer && !world.listening.has(element) && !element.matches("[onclick]")) return true;
    const label = element.closest("label");
    if (label && label.control !== element && shownIn.has(label.control) && isNamedLike(element, label.control)) return true;
    if (isControl(element)) return isControlTwice(element, within, outer);
    if (isNameOfAnother(element) || standsForAnother(element)) return true;
    if (outer && (isBodyOf(element, outer) || keepsNumber(outer, element) || (outer.matches(WHOLE) && isNamedLike(element, outer)))) return true;
    if (within.length > 0) return isWrapper(element, within);
    if (outer && isControl(outer) && handed.has(element)) return true;
    if (begun.has(element) && isUnderField(element)) return true;
    if (!outer || !isControl(outer) || isField(outer)) return false;
    const name = named(element);
    if (name) return isNamedLike(element, outer) || name === shortened(valueOf(outer, roleOf(outer)));
    return outer.matches(SWITCHES) || !begun.has(element) || isMostOf(element, outer);
  };
  const isControlTwice = (element, within, outer) => {
    // The link of a tab, the button of an option: pressing either is the same.
    if (outer?.matches(WHOLE) && (isControl(outer) || isStop(outer)) && !isField(element) && isNamedLike(element, outer)) return true;
    // A drawn checkbox of an item: the item is pressed.
    if (isSwitch(element) && outer?.matches("[role=treeitem],[role=option],[role^=menuitem]") && getComputedStyle(shownIn.get(element)).pointerEvents === "none") return true;
    if (outer?.matches("[role=combobox]") && !isField(element) && named(element) && named(element) === shortened(valueOf(outer, "combobox"))) return true;
    if (element.matches("input") && shownIn.has(element.closest("[role=combobox]:not(input)")) && !takesPointer(element)) return true;
    if (outer?.matches(SWITCHES) && isStop(outer) && element.matches("input") && roleOf(element) === roleOf(outer)) return true;
    if (element.matches("[role=option]")) return false;
    if (element.matches("[role=listbox]")) return within.some((one) => one.matches("[role=option]")) || sizeOf(shownIn.get(element)) < 2;
    if (within.length > 0) return !isStop(element) && element.matches(`[role=combobox],${SWITCHES}`) && within.some((one) => one.matches("input") && takesPointer(one));
    return !isField(element) && isUnderField(element);
  };
  const isWrapper = (element, within) => {
    if (within.length === 1 && (keepsNumber(element, within[0]) || isBodyOf(within[0], element))) return false;
    if (within.length === 1 && isNamedLike(element, within[0])) return true;
    if (isStop(element) && !element.matches(CONTAINERS)) return false;
    if (within.some((one) => roleOf(one) === "slider")) return true;
    if (triggers.has(element)) return isNamedLike(element, within[0]);
    if (hovers.has(element) && !world.listening.has(element) && !element.matches(world.selector)) return true;
    if (!hasText(element) || (within.length === 1 && WRITTEN.includes(roleOf(within[0])))) return true;
    if (begun.has(element) || element.matches("[onclick],tr,li")) return false;
    return within.length > 3 || element.parentElement === document.body || boxAt(element).height > height / 2;
  };
  // Guards that keep the focus in a dialog, what only screen readers tell, hidden fields of drawn ones, and roots that hear all events of
  // what is shown elsewhere.
  const isUnseen = (element) => {
    const shown = shownIn.get(element);
    if (isField(element)) {
      const isMirror = element.type !== "file" && (element.tabIndex < 0 || Boolean(element.closest("[aria-hidden=true]")));
      return isMirror && shown === element && isCutOff(element);
    }
    if (isControl(element)) return isCutOff(shown);
    if (triggers.has(element) || element.matches("[onclick]")) return false;
    if (!world.listening.has(element) && (element.ariaHidden === "true" || isCutOff(shown))) return true;
    return sizeOf(shown) < 2 && !named(element);
  };
  return (element) => !isTwice(element) && !isUnseen(element);
};
