// The trace page: what pointer and keyboard do. Keys act only where nobody types.
(() => {
  "use strict";
  const { $, $$, panes, letters, total, steps, side, narrow, state, say, ask } = trace;

  // --- moving ---------------------------------------------------------------------------------------------------------

  function move(by) {
    if (!trace.filtered()) return trace.select(state.step + by);
    const rows = $$(".step", steps).map(one => Number(one.id.slice(1)));
    const next = by > 0 ? rows.find(step => step > state.step) : rows.findLast(step => step < state.step);
    if (next) trace.select(next);
  }
  function hop(kinds, by) {
    for (let at = state.step - 1 + by; at >= 0 && at < total; at += by) {
      if (kinds.includes(letters[at])) return trace.select(at + 1);
    }
    say(by > 0 ? "There is none after this step." : "There is none before this step.");
  }
  function travel(key) {
    const link = $(`a[data-go="${key}"]`);
    if (!link) return say({ "[": "This is the first repetition.", "]": "This is the last repetition.", J: "No later repetition failed.", K: "No earlier repetition failed." }[key]);
    const shown = new URLSearchParams(location.search).get("tab");
    location.href = link.getAttribute("href") + (shown ? `?tab=${encodeURIComponent(shown)}` : "");
  }
  function cause() {
    const step = Number(panes.dataset.cause);
    if (!step) return say("No step is known to be behind a failing field.");
    const first = $$("[data-effect]", side).find(effect => /missing|wrong|extra/.test(effect.dataset.kind || effect.className));
    trace.select(step, { effect: first ? first.dataset.effect : null });
  }
  async function copyLink() {
    const address = new URL(location.href);
    address.searchParams.set("step", String(state.step));
    try {
      await navigator.clipboard.writeText(address.href);
      say("The link to this step is copied.");
    } catch {
      say("The browser did not allow copying. The address of the page is the link to this step.");
    }
  }
  function find() {
    if (narrow.matches) trace.tab("steps");
    const field = $(".find", steps);
    field.focus();
    field.select();
  }
  const help = $("#help");
  const keys = {
    j: () => move(1), k: () => move(-1), n: () => hop("wx", 1), p: () => hop("wx", -1), e: () => hop("ex", 1),
    g: () => trace.select(1), G: () => trace.select(total), f: cause,
    "[": () => travel("["), "]": () => travel("]"), J: () => travel("J"), K: () => travel("K"),
    1: () => trace.tab("state"), 2: () => trace.tab("checks"), 3: () => trace.tab("task"), 4: () => trace.tab("raw"),
    x: () => { const link = $("a[data-compare]"); if (link) location.href = link.href; else say("There is no attempt to compare with."); },
    u: () => $("[data-unchanged]", side)?.click(), "/": find, y: copyLink, "?": () => help.showModal(),
  };
  const typing = target => target instanceof Element && (target.closest("textarea, select, [contenteditable]") || (target.closest("input") && target.type !== "range"));
  document.addEventListener("keydown", event => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (help.open || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const button of $$("[data-help], [data-copy-link]")) button.hidden = false;
  $("[data-help]")?.addEventListener("click", () => help.showModal());
  $("[data-close]", help).addEventListener("click", () => help.close());
  $("[data-copy-link]").addEventListener("click", copyLink);

  // --- the timeline ---------------------------------------------------------------------------------------------------

  const scrub = $("[data-scrub]");
  if (scrub) {
    const at = $("[data-now]");
    const marks = $$(".tl li");
    const path = $("[data-on-path]");
    const track = scrub.parentElement;
    let on = marks.find(one => one.hasAttribute("data-on"));
    trace.onSelect(step => {
      scrub.value = String(step);
      at.textContent = "Step " + step;
      on?.removeAttribute("data-on");
      on = marks[step - 1];
      on?.setAttribute("data-on", "");
      path?.setAttribute("d", `M${step - 0.5} 0V20`);
    });
    scrub.addEventListener("input", () => trace.select(Number(scrub.value)));
    // The thumb of a range stops half its width before the ends: the track is widened so that it stands over the marks.
    const fit = () => {
      const width = track.clientWidth / total, thumb = 16;
      scrub.style.width = `${track.clientWidth - width + thumb}px`;
      scrub.style.marginLeft = `${(width - thumb) / 2}px`;
    };
    fit();
    addEventListener("resize", fit);
    const button = (name, by) => $(name).addEventListener("click", event => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      move(by);
    });
    button("[data-prev]", -1);
    button("[data-next]", 1);
  }

  // --- payloads -------------------------------------------------------------------------------------------------------

  async function copyPart(link) {
    try {
      await navigator.clipboard.writeText(await ask(link.getAttribute("href")));
      link.textContent = "copied";
      say("Copied.");
      setTimeout(() => { link.textContent = "copy"; }, 1500);
    } catch {
      say("The browser did not allow copying. Open the link to see the text alone.");
    }
  }
  // Long texts grow window by window, each a task of its own, so that the page stays alive while five megabytes come in.
  async function grow(link, all) {
    const part = link.closest(".part");
    let box = $(".wins", part);
    if (!box) {
      box = document.createElement("div");
      box.className = "wins";
      box.tabIndex = 0;
      const first = $("pre.win", part);
      first.before(box);
      first.removeAttribute("tabindex");
      box.append(first);
    }
    const holder = document.createElement("template");
    for (;;) {
      const next = $("a.next", part);
      if (!next || !part.isConnected) return;
      holder.innerHTML = await ask(next.getAttribute("href"));
      next.closest(".rest").remove();
      for (const one of [...holder.content.children]) {
        if (one.matches("pre")) { one.removeAttribute("tabindex"); box.append(one); } else part.append(one);
      }
      if (!all) return;
      await new Promise(resolve => setTimeout(resolve));
    }
  }

  // --- clicks ---------------------------------------------------------------------------------------------------------

  document.addEventListener("click", event => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const target = event.target;
    if (!(target instanceof Element)) return;
    const hit = selector => target.closest(selector);
    const act = (element, what) => { if (element) { event.preventDefault(); what(element); } return Boolean(element); };
    if (act(hit("[data-goto]"), link => { if (narrow.matches) trace.tab("steps"); trace.select(Number(link.dataset.goto)); })) return;
    if (act(hit("[data-effect-link]"), link => trace.goto(link.dataset.effectLink))) return;
    if (act(hit("a[data-tab]"), link => trace.tab(link.dataset.tab))) return;
    if (act(hit("a[data-show]"), link => trace.showSteps(link.dataset.show === "all" ? {} : { show: link.dataset.show }).catch(() => say("The server did not answer.")))) return;
    if (act(hit("[data-unchanged]"), link => trace.showPanel("state", link.dataset.unchanged === "1" ? {} : { unchanged: "1" }).catch(() => say("The server did not answer.")))) return;
    if (act(hit("[data-everything]"), () => trace.showPanel("state", { effects: "all" }).catch(() => say("The server did not answer.")))) return;
    if (act(hit("[data-end]"), () => trace.select(total))) return;
    if (act(hit(".copy"), copyPart)) return;
    if (act(hit(".part a.next"), link => grow(link, false))) return;
    if (act(hit(".part a.all"), link => grow(link, true))) return;
    if (act(hit(".no a"), link => trace.select(Number(link.textContent)))) return;
    if (act(hit(".block.later a"), link => trace.select(Number(link.closest(".block").dataset.first)))) return;
    if (hit("a, button, input")) return;
    const line = hit(".step .line");
    if (line) {
      const step = Number(line.closest(".step").id.slice(1));
      if (step === state.step) {
        const at = line.closest(".step");
        if (document.getSelection()?.isCollapsed === false) return;
        if (at.classList.contains("open")) at.classList.remove("open");
        else trace.open(at);
        trace.queueThread();
        return;
      }
      event.preventDefault();
      trace.select(step);
      return;
    }
    if (document.getSelection()?.isCollapsed === false) return;
    const effect = hit("tr[data-effect], header[data-effect]");
    if (effect && side.contains(effect)) trace.goto(effect.dataset.effect);
  });

  // --- find -----------------------------------------------------------------------------------------------------------

  let asked = 0;
  steps.addEventListener("input", event => {
    if (!event.target.matches(".find")) return;
    clearTimeout(asked);
    const field = event.target;
    asked = setTimeout(() => {
      const words = field.value.trim();
      trace.showSteps(words ? { find: words } : {}).catch(() => say("The server did not answer."));
    }, 250);
  });
  steps.addEventListener("submit", event => {
    event.preventDefault();
    clearTimeout(asked);
    const words = $(".find", steps).value.trim();
    trace.showSteps(words ? { find: words } : {}).then(() => {
      const first = $(".step", steps);
      if (words && first) trace.select(Number(first.id.slice(1)));
    }, () => say("The server did not answer."));
  });

  // --- first view -----------------------------------------------------------------------------------------------------

  trace.watch();
  trace.mark();
  const at = trace.row(state.step);
  if (at && !narrow.matches) trace.into(at);
  // On a narrow screen the steps are below the head: the way down is taken for who followed a link to one of them.
  const linked = Number(new URLSearchParams(location.search).get("step")) === state.step;
  if (at && narrow.matches && linked) $(".line", at).scrollIntoView({ block: "center" });
  const named = /^#e(\d+)$/.exec(location.hash);
  if (named) trace.goto(named[1]);
  else $('[aria-current="true"][data-effect]', side)?.scrollIntoView({ block: "nearest" });
})();
