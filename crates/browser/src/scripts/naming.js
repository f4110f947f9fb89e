// Roles and names: the browser's own, or, where it was started without the flag that makes it say them, those that the accessibility
// mappings give to HTML's elements (HTML-AAM), and the usual sources of a name (accname) in their order.
const INPUTS = {
  button: "button", submit: "button", reset: "button", image: "button", file: "button", checkbox: "checkbox", radio: "radio", range: "slider",
  number: "spinbutton", search: "searchbox", color: "", date: "", month: "", week: "", time: "", "datetime-local": "",
};
const roleOf = (element) => {
  if (element.computedRole !== undefined) return element.computedRole;
  const given = element.getAttribute("role")?.trim().split(/\s+/u)[0];
  if (given) return given;
  switch (element.localName) {
    case "a": case "area": return element.hasAttribute("href") ? "link" : "";
    case "button": return "button";
    case "textarea": return "textbox";
    case "option": return "option";
    case "select": return element.multiple || element.size > 1 ? "listbox" : "combobox";
    case "input": return element.list ? "combobox" : INPUTS[element.type] ?? "textbox";
    default: return "";
  }
};
// The text of an element, with what its pictures stand for and without what its inputs have.
const textOf = (element) => {
  if (["select", "textarea", "input", "script", "style"].includes(element.localName)) return "";
  if (element.ariaLabel) return element.ariaLabel;
  if (element.localName === "img") return element.alt;
  const text = (node) => (node.nodeType === Node.TEXT_NODE ? node.data : node.nodeType === Node.ELEMENT_NODE ? textOf(node) : "");
  return [...element.childNodes].map(text).join(" ");
};
const nameOf = (element) => {
  if (element.computedName !== undefined) return element.computedName;
  const labels = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/u).filter(Boolean)
    .map((id) => element.getRootNode().getElementById?.(id));
  const sources = [
    () => labels.filter(Boolean).map(textOf).join(" "),
    () => element.ariaLabel,
    () => [...(element.labels ?? [])].map(textOf).join(" "),
    () => (element.localName === "input" && INPUTS[element.type] === "button" ? element.value || element.alt : ""),
    () => element.alt,
    () => textOf(element),
    () => element.title,
    () => element.placeholder,
  ];
  return sources.map((source) => source()).find((name) => typeof name === "string" && name.trim()) ?? "";
};
// A name of at most 120 characters. One that was cut ends with "…", so that a gate sees that there is more of it.
const LONGEST = 120;
const shortened = (name) => {
  const plain = (name ?? "").replace(/\s+/gu, " ").trim();
  // Characters, not halves of them; those of an enormous name are not all read.
  const characters = [...plain.slice(0, 2 * LONGEST + 2)];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("")}…` : plain;
};
// A text field that searches, by what its page calls it: Enter starts the search there.
const SEARCH = /\b(search|suche|suchen|buscar|busca|búsqueda|rechercher?|recherche|cerca|ricerca|zoeken|szukaj|hledat|hľadať|keresés|căutare|sök|søg|søk|haku|hae|ara|arama|cari)\b|поиск|найти|пошук|знайти|搜索|搜尋|搜寻|查找|検索|검색|بحث|חיפוש|खोज|tìm kiếm|ค้นหา|αναζήτηση|търсене/iu;
const searches = (element) => {
  if (!["input", "textarea"].includes(element.localName)) return false;
  if (element.closest("[role=search], search")) return true;
  if (/^(q|query|search|s)$/i.test(element.name ?? "")) return true;
  return SEARCH.test([element.placeholder, element.ariaLabel, element.name, element.id.replace(/[_-]/g, " ")].join(" "));
};

// Dates, times and colours have no role of their own.
const plain = (element) => (element.localName === "input" ? element.type : "clickable");

const isVisible = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
// What an element is seen by: itself, or, of a file input or a box to tick, a label that stands for it; null where neither can be seen.
const shownBy = (element) => {
  const standing = element.localName === "input" && ["file", "checkbox", "radio"].includes(element.type) ? [...(element.labels ?? [])] : [];
  const hasSize = (one) => one.getBoundingClientRect().width > 0 || one.getBoundingClientRect().height > 0;
  const isSeen = isVisible(element) || standing.some(isVisible);
  return isSeen ? [element, ...standing].find(hasSize) ?? null : null;
};
// What an element is called in lists, that is seen by `shown`.
const identify = (element, shown = shownBy(element)) => {
  const own = roleOf(element);
  const isInferred = (own === "textbox" || own === "combobox") && searches(element);
  const role = isInferred ? "searchbox" : own === "generic" || own === "none" || own === "" ? plain(element) : own;
  const name = (shown && shown !== element ? shown.innerText : nameOf(element)) || element.innerText || element.placeholder || element.title || "";
  return { role, name: shortened(name), isInferred };
};
