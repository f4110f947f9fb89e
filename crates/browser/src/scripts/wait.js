// Resolves to true when the condition holds, or to false after `most` milliseconds. `what` is a CSS selector with a state, or a
// text.
(what, most) => new Promise((resolve) => {
  const visible = (element) => call(element, "checkVisibility", { opacityProperty: true, visibilityProperty: true });
  const found = () => {
    const roots = [document];
    for (const root of roots) {
      const element = root.querySelector(what.selector);
      if (element) return element;
      for (const host of root.querySelectorAll("*")) if (member(host, "shadowRoot")) roots.push(member(host, "shadowRoot"));
    }
    return null;
  };
  const isSo = () => {
    if (what.text !== undefined) return (document.body?.innerText ?? "").includes(what.text);
    const element = found();
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
