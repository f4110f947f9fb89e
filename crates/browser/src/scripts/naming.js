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
