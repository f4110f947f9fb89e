// What the list says about an element besides its role and name.

// The content of a field, or what a person sees in the place of a combobox. Secrets are not returned; a button's value is its name.
const NO_VALUE = ["password", "file", "checkbox", "radio", "button", "submit", "reset", "image"];
// Some have their list of options in them.
const shownByCombobox = (element) => {
  const parts = [...element.children];
  if (!parts.some(hasList)) return element.innerText;
  return parts.filter((part) => !hasList(part)).map((part) => part.innerText).join(" ").trim() || (call(parts[0], "querySelector", "select") ? shownText(parts[0]) : parts[0].innerText);
};
const shownText = (part) => {
  const filter = (node) => (isElement(node) && node.localName === "select" ? NodeFilter.FILTER_REJECT : node.nodeType === Node.TEXT_NODE && isTextVisible(node) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, filter);
  const texts = [];
  for (let text = walker.nextNode(); text; text = walker.nextNode()) texts.push(text.data);
  return texts.join(" ");
};
const hasList = (part) => call(part, "matches", "[role=listbox]") || Boolean(call(part, "querySelector", "[role=listbox]"));
const valueOf = (element, role) => {
  const isWritten = ["input", "textarea"].includes(element.localName);
  if (isWritten && (NO_VALUE.includes(element.type) || (element.value && isSecret(element)))) return "";
  if (element.localName === "select") return [...element.selectedOptions].map((option) => option.label).join(", ");
  if (isWritten && (element.value || role !== "combobox")) return element.value;
  if (role === "combobox") return isWritten ? textAround(element, 3) : shownByCombobox(element);
  if (element.isContentEditable) return element.innerText;
  return ["slider", "spinbutton", "scrollbar", "separator"].includes(role) ? element.ariaValueText || element.ariaValueNow || "" : "";
};

// Gives items of the same role and name the text beside each: of the row, or of the part of the page that has only this one.
const HEADINGS = "h1,h2,h3,h4,h5,h6,legend,th,dt,[role=heading],[role=rowheader]";
const tellApart = (alike) => {
  const count = new Map();
  for (const [element] of alike) for (let at = element; at; at = parent(at)) count.set(at, (count.get(at) ?? 0) + 1);
  const parts = new Map();
  for (const [element, item] of alike) {
    let part = element;
    while (count.get(parent(part)) === 1) part = parent(part);
    const row = element.closest("tr,[role=row],li,[role=listitem],[role=treeitem],[role=option]");
    // Several in a row at least say in which one they are.
    if (row && row !== element && (count.get(row) === 1 || (part === element && count.get(row) < alike.length))) part = row;
    if (part !== element && isElement(part)) parts.set(item, { element, part, beside: besideOf(part, element, 1) });
  }
  const [sides, wholes] = ["beside", "part"].map((key) => new Set([...parts.values()].map((one) => one[key])).size);
  const isAmbiguous = sides < wholes;
  for (const [item, { element, part, beside: first }] of parts) {
    // Two posts of the same person differ in what follows.
    const beside = isAmbiguous ? besideOf(part, element, 4) : first;
    if (beside && beside !== item.value && beside !== item.name) item.place = `${call(part, "matches", "tr,[role=row]") ? "row" : "in"} ${JSON.stringify(beside)}`;
  }
};
// The first texts in a part of the page besides an element: its heading, then those that no control has.
const besideOf = (part, element, most) => {
  const heading = call(part, "querySelector", HEADINGS);
  const filter = (node) => (node === element || (isElement(node) && node.matches("script,style,select")) ? NodeFilter.FILTER_REJECT : node.nodeType === Node.TEXT_NODE && node.data.trim() ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, filter);
  const [free, controls] = [heading && !isWithin(heading, element) ? [heading.innerText] : [], []];
  const isHeading = (text) => free.length > 0 && heading && isWithin(text, heading);
  for (let text = walker.nextNode(), tries = 0; text && tries < 20 && free.length < most; text = walker.nextNode(), tries += 1) {
    if (!isTextVisible(text) || isHeading(text)) continue;
    (text.parentElement.closest(globalThis[Symbol.for("pipewright")].controls) ? controls : free).push(text.data);
  }
  return cut((free.length ? free : controls).slice(0, most).join(" "));
};
const LONGEST_CONTEXT = 40;
const cut = (text) => {
  const characters = [...text.replace(/\s+/gu, " ").trim().replaceAll('"', "'")];
  return characters.length > LONGEST_CONTEXT ? `${characters.slice(0, LONGEST_CONTEXT - 1).join("")}…` : characters.join("");
};

// What the picture of a control without a name is called: by the set of icons that has it, or by its file, without signs of a size or a state. No name: gates
// ask about what only a picture names.
const ICON_CLASS = /^(?:anticon|bi|codicon|fa|feather|glyphicon|icon|lucide|mdi|octicon|pi|ri|ti|ui-icon)-(.+)$/u;
const NO_ICON = new Set("active brands btn button clicked duotone focus fw hover ic icon icons img large light lg on outline outlined pressed px regular rounded sharp small sm solid spin svg thin xl xs".split(" "));
const iconWords = (text) => {
  const words = (text ?? "").slice(0, LONGEST).split(/[^\p{L}\p{N}]+/u).filter((word) => /^\p{L}{2,20}$/u.test(word)).map((word) => word.toLowerCase());
  return words.filter((word) => !NO_ICON.has(word)).join(" ");
};
// A file of many pictures names none.
const fileWords = (address) => {
  const [path] = (address ?? "").split(/[?#]/u, 1);
  const file = path.slice(path.lastIndexOf("/") + 1);
  return /^(?:data|blob):/u.test(path) || /icons|sprite/u.test(file) ? "" : file.split(".", 1)[0];
};
const pictureOf = (one) => {
  const { content, backgroundImage, maskImage } = getComputedStyle(one);
  return [content, backgroundImage, maskImage].map((value) => /^url\("([^"]*)"\)/u.exec(value)?.[1]).find(Boolean);
};
const iconOf = (element) => {
  if (isField(element)) return "";
  for (const one of [element, ...[...call(element, "querySelectorAll", "i,span,svg,use,img")].slice(0, 5)]) {
    const given = (name) => call(one, "getAttribute", name) ?? "";
    const sources = [
      () => given("data-icon"),
      () => /^([A-Z]\w*)Icon$/u.exec(given("data-testid"))?.[1].replace(/(?=[A-Z])/gu, " "),
      () => [...member(one, "classList")].map((name) => ICON_CLASS.exec(name)?.[1]).map(iconWords).find(Boolean),
      () => (one.localName === "use" ? (given("href") || given("xlink:href")).split("#")[1] : ""),
      () => fileWords(one.localName === "img" ? one.currentSrc : pictureOf(one)),
    ];
    const words = sources.map((source) => iconWords(source())).find(Boolean);
    if (words) return words;
  }
  return "";
};
