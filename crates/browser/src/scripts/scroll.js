// Scrolls the page, or its largest scrollable part if the page itself does not scroll. Resolves when it has stopped.
(how, x, y, isSmooth) => new Promise((resolve) => {
  const page = document.scrollingElement ?? document.documentElement;
  const scrolls = (element) => {
    const [scrollHeight, height, scrollWidth, width] = ["scrollHeight", "clientHeight", "scrollWidth", "clientWidth"].map((name) => member(element, name));
    return scrollHeight > height + 1 || scrollWidth > width + 1;
  };
  const area = (element) => {
    const box = call(element, "getBoundingClientRect");
    const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
    const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    return Math.max(width, 0) * Math.max(height, 0);
  };
  let target = page;
  if (!scrolls(page)) {
    const parts = [...document.querySelectorAll("*")].filter((element) => scrolls(element) && /auto|scroll/.test(getComputedStyle(element).overflow));
    target = parts.sort((one, other) => area(other) - area(one))[0] ?? page;
  }
  const place = { left: x, top: Math.min(y, member(target, "scrollHeight")), behavior: isSmooth ? "smooth" : "instant" };
  if (how === "by") call(target, "scrollBy", place); else call(target, "scrollTo", place);
  let last = -1;
  const look = () => {
    if (member(target, "scrollTop") === last) resolve(true);
    else {
      last = member(target, "scrollTop");
      setTimeout(look, isSmooth ? 100 : 16);
    }
  };
  look();
})
