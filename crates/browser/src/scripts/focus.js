// Part of functions that are called on an element: whether keys reach it. A name such as activeElement may be that of an element.
const DOCUMENT_ACTIVE = getter(Document, "activeElement");
// The focused element of this document: in open shadow roots, in closed ones that a list has found, and in those around `element`.
const focused = (element) => {
  const roots = new Map(globalThis[Symbol.for("pipewright")]?.closed);
  for (let root = element && rootOf(element); isShadowRoot(root); root = rootOf(root.host)) roots.set(root.host, root);
  let active = DOCUMENT_ACTIVE.call(document);
  for (let inner = active; inner; inner = (member(active, "shadowRoot") ?? roots.get(active))?.activeElement) active = inner;
  return active;
};
const isFrame = (element) => ["iframe", "frame", "object", "embed", "fencedframe"].includes(member(element, "localName"));
// A part that is another control: not the one in which a text field around it takes its text, and not one with the same name.
// A text field without a number, such as the invisible one of a terminal, is how the element around it takes keys.
const isOtherControl = (part, element) => {
  if (!isElement(part) || !(isFrame(part) || isControl(part))) return false;
  const isField = part.isContentEditable || part.localName === "textarea" || WRITTEN.includes(roleOf(part));
  const isWritten = WRITTEN.includes(roleOf(element));
  const name = named(part);
  if (isFrame(part) || (isWritten && !isField)) return true;
  if (isField && !globalThis[Symbol.for("pipewright")]?.numbers?.has(part)) return false;
  return !(isField && (isWritten || !name)) && !(name && name === named(element));
};
// What results tell of a focused element: nothing if it is the whole document. `mark` tells it from others of the same role and name.
const toldOf = (element) => {
  if (!element || ["body", "html"].includes(member(element, "localName"))) return null;
  const marks = ((globalThis[Symbol.for("pipewright")] ??= {}).marks ??= new WeakMap());
  if (!marks.has(element)) marks.set(element, String(Math.random()));
  const role = roleOf(element) || member(element, "localName");
  return { role, name: shortened(nameOf(element)), secret: isSecret(element), mark: marks.get(element) };
};
// Whether the element has the focus, or a part of it that belongs to it.
const hasFocus = (element) => {
  const active = focused(element);
  if (!active || active === element) return Boolean(active);
  if (element.localName === "label" && active === element.control) return true;
  // Within a larger editable element, the cursor decides.
  if (element.isContentEditable && active.isContentEditable && isWithin(element, active)) {
    const { anchorNode, focusNode } = getSelection();
    return [anchorNode, focusNode].every((node) => node && isWithin(node, element));
  }
  if (!isWithin(active, element)) return false;
  for (let at = active; at !== element; at = parent(at)) if (isOtherControl(at, element)) return false;
  return true;
};
// Focuses an element. Whether it could have the focus, even if the page then moved it on: what is set here, without keys, is set in the
// element anyway.
const takesFocus = (element) => {
  let had = false;
  const note = () => { had = true; };
  EventTarget.prototype.addEventListener.call(element, "focus", note);
  element.focus();
  EventTarget.prototype.removeEventListener.call(element, "focus", note);
  return had || hasFocus(element);
};
