// Called on an element, with what is at the point of a click. Returns "" if nothing covers it, "disabled", or a description of
// the covering element. `purpose`: "press", for which a control inside the element also counts as covering it, "rest" or "drag".
function (found, purpose) {
  const hit = ownerOf(found);
  const { numbers } = globalThis[Symbol.for("pipewright")] ?? {};
  // A label is pressed in the place of its field.
  const own = this.localName === "label" ? this.control ?? this : this;
  const isOther = (at) => {
    // What only listens counts if the list has it: else it is a part of this element.
    if (at === this || at === this.control || !isElement(at) || (isMirrorField(at) && !numbers?.has(at)) || !(isOfKind(at) || numbers?.has(at) || at.matches("[onclick]"))) return false;
    const name = named(at);
    // An element with the same name does the same; an image that listens is part of its button.
    if (name && [this, own].some((one) => name === named(one))) return false;
    return isOfKind(at) || Boolean(name) || !isOfKind(own);
  };
  // The numbers of what covers an element: its own, else those in the outermost part around it that is not around the element.
  const numbersIn = (covering, element) => {
    if (!numbers) return [];
    let part = covering;
    for (let at = covering; at && !isWithin(element, at); at = parent(at)) {
      if (numbers.has(at)) return [numbers.get(at)];
      part = at;
    }
    const listed = isElement(part) ? [...part.querySelectorAll("*")].filter((one) => numbers.has(one) && isVisible(one)) : [];
    return listed.slice(0, 4).map((one) => numbers.get(one));
  };
  const inner = (outer) => { for (let at = hit; at && at !== outer; at = parent(at)) if (isOther(at)) return at; return null; };
  if (this.matches(":disabled")) return "disabled";
  if (this.localName === "area" && hit === imageOf(this)) return "";
  // What takes no pointer in its host, or shows the host's own text.
  for (let root = rootOf(this); isShadowRoot(root); root = rootOf(root.host)) if (root.host === hit) return "";
  // A person presses the box around a field, or what it shows there: a placeholder, the handle of a slider.
  if (["input", "select"].includes(this.localName)) {
    const box = boxOf(this);
    let at = hit;
    while (box && at !== box && isWithin(at, box) && !isOther(at)) at = parent(at);
    if (box && at === box) return "";
    // Of a field in a label, a person presses the label.
    const label = call(this, "closest", "label");
    if (isWithin(this, hit) && !(label && label !== hit && isWithin(label, hit) && getComputedStyle(label).pointerEvents !== "none") && hit !== document.body && !isControl(hit) && call(hit, "querySelectorAll", globalThis[Symbol.for("pipewright")]?.controls ?? "*").length === 1) return "";
  }
  // What takes no pointer, such as a handle, is dragged by what is around it.
  if (purpose === "drag" && isWithin(this, hit) && getComputedStyle(this).pointerEvents === "none") return "";
  const outer = [this, ...(this.labels ?? [])].find((one) => isWithin(hit, one));
  const before = outer ? purpose === "press" && inner(outer) : hit;
  return before ? `${numbersIn(before, this).join(" ")}|${described(before)}` : "";
}
