// The forms of the API's reference: each asks the server as this browser, and shows what comes back as text.
(() => {
  "use strict";
  const SHOWN = 200_000;

  function requestOf(form) {
    let path = form.dataset.path;
    const query = new URLSearchParams();
    const headers = { "X-CSRFToken": form.closest("[data-csrf]").dataset.csrf };
    const request = { method: form.dataset.method, headers };
    for (const field of form.querySelectorAll("[data-place]")) {
      const value = field.value.trim();
      if (field.dataset.place === "path") {
        path = path.replace(`{${field.name}}`, encodeURIComponent(value));
      } else if (field.dataset.place === "body") {
        request.body = field.value;
        headers["Content-Type"] = field.dataset.kind;
      } else if (value && field.dataset.place === "header") {
        headers[field.name] = value;
      } else if (value) {
        const values = "several" in field.dataset ? value.split(",") : [value];
        for (const one of values) query.append(field.name, one.trim());
      }
    }
    const text = query.toString();
    return [text ? `${path}?${text}` : path, request];
  }

  function pretty(text) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  async function tryIt(event) {
    event.preventDefault();
    const form = event.currentTarget;
    const answer = form.parentElement.querySelector(".api-answer");
    const [address, request] = requestOf(form);
    form.querySelector(".api-address").textContent = address;
    answer.hidden = false;
    const status = answer.querySelector(".api-status");
    const shown = answer.querySelector("pre");
    status.textContent = "Waiting for the answer.";
    shown.textContent = "";
    try {
      const response = await fetch(address, request);
      const text = pretty(await response.text());
      status.textContent = `${response.status} ${response.statusText}`.trim();
      shown.textContent = text.length > SHOWN ? `${text.slice(0, SHOWN)}\n… ${text.length - SHOWN} characters more` : text;
    } catch (error) {
      status.textContent = `The server did not answer: ${error.message}`;
    }
  }

  for (const form of document.querySelectorAll(".api-try")) form.addEventListener("submit", tryIt);

  function openNamed() {
    const named = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    if (named instanceof HTMLDetailsElement) named.open = true;
  }

  addEventListener("hashchange", openNamed);
  openNamed();
})();
