// What every page does with a request that did not work: one sentence, until the next one works.
(() => {
  "use strict";
  const box = () => document.getElementById("trouble");
  const say = sentence => {
    const at = box();
    if (!at) return;
    at.querySelector("p").textContent = sentence;
    at.hidden = false;
  };
  const clear = () => {
    const at = box();
    if (at) at.hidden = true;
  };
  document.addEventListener("htmx:sendError", () => say("The server did not answer. What you see may be out of date; it is tried again when you go on."));
  document.addEventListener("htmx:timeout", () => say("The server took too long to answer. Try again."));
  document.addEventListener("htmx:responseError", event => {
    const status = event.detail.xhr.status;
    if (status === 404) say("What was asked for is not there any more. Load the page again.");
    else if (status === 403) say("The server refused the request, since the page is too old. Load the page again.");
    else if (status === 507) say("The disk of the server's data folder is full. Make space there, and try again.");
    else if (status >= 500) say("The server could not answer. Its log says why. Try again.");
    else say("The server could not understand the request. Load the page again.");
  });
  document.addEventListener("htmx:afterRequest", event => {
    if (event.detail.successful) clear();
  });
  // `/` goes to the search in the top bar, where the page has no search of its own under that key.
  document.addEventListener("keydown", event => {
    if (event.key !== "/" || event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.target;
    if (at instanceof Element && at.closest("input, textarea, select, [contenteditable], dialog")) return;
    const field = document.getElementById("jump");
    if (!field || document.body.classList.contains("trace-page")) return;
    event.preventDefault();
    if (field.offsetParent === null) location.href = field.form.action;
    else field.select();
  });
  document.addEventListener("click", event => {
    if (event.target.closest && event.target.closest("[data-dismiss]")) clear();
  });
})();
