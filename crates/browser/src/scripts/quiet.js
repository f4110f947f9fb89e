// Resolves when the page has drawn the latest changes and nothing has changed for `quiet` milliseconds, or after `most`
// milliseconds.
(quiet, most) => new Promise((resolve) => {
  let timer = setTimeout(() => end(), quiet);
  const end = () => {
    observer.disconnect();
    clearTimeout(timer);
    clearTimeout(last);
    resolve();
  };
  const again = () => {
    clearTimeout(timer);
    timer = setTimeout(end, quiet);
  };
  const observer = new MutationObserver(again);
  const last = setTimeout(end, most);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  // A page in the background draws nothing.
  requestAnimationFrame(again);
})
