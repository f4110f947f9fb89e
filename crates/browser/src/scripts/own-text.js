// Called on an element: the text with this index, among the texts outside of any control in it.
function (index) {
  const { controls, listening } = globalThis[Symbol.for("pipewright")] ?? {};
  if (!controls) return null;
  const isControl = (at) => !(at instanceof HTMLFormElement) && (at.matches(controls) || listening.has(at) || at.matches("[onclick]"));
  const filter = (node) => {
    if (node instanceof Element) return isControl(node) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    return node.data.trim() && Element.prototype.checkVisibility.call(node.parentElement, { visibilityProperty: true }) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP;
  };
  const walker = document.createTreeWalker(this, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, filter);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) if (index-- === 0) return text;
  return null;
}
