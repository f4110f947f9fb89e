// Scrolls the page, or its largest scrollable part if the page itself does not scroll. Resolves when it has stopped.
(how, x, y, isSmooth) => new Promise((resolve) => {
  const page = document.scrollingElement ?? document.documentElement;
  const scrolls = (element) => element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1;
  const area = (element) => {
    const box = element.getBoundingClientRect();
    const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
    const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    return Math.max(width, 0) * Math.max(height, 0);
  };
  let target = page;
  if (!scrolls(page)) {
    const parts = [...document.querySelectorAll("*")].filter((element) => scrolls(element) && /auto|scroll/.test(getComputedStyle(element).overflow));
    target = parts.sort((one, other) => area(other) - area(one))[0] ?? page;
  }
  const place = { left: x, top: Math.min(y, target.scrollHeight), behavior: isSmooth ? "smooth" : "instant" };
  if (how === "by") target.scrollBy(place); else target.scrollTo(place);
  let last = -1;
  const look = () => {
    if (target.scrollTop === last) resolve(true);
    else {
      last = target.scrollTop;
      setTimeout(look, isSmooth ? 100 : 16);
    }
  };
  look();
})
