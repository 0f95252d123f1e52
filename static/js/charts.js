// Draws the charts of a page. plotly.js (nearly 5 MB) is fetched by this script, so only pages with a chart load it, and
// after everything else. Figures name their colours by custom properties; what those are worth is put in here.
(() => {
  "use strict";
  const source = document.currentScript.dataset.plotly;
  const CONFIG = { displayModeBar: false, responsive: false, scrollZoom: false, doubleClick: false, showTips: false };
  const NAMED = /^var\((--[\w-]+)\)$/;

  let library;
  const load = () => library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("plotly.js could not be loaded."));
    document.head.append(script);
  });

  // --- Colours -------------------------------------------------------------------------------------------------------

  const probe = document.createElement("span");
  probe.hidden = true;

  // A computed colour as rgb(), which is what plotly.js reads: color-mix() computes to color(srgb ...).
  const asRgb = computed => {
    const mixed = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.e-]+))?\)$/.exec(computed);
    if (!mixed) return computed;
    const [red, green, blue] = mixed.slice(1, 4).map(part => Math.round(Number(part) * 255));
    return `rgba(${red}, ${green}, ${blue}, ${mixed[4] ?? 1})`;
  };

  const palette = () => {
    const styles = getComputedStyle(document.documentElement);
    const known = new Map();
    return name => {
      if (!known.has(name)) {
        if (name === "--sans") known.set(name, styles.getPropertyValue(name).trim());
        else {
          probe.style.color = `var(${name})`;
          known.set(name, asRgb(getComputedStyle(probe).color));
        }
      }
      return known.get(name);
    };
  };

  // A copy of the figure with the colours of now.
  const painted = (part, worth) => {
    if (typeof part === "string") {
      const named = NAMED.exec(part);
      return named ? worth(named[1]) : part;
    }
    if (Array.isArray(part)) return part.map(each => painted(each, worth));
    if (part && typeof part === "object")
      return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, painted(value, worth)]));
    return part;
  };

  // --- Drawing -------------------------------------------------------------------------------------------------------

  const drawn = new Map(); // the box of a chart → its figure, as the page gave it

  const widthOf = box => Math.floor(box.clientWidth);

  const paint = box => {
    const figure = painted(drawn.get(box), palette());
    figure.layout.width = widthOf(box);
    return window.Plotly.react(box, figure.data, figure.layout, CONFIG);
  };

  const follow = event => {
    const address = event.points[0]?.customdata;
    if (typeof address !== "string" || !address) return;
    const target = new URL(address, location.href);
    if (target.origin !== location.origin) return;
    const pressed = event.event ?? {};
    if (pressed.ctrlKey || pressed.metaKey || pressed.shiftKey || pressed.button === 1) open(target, "_blank", "noopener");
    else location.assign(target);
  };

  // Pointing at something that leads somewhere shows it.
  const point = (box, event) => {
    const address = event?.points?.[0]?.customdata;
    box.classList.toggle("leads", typeof address === "string" && address !== "");
  };

  // With the library there, all of it is drawn before this returns.
  const draw = box => {
    if (drawn.has(box)) return undefined;
    box.replaceChildren();
    drawn.set(box, JSON.parse(document.getElementById(box.dataset.figure).textContent));
    const painting = paint(box);
    box.closest(".chart").dataset.drawn = "";
    return painting;
  };

  const settle = async box => {
    const chart = box.closest(".chart");
    await load();
    await draw(box);
    box.on("plotly_click", follow);
    box.on("plotly_hover", event => point(box, event));
    box.on("plotly_unhover", () => point(box));
    for (const button of chart.querySelectorAll("[data-picture]")) button.hidden = false;
  };

  const fail = (box, error) => {
    const chart = box.closest(".chart");
    drawn.delete(box);
    delete chart.dataset.drawn;
    const said = document.createElement("p");
    said.className = "note";
    said.textContent = "The chart could not be drawn. Its values are in the table below.";
    box.replaceChildren(said);
    chart.querySelector("details")?.setAttribute("open", "");
    console.warn(error);
  };

  // A box without a width is not shown yet, as in a closed part of the page: it is drawn once it has one.
  const sizes = new ResizeObserver(entries => {
    for (const { target: box } of entries) {
      if (!widthOf(box)) continue;
      if (drawn.has(box)) {
        if (box.isConnected && box.layout && box.layout.width !== widthOf(box))
          window.Plotly.relayout(box, { width: widthOf(box) });
      } else if (!box.dataset.begun) {
        box.dataset.begun = "";
        settle(box).catch(error => fail(box, error));
      }
    }
  });

  const begin = root => {
    for (const box of root.querySelectorAll("[data-figure]")) {
      box.closest(".chart").querySelector("details")?.removeAttribute("open");
      sizes.observe(box);
    }
  };

  const end = root => {
    for (const box of root.querySelectorAll("[data-figure]")) {
      sizes.unobserve(box);
      if (drawn.delete(box)) window.Plotly.purge(box);
    }
  };

  const repaint = () => {
    for (const box of drawn.keys()) if (widthOf(box)) paint(box);
  };

  // --- Pictures ------------------------------------------------------------------------------------------------------

  // With the title and what it is drawn over, so that the picture can stand alone.
  const save = async (box, format) => {
    const figure = painted(drawn.get(box), palette());
    const chart = box.closest(".chart");
    const worth = palette();
    const { layout } = figure;
    const words = chart.querySelector(".chart-caption")?.textContent ?? "";
    const margin = { ...layout.margin };
    margin.t += 44;
    margin.b += 30;
    const width = Math.max(widthOf(box), 560);
    const title = chart.querySelector("h2")?.textContent ?? "";
    const escaped = text => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const height = layout.height + 74;
    if (layout.legend) layout.legend.y = 30 / height;
    layout.annotations = [
      ...(layout.annotations ?? []),
      {
        text: escaped(words), showarrow: false, xref: "paper", yref: "paper", x: 0, xanchor: "left",
        xshift: 12 - margin.l, y: 0, yanchor: "bottom", yshift: 8 - margin.b,
        font: { size: 10.5, color: worth("--text-3") },
      },
    ];
    Object.assign(layout, {
      width, height, margin,
      paper_bgcolor: worth("--surface"),
      title: {
        text: escaped(title), x: 0, xanchor: "left", xref: "container", y: 1, yanchor: "top",
        yref: "container", pad: { l: 12, t: 12 }, font: { size: 14, weight: 650, color: worth("--text") },
      },
    });
    const options = { format, width, height, scale: format === "png" ? 2 : 1 };
    const picture = await window.Plotly.toImage({ data: figure.data, layout, config: { ...CONFIG, staticPlot: true } }, options);
    const link = document.createElement("a");
    link.href = picture;
    link.download = `${box.dataset.name}.${format}`;
    link.click();
  };

  document.addEventListener("click", event => {
    const button = event.target.closest?.("[data-picture]");
    const box = button?.closest(".chart").querySelector("[data-figure]");
    if (box && drawn.has(box)) save(box, button.dataset.picture);
  });

  // --- Print ---------------------------------------------------------------------------------------------------------

  // On paper a chart is light and as wide as its column: the drawing keeps its size and is scaled as a whole.
  // One that cannot be drawn yet, as the library is still on its way, leaves its place to its values.
  let theme;
  const opened = new Set();
  const prepare = () => {
    for (const box of document.querySelectorAll("[data-figure]")) {
      if (!drawn.has(box) && window.Plotly && widthOf(box)) draw(box);
      const details = drawn.has(box) ? null : box.closest(".chart").querySelector("details:not([open])");
      if (details) {
        details.open = true;
        opened.add(details);
      }
    }
  };
  addEventListener("beforeprint", () => {
    const root = document.documentElement;
    if (theme !== undefined) return;
    theme = root.dataset.theme ?? "";
    root.dataset.theme = "light";
    prepare();
    for (const box of drawn.keys()) {
      paint(box);
      for (const svg of box.querySelectorAll(".main-svg")) {
        svg.setAttribute("viewBox", `0 0 ${box.layout.width} ${box.layout.height}`);
      }
      box.style.aspectRatio = `${box.layout.width} / ${box.layout.height}`;
    }
  });
  addEventListener("afterprint", () => {
    if (theme === undefined) return;
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    theme = undefined;
    for (const details of opened) details.open = false;
    opened.clear();
    for (const box of drawn.keys()) {
      for (const svg of box.querySelectorAll(".main-svg")) svg.removeAttribute("viewBox");
      box.style.aspectRatio = "";
    }
    repaint();
  });

  // --- The page ------------------------------------------------------------------------------------------------------

  new MutationObserver(() => { if (theme === undefined) repaint(); })
    .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

  const start = () => {
    document.body.append(probe);
    begin(document);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
  document.addEventListener("htmx:beforeCleanupElement", event => end(event.target));
  document.addEventListener("htmx:afterSettle", event => begin(event.target));
})();
