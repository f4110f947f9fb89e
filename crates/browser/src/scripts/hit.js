// Called on an element, with the element at the point of a click. Returns "" if nothing covers it, "disabled", or a description of
// the covering element. `isPress`: a control inside the element also counts as covering it.
function (hit, isPress) {
  const { controls, listening } = globalThis[Symbol.for("pipewright")] ?? {};
  // A form exposes its inputs as properties, which may shadow these names.
  const parentOf = Object.getOwnPropertyDescriptor(Node.prototype, "parentNode").get;
  const parent = (node) => (node instanceof HTMLFormElement ? parentOf.call(node) : node.assignedSlot ?? node.parentNode ?? node.host ?? null);
  const isWithin = (node, outer) => { for (let at = node; at; at = parent(at)) if (at === outer) return true; return false; };
  const named = (one) => shortened(nameOf(one) || one.innerText || one.placeholder || one.title || "");
  const isControl = (at) => {
    if (!(at instanceof Element) || at instanceof HTMLFormElement || at === this || at === this.control || !controls) return false;
    const isOfKind = at.matches(controls);
    if (!isOfKind && !listening.has(at) && !at.matches("[onclick]")) return false;
    const name = named(at);
    // An element with the same name does the same; an image that listens is part of its button.
    if (name && name === named(this)) return false;
    return isOfKind || Boolean(name) || !this.matches("button,a[href],summary,[role=button],[role=link]");
  };
  const inner = (outer) => { for (let at = hit; at && at !== outer; at = parent(at)) if (isControl(at)) return at; return null; };
  if (this.matches(":disabled")) return "disabled";
  const outer = [this, ...(this.labels ?? [])].find((one) => !hit || isWithin(hit, one));
  const before = outer ? isPress && hit && inner(outer) : hit;
  if (!before) return "";
  const element = before.nodeType === 1 ? before : before.parentElement ?? before.getRootNode().host;
  const name = element?.computedName || element?.innerText || "";
  return `${element?.localName ?? "something"}${element?.id ? "#" + element.id : ""} ${JSON.stringify(name.trim().slice(0, 60))}`;
}
