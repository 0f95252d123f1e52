// The comparison of two attempts: `d` and `w` jump to where they part, `s` swaps. Each key follows a link of the page.
(() => {
  "use strict";
  const typing = target => target instanceof Element && target.closest("input, textarea, select, [contenteditable]");
  const follow = link => {
    if (!link) return;
    const address = new URL(link.href);
    const at = document.getElementById(address.hash.slice(1));
    if (address.pathname === location.pathname && at) {
      at.scrollIntoView({ block: "start" });
      at.focus({ preventScroll: true });
      history.replaceState(null, "", address.hash);
    } else {
      location.href = link.href;
    }
  };
  const links = {
    d: () => document.querySelector('[data-jump="d"]') || document.querySelector('[data-jump="w"]'),
    w: () => document.querySelector('[data-jump="w"]'),
    s: () => document.querySelector("[data-swap]"),
  };
  document.addEventListener("keydown", event => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (!Object.hasOwn(links, event.key)) return;
    event.preventDefault();
    follow(links[event.key]());
  });
})();
