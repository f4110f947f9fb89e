// Called on an element, with what is at the point of a click. Returns "" if nothing covers it, "disabled", or a description of
// the covering element. `isPress`: a control inside the element also counts as covering it.
function (found, isPress) {
  const hit = ownerOf(found);
  const isOther = (at) => {
    if (at === this || at === this.control || !isControl(at)) return false;
    const name = named(at);
    // An element with the same name does the same; an image that listens is part of its button.
    if (name && name === named(this)) return false;
    return isOfKind(at) || Boolean(name) || !isOfKind(this);
  };
  // The numbers of what covers an element: its own, else those in the outermost part around it that is not around the element.
  const numbersIn = (covering, element) => {
    const { numbers } = globalThis[Symbol.for("pipewright")] ?? {};
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
  // A person presses the box around a field that is cut off or transparent.
  if (["input", "select"].includes(this.localName) && isWithin(this, hit) && hit !== document.body && !isControl(hit) && call(hit, "querySelectorAll", globalThis[Symbol.for("pipewright")]?.controls ?? "*").length === 1) return "";
  const outer = [this, ...(this.labels ?? [])].find((one) => isWithin(hit, one));
  const before = outer ? isPress && inner(outer) : hit;
  return before ? `${numbersIn(before, this).join(" ")}|${described(before)}` : "";
}
