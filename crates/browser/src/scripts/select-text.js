// Selects the first place of a text: in the document, or in the element that this is called on; all of that element without a text.
// Letters are compared exactly, and any white space, also that between two blocks, with any other. Returns "", or why nothing is
// selected.
function (wanted) {
  const isField = (element) => element.localName === "textarea" || (element.localName === "input" && element.selectionStart !== null);
  const isShown = (element) => call(element, "checkVisibility", { opacityProperty: true, visibilityProperty: true });
  const inner = (host) => member(host, "shadowRoot") ?? globalThis[Symbol.for("pipewright")]?.closed?.get(host);
  const holderOf = (node) => (isElement(parentOf.call(node)) ? parentOf.call(node) : parentOf.call(node).host);
  const blockOf = (element) => {
    let at = element;
    while (getComputedStyle(at).display.startsWith("inline") && at.parentElement) at = at.parentElement;
    return at;
  };
  const text = wanted?.replace(/\s+/gu, " ").trim();
  const within = isElement(this) ? this : null;

  const selectField = (field, start, end) => {
    if (isSecret(field)) return "the text of this field is secret";
    field.focus();
    field.setSelectionRange(start, end);
    return field.selectionEnd > field.selectionStart ? "" : "this field is empty";
  };
  if (within && isField(within)) {
    const start = text ? within.value.indexOf(wanted) : 0;
    return start < 0 ? "this field does not contain this text" : selectField(within, start, start + (text ? wanted : within.value).length);
  }

  // The characters of a tree that is shown, the node and the offset of each, and the shadow roots and fields in the tree.
  const read = (root) => {
    const tree = { characters: [], places: [], roots: [], fields: [] };
    const add = (character, node, offset) => {
      const plain = /\s/u.test(character) ? " " : character;
      if (plain === " " && (tree.characters.at(-1) ?? " ") === " ") return;
      tree.characters.push(plain);
      tree.places.push([node, offset]);
    };
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    let block = null;
    for (let node = root; node; node = walker.nextNode()) {
      if (isElement(node)) {
        if (inner(node)) tree.roots.push(inner(node));
        if (isField(node)) tree.fields.push(node);
      } else if (typeOf(node) === Node.TEXT_NODE && isShown(holderOf(node))) {
        const outer = blockOf(holderOf(node));
        if (block && outer !== block) add(" ", node, 0);
        block = outer;
        for (let offset = 0; offset < node.data.length; offset++) add(node.data[offset], node, offset);
      }
    }
    return { ...tree, text: tree.characters.join("").trimEnd() };
  };
  const select = ([startNode, startOffset], [endNode, endOffset]) => {
    const holder = holderOf(startNode);
    let editor = holder.isContentEditable ? holder : null;
    while (editor?.parentElement?.isContentEditable) editor = editor.parentElement;
    editor?.focus();
    holder.scrollIntoView({ block: "nearest" });
    const selection = (isShadowRoot(rootOf(startNode)) && rootOf(startNode).getSelection?.()) || getSelection();
    selection.setBaseAndExtent(startNode, startOffset, endNode, endOffset + 1);
    return selection.isCollapsed ? "the page does not let this text be selected" : "";
  };
  const roots = [within ?? document.body ?? document.documentElement];
  const fields = [];
  for (const root of roots) {
    const tree = read(root);
    roots.push(...tree.roots);
    fields.push(...tree.fields);
    const start = text ? tree.text.indexOf(text) : 0;
    const end = start + (text || tree.text).length - 1;
    if (start >= 0 && end >= start) return select(tree.places[start], tree.places[end]);
  }
  for (const field of fields) {
    const start = text && isShown(field) && !isSecret(field) ? field.value.indexOf(wanted) : -1;
    if (start >= 0) return selectField(field, start, start + wanted.length);
  }
  return text ? "this element does not contain this text" : "this element has no text";
}
