// The grid of attempts: names the cell under the pointer or the cursor, and opens its attempt. Without it the table of
// tasks leads to the same attempts.
(() => {
  "use strict";
  const box = document.querySelector("[data-grid]");
  const source = document.getElementById("grid-cells");
  if (!box || !source) return;
  const data = JSON.parse(source.textContent);
  const bands = [...box.querySelectorAll("svg.band")];
  const said = document.querySelector("[data-cell]");
  const at = { band: 0, x: 0, y: 0, on: false };

  // The repetitions of a column from its top, as the server drew them: passed at the bottom, then failures, then errors.
  const rank = letter => ({ p: 0, e: 2, ".": 3 })[letter] ?? 1;
  const columns = data.bands.map(tasks => tasks.map(([, , cells]) => {
    const all = [...cells].map((letter, repetition) => ({ letter, repetition }));
    if (data.order !== "first") return all;
    return all.sort((a, b) => rank(a.letter) - rank(b.letter) || (a.letter < b.letter ? -1 : a.letter > b.letter ? 1 : 0) || a.repetition - b.repetition).reverse();
  }));

  const cellAt = () => columns[at.band]?.[at.x]?.[at.y];
  const address = cell => `${data.base}${data.bands[at.band][at.x][1]}/${cell.repetition}/`;

  function show() {
    bands.forEach((svg, number) => {
      const mark = svg.querySelector(".cell");
      const here = at.on && number === at.band;
      mark.setAttribute("x", here ? at.x : -9);
      mark.setAttribute("y", here ? at.y : -9);
    });
    const cell = at.on ? cellAt() : null;
    said.textContent = cell ? `${data.bands[at.band][at.x][0]} repetition ${cell.repetition}: ${data.words[cell.letter]}` : "";
    box.classList.toggle("at-cell", Boolean(cell) && cell.letter !== ".");
  }

  function open(event) {
    const cell = cellAt();
    if (!at.on || !cell || cell.letter === ".") return;
    if (event.ctrlKey || event.metaKey) window.open(address(cell), "_blank", "noopener");
    else location.href = address(cell);
  }

  function point(event) {
    const svg = event.target.closest?.("svg.band");
    if (!svg) return leave();
    const size = svg.getBoundingClientRect();
    const x = Math.floor((event.clientX - size.left) / size.width * data.columns);
    const y = Math.floor((event.clientY - size.top) / size.height * data.rows);
    const band = Number(svg.dataset.band);
    const known = x >= 0 && y >= 0 && y < data.rows && x < data.bands[band].length;
    if (known === at.on && band === at.band && x === at.x && y === at.y) return;
    if (known) Object.assign(at, { band, x, y, on: true });
    else at.on = false;
    show();
  }
  function leave() {
    if (!at.on || box.contains(document.activeElement)) return;
    at.on = false;
    show();
  }

  function move(dx, dy) {
    if (!at.on) at.on = true;
    else {
      at.x += dx;
      at.y += dy;
      if (at.y < 0) { if (at.band > 0) { at.band -= 1; at.y = data.rows - 1; } else at.y = 0; }
      if (at.y >= data.rows) { if (at.band < bands.length - 1) { at.band += 1; at.y = 0; } else at.y = data.rows - 1; }
    }
    at.x = Math.max(0, Math.min(data.bands[at.band].length - 1, at.x));
    show();
  }

  const keys = {
    ArrowLeft: () => move(-1, 0), ArrowRight: () => move(1, 0), ArrowUp: () => move(0, -1), ArrowDown: () => move(0, 1),
    Home: () => move(-1e6, 0), End: () => move(1e6, 0),
  };
  box.tabIndex = 0;
  for (const note of document.querySelectorAll("[data-scripted]")) note.hidden = false;
  box.addEventListener("pointermove", point);
  box.addEventListener("pointerleave", leave);
  box.addEventListener("click", event => {
    if (!event.target.closest("svg.band")) return;
    point(event);
    open(event);
  });
  box.addEventListener("keydown", event => {
    if (event.target !== box || event.altKey || event.isComposing) return;
    if (event.key === "Enter") open(event);
    else if (Object.hasOwn(keys, event.key) && !event.ctrlKey && !event.metaKey) keys[event.key]();
    else return;
    event.preventDefault();
  });
  box.addEventListener("focus", () => { if (!at.on) move(0, 0); });
  box.addEventListener("blur", () => { at.on = false; show(); });
})();
