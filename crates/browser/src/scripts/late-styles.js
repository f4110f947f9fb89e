// Style sheets that are still not there some seconds after the navigation: they take effect when they come, and no longer hold up
// the parser or the pictures of the page.
const releaseLateStyles = (milliseconds) => {
  if (performance.now() < milliseconds) return;
  for (const link of document.querySelectorAll("link[rel~=stylesheet]")) {
    if (link.sheet || link.disabled || link.media === "not all") continue;
    const { media } = link;
    link.media = "not all";
    EventTarget.prototype.addEventListener.call(link, "load", () => { link.media = media; }, { once: true });
  }
};
