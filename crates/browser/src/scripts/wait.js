// Resolves to true when the condition holds, or to false after `most` milliseconds. `what` is a CSS selector with a state, or a
// text.
(what, most) => new Promise((resolve) => {
  const visible = (element) => call(element, "checkVisibility", { opacityProperty: true, visibilityProperty: true });
  // The document and the shadow roots in it, those that are closed as far as a list has found them.
  const closed = globalThis[Symbol.for("pipewright")]?.closed ?? new Map();
  const find = (look) => {
    const roots = [document];
    for (const root of roots) {
      const found = look(root);
      if (found) return found;
      for (const host of root.querySelectorAll("*")) {
        const inner = member(host, "shadowRoot") ?? closed.get(host);
        if (inner) roots.push(inner);
      }
    }
    return null;
  };
  // A text may be given as it is read from a page, in lines with marks, cells with " | " between them: signs are compared, not these.
  const plain = (text) => text.replace(/^\s*(?:#+|-|>|\d+\.) /gmu, "").replace(/[\s|]+/gu, " ").trim();
  const wanted = plain(what.text ?? "");
  const holds = (text) => text.includes(what.text) || (wanted !== "" && plain(text).includes(wanted));
  const hasText = (root) => (root === document ? [document.body] : [...root.children]).some((part) => holds(member(part ?? document.createElement("p"), "innerText") ?? ""));
  const isSo = () => {
    if (what.text !== undefined) return Boolean(find(hasText));
    const element = find((root) => root.querySelector(what.selector));
    switch (what.state) {
      case "attached": return element !== null;
      case "detached": return element === null;
      case "hidden": return element === null || !visible(element);
      default: return element !== null && visible(element);
    }
  };
  let isDue = false;
  const end = (result) => {
    observer.disconnect();
    clearTimeout(last);
    clearInterval(now);
    resolve(result);
  };
  const look = () => {
    isDue = false;
    if (isSo()) end(true);
  };
  // Many changes at once are checked once.
  const observer = new MutationObserver(() => {
    if (!isDue) {
      isDue = true;
      setTimeout(look, 16);
    }
  });
  const last = setTimeout(() => end(isSo()), most);
  // A style sheet or a value can change what is visible without changing the document.
  const now = setInterval(look, 250);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  look();
})
