// Called on an element: scrolls the nearest part of its document around it that scrolls. Resolves, when that has stopped, to what was
// scrolled, or to null if nothing can be. `isNamed`: the caller has named the element; else a part counts only if it is large or in
// front of the page, and, for a distance, if it is not yet at its end.
function (how, x, y, isSmooth, isNamed) {
  const page = document.scrollingElement ?? document.documentElement;
  const size = (part, axis) => (axis === "y" ? ["scrollTop", "scrollHeight", "clientHeight"] : ["scrollLeft", "scrollWidth", "clientWidth"]).map((name) => member(part, name));
  const room = (part, axis) => {
    const [at, whole, shown] = size(part, axis);
    return { before: at, after: whole - shown - at, isAny: whole > shown + 1 };
  };
  const scrolls = (part, axis) => {
    if (!room(part, axis).isAny) return false;
    const style = getComputedStyle(part);
    const overflow = axis === "y" ? style.overflowY : style.overflowX;
    return part === page ? overflow !== "hidden" || isNamed : /auto|scroll|overlay/u.test(overflow);
  };
  const isFixed = (part) => {
    for (let at = part; isElement(at); at = parent(at)) if (at.matches("dialog,[role=dialog]") || getComputedStyle(at).position === "fixed") return true;
    return false;
  };
  const area = (part) => {
    const box = call(part, "getBoundingClientRect");
    const sides = [[box.left, box.right, innerWidth], [box.top, box.bottom, innerHeight]];
    return sides.map(([from, to, end]) => Math.max(Math.min(to, end) - Math.max(from, 0), 0)).reduce((one, other) => one * other);
  };
  const isLarge = (part) => part === page || area(part) >= (innerWidth * innerHeight) / 4 || isFixed(part);
  const axes = [...(y !== 0 || how === "to" ? ["y"] : []), ...(x !== 0 && how === "by" ? ["x"] : [])];
  const moves = (part) => axes.some((axis) => {
    const { before, after } = room(part, axis);
    const by = axis === "y" ? y : x;
    return how === "to" || isNamed || (by > 0 ? after > 1 : before > 1);
  });
  const isMeant = (part) => axes.some((axis) => scrolls(part, axis)) && (isNamed || isLarge(part)) && moves(part);
  let target = null;
  for (let at = this; at && !target; at = parent(at)) if (isElement(at) && (at === page || !at.matches("html,body")) && isMeant(at)) target = at;
  if (!target && isMeant(page)) target = page;
  if (!target && !isNamed && window === window.top && !axes.some((axis) => scrolls(page, axis))) {
    const parts = [...document.querySelectorAll("*")].filter((part) => axes.some((axis) => scrolls(part, axis)));
    target = parts.sort((one, other) => area(other) - area(one))[0] ?? null;
  }
  if (!target) return Promise.resolve(null);
  const place = { left: x, top: Math.min(y, member(target, "scrollHeight")), behavior: isSmooth ? "smooth" : "instant" };
  call(target, how === "by" ? "scrollBy" : "scrollTo", place);
  const told = () => ({
    in: target === page ? "page" : described(target), x: Math.round(member(target, "scrollLeft")), y: Math.round(member(target, "scrollTop")),
    is_end: room(target, "y").after <= 1,
  });
  return new Promise((resolve) => {
    let last = -1;
    const look = () => {
      const now = member(target, "scrollTop") + member(target, "scrollLeft") / 1e6;
      if (now === last) resolve(told());
      else {
        last = now;
        setTimeout(look, isSmooth ? 100 : 16);
      }
    };
    look();
  });
}
