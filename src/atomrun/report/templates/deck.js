"use strict";
{
  const cells = [...document.querySelectorAll(".cell")];
  const find = document.getElementById("find");
  const only = document.getElementById("only");
  const shown = document.getElementById("shown");

  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const cell of cells) {
      const text = cell.querySelector("summary").textContent.toLowerCase();
      const fine = cell.dataset.tone === "good" || cell.dataset.tone === "calm";
      cell.hidden = !words.every((word) => text.includes(word)) || (only.checked && fine);
      count += cell.hidden ? 0 : 1;
    }
    shown.value = count === cells.length ? "" : `${count} of ${cells.length} cells`;
  };

  // A link to a cell opens it, also when a filter hides it.
  const open = () => {
    const cell = document.getElementById(location.hash.slice(1));
    if (!cell || !cell.matches(".cell")) return;
    cell.hidden = false;
    cell.open = true;
    cell.scrollIntoView({ block: "start" });
  };

  if (find) {
    document.querySelector(".filter").hidden = false;
    find.addEventListener("input", filter);
    only.addEventListener("change", filter);
  }
  addEventListener("hashchange", open);
  open();
}
