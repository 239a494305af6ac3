"use strict";
(() => {
  const value = (cell) => {
    const given = cell.dataset.sort;
    if (given !== undefined) return given === "" ? "" : Number(given);
    const text = cell.textContent.trim();
    if (text === "-") return "";
    return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text.toLowerCase();
  };
  const compare = (a, b) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  };

  function sort(button) {
    const head = button.closest("th");
    const body = head.closest("table").tBodies[0];
    const rising = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.cells)
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const rows = [...body.rows].map((row) => [value(row.cells[head.cellIndex]), row]);
    rows.sort(([a], [b]) => (a === "" || b === "" ? compare(a, b) : rising ? compare(a, b) : compare(b, a)));
    body.append(...rows.map(([, row]) => row));
  }

  function filter(bar) {
    const box = bar.querySelector("[data-filter]");
    const only = bar.querySelector("[data-only]")?.value ?? "";
    const wanted = box.value.trim().toLowerCase();
    const rows = document.getElementById(box.dataset.filter).tBodies[0].rows;
    let shown = 0;
    for (const row of rows) {
      const named = (row.closest("table.grid") ? row.cells[0] : row).textContent.toLowerCase().includes(wanted);
      const tagged = !only || (row.dataset.tags ?? "").split(" ").includes(only);
      row.hidden = !(named && tagged);
      shown += !row.hidden;
    }
    bar.querySelector(".count").textContent = shown < rows.length ? `${shown} of ${rows.length}` : "";
    rove(document.getElementById(box.dataset.filter));
  }

  // A grid is one tab stop: the mark that had the focus last, or the first one shown.
  function rove(grid, mark) {
    if (!grid.matches(".grid")) return;
    const old = grid.querySelector('a.mark[tabindex="0"]');
    const next = mark ?? (old?.closest("tr").hidden === false ? old : grid.querySelector("tbody tr:not([hidden]) a.mark"));
    if (old) old.tabIndex = -1;
    if (next) next.tabIndex = 0;
  }

  function move(event) {
    const mark = event.target.closest("a.mark");
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!mark || !step) return;
    event.preventDefault();
    const row = mark.closest("tr");
    const marks = [...row.querySelectorAll("a.mark")];
    const place = marks.indexOf(mark);
    let next = marks[place + step[1]];
    if (step[0]) {
      let other = row;
      do other = step[0] > 0 ? other.nextElementSibling : other.previousElementSibling;
      while (other && (other.hidden || !other.querySelector("a.mark")));
      const line = other ? [...other.querySelectorAll("a.mark")] : [];
      next = line[Math.min(place, line.length - 1)];
    }
    if (!next) return;
    const grid = row.closest("table"), box = grid.parentElement;
    rove(grid, next);
    box.style.scrollPadding = `${grid.tHead.offsetHeight + 4}px 4px 4px ${row.cells[0].offsetWidth + 4}px`;
    next.focus();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("thead button");
    if (button) sort(button);
  });
  for (const grid of document.querySelectorAll("table.grid")) {
    for (const mark of grid.querySelectorAll("a.mark")) mark.tabIndex = -1;
    rove(grid);
    grid.addEventListener("keydown", move);
    grid.addEventListener("focusin", (event) => event.target.matches("a.mark") && rove(grid, event.target));
  }
  const bars = document.querySelectorAll(".filter");
  for (const bar of bars) bar.addEventListener("input", () => filter(bar));
  addEventListener("pageshow", () => bars.forEach(filter)); // what a browser had restored into them

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => folded.splice(0).forEach((part) => (part.open = false)));

  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
  });
})();
