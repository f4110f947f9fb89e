// The rules of style sheets for what the mouse pointer is over: calls `take` with each selector of those that are meant. Sheets of other
// origins cannot be read.
const hoverRules = (isMeant, take) => {
  const read = (rules, outer) => {
    for (const rule of rules) {
      const own = rule.selectorText?.replaceAll("&", outer ? `:is(${outer})` : "&");
      if (own?.includes(":hover") && isMeant(rule.style)) own.split(/,(?![^(]*\))/u).forEach(take);
      if (rule.cssRules?.length) read(rule.cssRules, own ?? outer);
    }
  };
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
    try { read(sheet.cssRules, ""); } catch { continue; }
  }
};
const MOST_TRIGGERS = 200;
const SHOWING = ["display", "visibility", "opacity"];
// Whether there is more in an element than decoration.
const tells = (element) => Boolean(element.textContent.trim()) || Boolean(call(element, "querySelector", "a,button,img,input,[role]"));
// The elements over which the mouse pointer makes style sheets show something that is hidden now.
const hoverTriggers = () => {
  const found = new Set();
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
  hoverRules((style) => SHOWING.some((property) => style.getPropertyValue(property)), add);
  return found;
};
// The elements over which the pointer is a hand, but only once it is there.
const MOST_HANDS = 2000;
const handsWhileHovered = () => {
  const found = new Set();
  hoverRules((style) => style.cursor === "pointer", (selector) => {
    let shown = [];
    try { shown = document.querySelectorAll(selector.replaceAll(":hover", "")); } catch { return; }
    for (const one of shown) if (found.size < MOST_HANDS) found.add(one);
  });
  return found;
};
