// Sends dropped or chosen files one after the other, each with its companion, and shows how far each is.
// Without this script the form sends them all at once, as any form does.
(() => {
  "use strict";
  const COMPANION_END = "_run_metadata.yaml";
  const PACKED = /\.(gz|zst|zstd)$/i;
  const form = document.getElementById("uploader");
  const drop = document.getElementById("drop");
  const input = document.getElementById("files");
  const send = document.getElementById("send");
  const now = document.getElementById("now");
  const queue = document.getElementById("queue");
  const waiting = [];
  let busy = false;
  send.hidden = true;

  // results.jsonl.zst → results_run_metadata.yaml, as the harness names it
  const companionOf = name => name.replace(PACKED, "").replace(/\.[^.]*$/, "") + COMPANION_END;

  // As the page writes its limit: a unit is a power of 1,024.
  const sizeOf = bytes => {
    let at = bytes;
    let unit = "B";
    for (const larger of ["KB", "MB", "GB", "TB"]) {
      if (at < 1024) break;
      at /= 1024;
      unit = larger;
    }
    return at.toFixed(1).replace(/\.0$/, "") + " " + unit;
  };

  const element = (tag, name, text) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const meter = () => {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("class", "prog");
    svg.setAttribute("viewBox", "0 0 100 6");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    for (const [name, width] of [["bg", 100], ["fg", 0]]) {
      const bar = document.createElementNS(space, "rect");
      bar.setAttribute("class", name);
      bar.setAttribute("width", String(width));
      bar.setAttribute("height", "6");
      bar.setAttribute("rx", "1");
      svg.append(bar);
    }
    return svg;
  };

  const entryFor = file => {
    const entry = element("article", "up");
    const name = element("bdi", "", file.name);
    const title = element("h3", "nm");
    title.append(name);
    const state = element("p", "st-l", "Waiting to be sent");
    const about = element("div");
    about.append(title, state);
    const cancel = element("button", "btn small", "Cancel");
    cancel.type = "button";
    const acts = element("div", "row acts");
    acts.append(cancel);
    const full = element("div", "full");
    const bar = meter();
    full.append(bar);
    entry.append(element("span", "dim"), about, acts, full);
    return { entry, state, cancel, bar };
  };

  const end = (job, sentence) => {
    job.view.state.textContent = sentence;
    job.view.state.setAttribute("role", "alert");
    job.view.bar.parentElement.remove();
    job.view.cancel.textContent = "Close";
    job.view.cancel.onclick = () => job.view.entry.remove();
  };

  const settle = (job, html) => {
    const made = document.createElement("template");
    made.innerHTML = html; // the server's own part of this page, escaped there
    const entries = [...made.content.children]; // an archive that is unpacked by now brings its members
    job.view.entry.replaceWith(made.content);
    for (const entry of entries) {
      if (window.htmx) htmx.process(entry);
      place(entry);
    }
  };

  const refused = html => {
    const made = document.createElement("template");
    made.innerHTML = html;
    return made.content.textContent.trim().replace(/\s+/g, " ");
  };

  const next = () => {
    if (busy || !waiting.length) return;
    busy = true;
    const job = waiting.shift();
    const data = new FormData(form);
    data.delete("files");
    data.append("files", job.file, job.file.name);
    if (job.companion) data.append("files", job.companion, job.companion.name);
    const request = new XMLHttpRequest();
    const done = () => {
      busy = false;
      next();
    };
    request.open("POST", form.action);
    request.setRequestHeader("HX-Request", "true");
    request.upload.onprogress = event => {
      if (!event.lengthComputable) return;
      const share = event.total ? event.loaded / event.total : 1;
      job.view.bar.lastChild.setAttribute("width", (share * 100).toFixed(2));
      job.view.bar.setAttribute("aria-label", Math.round(share * 100) + "%");
      job.view.state.textContent =
        share < 1 ? "Uploading, " + sizeOf(event.loaded) + " of " + sizeOf(event.total) : "Sent. The server looks at its first lines.";
    };
    request.onload = () => {
      if (request.status === 200) settle(job, request.responseText);
      else if (request.status === 422) end(job, refused(request.responseText));
      else if (request.status === 413) end(job, "The file is larger than this server takes. Nothing was stored.");
      else if (request.status === 401) end(job, "You are not logged in any more. Nothing was stored. Load the page again, log in and send the file once more.");
      else if (request.status === 403) end(job, "The server refused the file, since this page is too old. Load the page again.");
      else if (request.status === 507) end(job, "The disk of the server's data folder is full, so the file could not be kept. Make space and send it again.");
      else end(job, "The server could not take the file. Its log says why. Nothing was stored.");
      done();
    };
    request.onerror = () => {
      end(job, "The connection broke off. Nothing was stored. Send the file again.");
      done();
    };
    request.onabort = () => {
      job.view.entry.remove();
      done();
    };
    job.view.cancel.onclick = () => request.abort();
    job.view.state.textContent = "Uploading";
    request.send(data);
  };

  const take = files => {
    const list = [...files];
    const companions = new Map(list.filter(file => file.name.endsWith(COMPANION_END)).map(file => [file.name, file]));
    now.hidden = false;
    const none = document.getElementById("none");
    if (none) none.remove();
    const limit = Number(form.dataset.limit);
    for (const file of list) {
      if (file.name.endsWith(COMPANION_END)) continue;
      const companion = companions.get(companionOf(file.name));
      if (companion) companions.delete(companion.name);
      const job = { file, companion, view: entryFor(file) };
      queue.append(job.view.entry);
      if (file.size > limit) {
        end(job, "The file has " + sizeOf(file.size) + "; this server takes " + sizeOf(limit) + ". Nothing was sent. Compress it, or read it with the command ingest.");
        continue;
      }
      job.view.cancel.onclick = () => {
        waiting.splice(waiting.indexOf(job), 1);
        job.view.entry.remove();
      };
      waiting.push(job);
    }
    for (const file of companions.values()) {
      const job = { file, view: entryFor(file) };
      queue.append(job.view.entry);
      end(job, "This describes a run, and its result file was not sent along. Drop both at once: their names begin alike.");
    }
    next();
  };

  const takeChosen = () => {
    if (input.files.length) take(input.files);
    input.value = "";
  };
  form.addEventListener("submit", event => {
    event.preventDefault();
    takeChosen();
  });
  input.addEventListener("change", takeChosen);
  // A file that asks, that is on its way, or that is finished stands in the list of such files, wherever it was before.
  const lists = [...document.querySelectorAll("[data-list]")];
  const place = entry => {
    const list = lists.find(one => one.dataset.list === entry.dataset.kind);
    if (list && entry.parentElement !== list) {
      list.prepend(entry);
      if (entry.dataset.kind === "finished") count(1);
    }
    for (const one of lists) one.closest("section").hidden = !one.children.length;
  };
  const count = more => {
    const total = document.getElementById("total");
    const files = Number(total.dataset.files) + more;
    total.dataset.files = String(files);
    total.textContent = files.toLocaleString("en-US") + (files === 1 ? " file" : " files") + ", newest first";
  };
  document.body.addEventListener("htmx:load", event => {
    const entry = event.detail.elt;
    if (entry instanceof Element && entry.matches("article.up[data-kind]") && entry.closest("[data-list]")) place(entry);
  });

  // A file that misses the field must not replace the page.
  let depth = 0;
  const carries = event => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  addEventListener("dragenter", event => {
    if (!carries(event)) return;
    depth += 1;
    drop.classList.add("over");
  });
  addEventListener("dragleave", event => {
    if (!carries(event)) return;
    depth -= 1;
    if (depth <= 0) drop.classList.remove("over");
  });
  addEventListener("dragover", event => {
    if (carries(event)) event.preventDefault();
  });
  addEventListener("drop", event => {
    if (!carries(event)) return;
    event.preventDefault();
    depth = 0;
    drop.classList.remove("over");
    take(event.dataTransfer.files);
  });
  addEventListener("beforeunload", event => {
    if (busy) event.preventDefault();
  });
  takeChosen(); // what was chosen before this script was there
})();
