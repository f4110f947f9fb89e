// The elements over which the mouse pointer makes style sheets show something that is hidden now. Sheets of other origins cannot be
// read.
const MOST_TRIGGERS = 200;
const SHOWING = ["display", "visibility", "opacity"];
// Whether there is more in an element than decoration.
const tells = (element) => Boolean(element.textContent.trim()) || Boolean(call(element, "querySelector", "a,button,img,input,[role]"));
const hoverTriggers = () => {
  const found = new Set();
  const read = (rules, outer) => {
    for (const rule of rules) {
      const own = rule.selectorText?.replaceAll("&", outer ? `:is(${outer})` : "&");
      if (own?.includes(":hover") && SHOWING.some((property) => rule.style.getPropertyValue(property))) own.split(/,(?![^(]*\))/u).forEach(add);
      if (rule.cssRules?.length) read(rule.cssRules, own ?? outer);
    }
  };
  // Before `:hover` is the element under the pointer, and after it what is shown.
  const add = (selector) => {
    const at = selector.indexOf(":hover");
    const rest = selector.slice(at + ":hover".length).replaceAll(":hover", "");
    const trigger = selector.slice(0, at).trim();
    if (at < 0 || !/[\s>+~]/u.test(rest.trimEnd()) || !trigger || /[>+~]$/u.test(trigger)) return;
    let shown = [];
    try { shown = document.querySelectorAll(trigger + rest); } catch { return; }
    for (const one of shown) {
      if (found.size >= MOST_TRIGGERS) return;
      const around = one.parentElement?.closest(trigger) ?? [...(one.parentElement?.children ?? [])].find((other) => other !== one && other.matches(trigger));
      if (around && !found.has(around) && isVisible(around) && !isVisible(one) && tells(one)) found.add(around);
    }
  };
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
    try { read(sheet.cssRules, ""); } catch { continue; }
  }
  return found;
};
