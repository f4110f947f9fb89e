// What the list says about an element besides its role and name.

// The content of a field, or what a person sees in the place of a combobox. Secrets are not returned; a button's value is its name.
const NO_VALUE = ["password", "file", "checkbox", "radio", "button", "submit", "reset", "image"];
// Some have their list of options in them.
const shownByCombobox = (element) => {
  const parts = [...element.children];
  if (!parts.some(hasList)) return element.innerText;
  return parts.filter((part) => !hasList(part)).map((part) => part.innerText).join(" ").trim() || parts[0].innerText;
};
const hasList = (part) => call(part, "matches", "[role=listbox]") || Boolean(call(part, "querySelector", "[role=listbox]"));
const valueOf = (element, role) => {
  const isWritten = ["input", "textarea"].includes(element.localName);
  if (isWritten && (NO_VALUE.includes(element.type) || (element.value && isSecret(element)))) return "";
  if (element.localName === "select") return [...element.selectedOptions].map((option) => option.label).join(", ");
  if (isWritten && (element.value || role !== "combobox")) return element.value;
  if (role === "combobox") return isWritten ? textAround(element, 3) : shownByCombobox(element);
  if (element.isContentEditable) return element.innerText;
  return ["slider", "spinbutton", "scrollbar"].includes(role) ? element.ariaValueText || element.ariaValueNow || "" : "";
};

// Gives items of the same role and name the text beside each: of the row, or of the part of the page that has only this one.
const HEADINGS = "h1,h2,h3,h4,h5,h6,legend,th,dt,[role=heading],[role=rowheader]";
const tellApart = (alike) => {
  const count = new Map();
  for (const [element] of alike) for (let at = element; at; at = parent(at)) count.set(at, (count.get(at) ?? 0) + 1);
  for (const [element, item] of alike) {
    let part = element;
    while (count.get(parent(part)) === 1) part = parent(part);
    const row = element.closest("tr,[role=row],li,[role=listitem],[role=treeitem],[role=option]");
    if (row && row !== element && count.get(row) === 1) part = row;
    if (part === element || !isElement(part)) continue;
    const beside = besideOf(part, element);
    if (beside && beside !== item.value) item.place = `${call(part, "matches", "tr,[role=row]") ? "row" : "in"} ${JSON.stringify(beside)}`;
  }
};
const besideOf = (part, element) => {
  const heading = call(part, "querySelector", HEADINGS);
  if (heading && !isWithin(heading, element)) return cut(heading.innerText);
  const filter = (node) => (node === element || (isElement(node) && node.matches("script,style,select")) ? NodeFilter.FILTER_REJECT : node.nodeType === Node.TEXT_NODE && node.data.trim() ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, filter);
  let first = null;
  for (let text = walker.nextNode(), tries = 0; text && tries < 20; text = walker.nextNode(), tries += 1) {
    if (!isVisible(text.parentElement)) continue;
    first ??= text.data;
    if (!text.parentElement.closest(globalThis[Symbol.for("pipewright")].controls)) return cut(text.data);
  }
  return first && cut(first);
};
const LONGEST_CONTEXT = 40;
const cut = (text) => {
  const characters = [...text.replace(/\s+/gu, " ").trim().replaceAll('"', "'")];
  return characters.length > LONGEST_CONTEXT ? `${characters.slice(0, LONGEST_CONTEXT - 1).join("")}…` : characters.join("");
};
