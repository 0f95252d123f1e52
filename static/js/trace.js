// The trace page: which step is shown, the state as of it, and the thread between a step and what it wrote.
// Every address works without this file; it only shortens the way. Geometry is set here and nowhere else.
const trace = (() => {
  "use strict";
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const panes = $("[data-panes]");
  const letters = panes.dataset.letters;
  const total = letters.length;
  const steps = $('[data-scroll="steps"]').closest(".pane");
  const side = $('[data-scroll="side"]');
  const status = $("[data-status]");
  const narrow = matchMedia("(max-width: 899px)");
  const state = { step: Number(panes.dataset.step), tab: "state", effect: null };
  const listeners = [];

  const say = sentence => { status.textContent = sentence; };
  const scrollBox = () => $('[data-scroll="steps"]');
  const row = step => document.getElementById("s" + step);
  const filtered = () => $(".found", steps) !== null;

  // --- what is loaded -------------------------------------------------------------------------------------------------

  async function ask(address) {
    const answer = await fetch(address, { headers: { "HX-Request": "true" }, credentials: "same-origin" });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.text();
  }

  const loading = new Map();
  // The block of rows that a step is in, once.
  function ensure(step) {
    if (row(step)) return Promise.resolve();
    const block = $$(".block", steps).find(list => step >= Number(list.dataset.first) && step <= Number(list.dataset.last));
    if (!block || filtered()) return showSteps({});
    if (!loading.has(block)) {
      loading.set(block, ask(`?block=${block.dataset.first}`).then(html => {
        const box = scrollBox();
        const anchor = row(state.step);
        const before = anchor ? anchor.getBoundingClientRect().top : 0;
        block.innerHTML = html;
        block.classList.remove("later");
        // Rows above have another height than their placeholder: what is read stays where it is.
        if (anchor && anchor.isConnected) box.scrollTop += anchor.getBoundingClientRect().top - before;
      }).finally(() => loading.delete(block)));
    }
    return loading.get(block);
  }

  const near = new IntersectionObserver(entries => {
    for (const entry of entries) if (entry.isIntersecting) ensure(Number(entry.target.dataset.first)).catch(() => {});
  }, { root: narrow.matches ? null : scrollBox(), rootMargin: "1200px 0px" });
  const watch = () => { for (const block of $$(".block.later", steps)) near.observe(block); };

  // A step's payload, loaded on first opening.
  function open(at) {
    if (!at.classList.contains("opens")) return;
    at.classList.add("open");
    if ($(".payload", at)) return;
    const box = document.createElement("div");
    box.className = "payload";
    at.append(box);
    ask(panes.dataset.stepsUrl.replace("/0/", `/${at.id.slice(1)}/`)).then(html => {
      box.innerHTML = html;
      if (Number(at.id.slice(1)) === state.step) into(at);
      queueThread();
    }, () => {
      box.remove();
      at.classList.remove("open");
      say("The server did not answer. Open the step again.");
    });
  }

  // A part of the page at another address: the filtered steps, or the state with its unchanged fields.
  async function showSteps(query) {
    const address = new URLSearchParams({ step: String(state.step), part: "steps", ...query });
    const html = await ask("?" + address);
    const hadFocus = document.activeElement && document.activeElement.classList.contains("find");
    const typed = hadFocus ? document.activeElement.value : null;
    steps.innerHTML = html;
    if (hadFocus) {
      const find = $(".find", steps);
      find.value = typed;
      find.focus();
      find.setSelectionRange(typed.length, typed.length);
    }
    watch();
    steps.dispatchEvent(new Event("scroll"));
    bindScroll();
    mark();
  }

  async function showPanel(name, query) {
    const panel = $(`[data-panel="${name}"]`);
    const address = new URLSearchParams({ step: String(state.step), tab: name, part: name, ...query });
    panel.innerHTML = await ask("?" + address);
    panel.removeAttribute("data-later");
    if (name === "state") showState();
    mark();
  }

  // --- the state as of a step -----------------------------------------------------------------------------------------

  const effects = () => $$("[data-effect]", side);
  const known = new WeakMap();
  const stepsOf = effect => {
    if (!known.has(effect)) known.set(effect, effect.dataset.steps ? effect.dataset.steps.split(",").map(Number) : []);
    return known.get(effect);
  };
  const fails = effect => /missing|wrong|extra|reported/.test(effect.dataset.kind || effect.className);

  function showState() {
    let later = 0;
    for (const cell of $$("td.after", side)) {
      const versions = cell.children;
      if (versions.length < 2) continue;
      let now = versions[0];
      for (const version of versions) if (Number(version.dataset.at) <= state.step) now = version;
      // What is as it was is left alone: each write costs a layout, and a pane has thousands.
      if (!now.hidden) continue;
      for (const version of versions) version.hidden = version !== now;
      cell.classList.toggle("then", now !== versions[versions.length - 1]);
    }
    for (const effect of effects()) later += Math.max(0, ...stepsOf(effect)) > state.step;
    const bar = $("[data-asof]", side);
    if (bar) {
      bar.hidden = later === 0;
      $("[data-asof-step]", bar).textContent = state.step;
      $("[data-asof-later]", bar).textContent = later === 1 ? "1 field is" : `${later} fields are`;
    }
    const title = later ? `At step ${state.step}` : "After";
    for (const head of $$("[data-after-head]", side)) if (head.textContent !== title) head.textContent = title;
  }

  // --- which step is shown --------------------------------------------------------------------------------------------

  function mark() {
    for (const old of $$('.step[aria-current], .step.linked', steps)) {
      old.removeAttribute("aria-current");
      old.classList.remove("linked");
    }
    const at = row(state.step);
    if (at) at.setAttribute("aria-current", "step");
    const found = effects();
    for (const effect of found) {
      effect.classList.toggle("linked", stepsOf(effect).includes(state.step));
      effect.removeAttribute("aria-current");
    }
    const wrote = found.filter(effect => stepsOf(effect).includes(state.step));
    const asked = state.effect === null ? null : found.find(effect => effect.dataset.effect === state.effect);
    const hit = asked || wrote.find(effect => fails(effect) && Math.max(...stepsOf(effect)) === state.step) || wrote[0] || null;
    if (hit) {
      hit.setAttribute("aria-current", "true");
      for (const step of stepsOf(hit)) row(step)?.classList.add("linked");
    }
    state.hit = hit;
    queueThread();
  }

  function address() {
    const query = new URLSearchParams(location.search);
    query.set("step", String(state.step));
    query.delete("part");
    if (state.tab === "state" && !narrow.matches) query.delete("tab");
    else query.set("tab", state.tab);
    return "?" + query;
  }

  let written = "";
  let writing = 0;
  // Browsers refuse an address that is replaced too often, so it follows at the end of a burst.
  function writeAddress() {
    clearTimeout(writing);
    writing = setTimeout(() => {
      const next = address();
      if (next !== written) history.replaceState(null, "", next);
      written = next;
      for (const link of $$("a[data-tab]")) {
        const query = new URLSearchParams(location.search);
        query.set("step", String(state.step));
        query.set("tab", link.dataset.tab);
        link.setAttribute("href", "?" + query);
      }
    }, 120);
  }

  function into(at) {
    const box = scrollBox();
    if (narrow.matches) {
      const r = at.getBoundingClientRect();
      if (r.top < 110 || r.bottom > innerHeight - 20) scrollBy(0, r.top - 140);
      return;
    }
    const b = box.getBoundingClientRect();
    const r = at.getBoundingClientRect();
    if (r.top < b.top + 8 || r.bottom > b.bottom - 40) box.scrollTop += r.top - b.top - Math.min(180, b.height / 3);
  }

  function bring(step) {
    const at = row(step);
    if (!at) return;
    for (const other of $$(".step.open", steps)) if (other !== at) other.classList.remove("open");
    open(at);
    into(at);
  }

  function select(step, options = {}) {
    if (!total) return;
    state.step = Math.max(1, Math.min(total, step));
    state.effect = options.effect ?? null;
    for (const listener of listeners) listener(state.step);
    showState();
    if (row(state.step)) {
      mark();
      bring(state.step);
    } else {
      const wanted = state.step;
      mark();
      ensure(wanted).then(() => { if (state.step === wanted) { mark(); bring(wanted); } }, () => say("The server did not answer."));
    }
    if (!options.quiet) writeAddress();
  }

  // --- the thread -----------------------------------------------------------------------------------------------------

  const svg = $(".thread");
  const line = $("path", svg);
  const ends = $$("circle", svg);
  let queued = false;
  function queueThread() {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; thread(); });
  }
  function thread() {
    const clear = () => { line.setAttribute("d", ""); for (const end of ends) end.setAttribute("cy", "-99"); };
    const at = row(state.step);
    const tried = state.hit ? null : $(`.rec > header[data-tried="${state.step}"]`, side);
    const target = state.hit || tried;
    svg.classList.toggle("tried", tried !== null);
    if (narrow.matches || !at || !target || !target.offsetParent) return clear();
    const p = panes.getBoundingClientRect();
    const a = ($(".sub", at) || at).getBoundingClientRect();
    const b = target.getBoundingClientRect();
    const left = scrollBox().getBoundingClientRect();
    const right = side.getBoundingClientRect();
    const x = Math.round(right.left - p.left) - 0.5;
    const x1 = x - 12, x2 = x + 7;
    const y1 = a.top + Math.min(10, a.height / 2) - p.top, y2 = b.top + 14 - p.top;
    const top = left.top - p.top, bottom = left.bottom - p.top;
    if (y1 < top || y1 > bottom || y2 < right.top - p.top || y2 > bottom) return clear();
    const bend = Math.sign(y2 - y1) * Math.min(6, Math.abs(y2 - y1) / 2);
    line.setAttribute("d", `M${x1} ${y1}H${x - 6}Q${x} ${y1} ${x} ${y1 + bend}V${y2 - bend}Q${x} ${y2} ${x + 6} ${y2}H${x2}`);
    ends[0].setAttribute("cx", x1); ends[0].setAttribute("cy", y1);
    ends[1].setAttribute("cx", x2); ends[1].setAttribute("cy", y2);
  }
  function bindScroll() {
    scrollBox().addEventListener("scroll", queueThread, { passive: true });
  }
  bindScroll();
  side.addEventListener("scroll", queueThread, { passive: true });
  addEventListener("resize", queueThread);

  // --- tabs -----------------------------------------------------------------------------------------------------------

  function tab(name, options = {}) {
    const shown = name === "steps" ? null : name;
    // A viewer has no checks and no raw row.
    if (shown && !$(`[data-panel="${shown}"]`)) return;
    state.tab = name;
    steps.classList.toggle("open", !shown);
    side.closest(".pane").classList.toggle("open", Boolean(shown));
    for (const link of $$("a[data-tab]")) {
      const inside = link.closest(".panetabs") !== null;
      if (!inside && !shown) continue;
      if (link.dataset.tab === name) link.setAttribute("aria-current", "true");
      else if (link.closest(".tabs")) link.removeAttribute("aria-current");
    }
    if (shown) {
      for (const panel of $$("[data-panel]")) panel.hidden = panel.dataset.panel !== shown;
      const panel = $(`[data-panel="${shown}"]`);
      if (panel.hasAttribute("data-later")) showPanel(shown, {}).catch(() => say("The server did not answer. Choose the tab again."));
    }
    queueThread();
    if (!options.quiet) writeAddress();
  }

  // An effect: its row, and the step that wrote it last.
  function goto(number) {
    tab("state", { quiet: true });
    const effect = effects().find(one => one.dataset.effect === String(number));
    if (!effect) return;
    effect.closest("details")?.setAttribute("open", "");
    const wrote = stepsOf(effect);
    const tried = effect.closest(".rec").querySelector("header[data-tried]");
    select(wrote.length ? Math.max(...wrote) : tried ? Number(tried.dataset.tried) : state.step, { effect: String(number) });
    effect.scrollIntoView({ block: "nearest" });
  }

  const start = new URLSearchParams(location.search).get("tab");
  state.tab = ["state", "checks", "task", "raw"].includes(start) && $(`[data-panel="${start}"]`) ? start : narrow.matches ? "steps" : "state";

  return {
    $, $$, panes, letters, total, steps, side, narrow, state, say, ask, open, select, goto, tab, showSteps, showPanel, filtered, row,
    queueThread, watch, mark, bring, into, onSelect: listener => listeners.push(listener),
  };
})();
