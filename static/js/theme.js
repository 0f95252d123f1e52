// Sets the reader's theme before the first paint, so it is loaded from the head without defer.
(() => {
  "use strict";
  const order = ["", "light", "dark"];
  const root = document.documentElement;
  const read = () => {
    try {
      const kept = localStorage.getItem("theme");
      return order.includes(kept) ? kept : "";
    } catch {
      return ""; // a browser may refuse storage: the theme then lasts for the page
    }
  };
  let theme = read();
  const paint = () => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.hidden = false;
      button.setAttribute("aria-label", "Theme: " + (theme || "automatic"));
    }
  };
  const turn = () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // nothing to keep it in
    }
    paint();
    document.dispatchEvent(new CustomEvent("themechange"));
  };
  paint();
  document.addEventListener("DOMContentLoaded", paint);
  document.addEventListener("click", event => {
    if (event.target.closest && event.target.closest("[data-theme-toggle]")) turn();
  });
  addEventListener("storage", event => {
    if (event.key === "theme") {
      theme = read();
      paint();
    }
  });
  // The key t, where no field has the focus and no modifier is held.
  document.addEventListener("keydown", event => {
    if (event.key !== "t" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest && event.target.closest("input, textarea, select, [contenteditable]")) return;
    turn();
  });
})();
