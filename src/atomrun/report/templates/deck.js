"use strict";
{
  const { names, items } = JSON.parse(document.getElementById("details").textContent);
  const cells = [...document.querySelectorAll(".cell")];
  const find = document.getElementById("find");
  const only = document.getElementById("only");
  const shown = document.getElementById("shown");

  // Texts are foreign: they are only ever set as text.
  const make = (tag, text = "", tone = "") => {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    if (tone) element.className = tone;
    return element;
  };
  const into = (parent, ...children) => {
    parent.append(...children);
    return parent;
  };
  const scrolled = (table) => into(make("div", "", "scroll"), table);

  const drawn = (room) => {
    const cell = make("td");
    if (room === null) return cell;
    const bar = make("i");
    bar.style.setProperty("--room", room);
    return into(cell, bar);
  };

  const gateRow = ([metric, word, tone, bound, unit, reason, actual, margin, room, source, vacuous]) => {
    const remarks = make("td", source);
    if (vacuous) remarks.append(" ", make("em", "cannot fail"));
    if (names[reason]) remarks.append(" ", make("span", names[reason], "note"));
    return into(
      make("tr", "", names[tone]),
      make("td", names[metric]),
      into(make("td"), make("b", names[word])),
      make("td", actual),
      make("td", names[bound]),
      make("td", names[unit]),
      make("td", margin),
      drawn(room),
      remarks,
    );
  };

  const gateTable = (groups) => {
    const table = make("table", "", "gates");
    const head = table.createTHead().insertRow();
    for (const title of ["metric", "verdict", "actual", "bound", "unit", "margin"]) head.append(make("th", title));
    head.append(into(make("th"), make("span", "margin, drawn", "unseen")), make("th", "written at, remarks"));
    for (const [tier, word, tone, reason, gates] of groups) {
      const body = table.createTBody();
      const why = make("td", names[reason]);
      why.colSpan = 6;
      const title = into(make("tr", "", `tier ${names[tone]}`), make("th", names[tier]));
      body.append(into(title, into(make("td"), make("b", names[word])), why), ...gates.map(gateRow));
    }
    return scrolled(table);
  };

  const valueTable = (values) => {
    const table = make("table");
    for (let at = 0; at < values.length; at += 3) {
      const row = table.insertRow();
      row.append(make("td", names[values[at]]), make("td", values[at + 1], "n"), make("td", names[values[at + 2]]));
    }
    const more = into(make("details"), make("summary", `${values.length / 3} measurements that no spec bounds`));
    return into(more, scrolled(table));
  };

  // What a cell or check opens to is made when it is first opened.
  const fill = (owner) => {
    const place = owner.querySelector(".detail");
    if (place.hasChildNodes()) return;
    const [groups, values] = items[owner.dataset.detail];
    if (groups.length) place.append(gateTable(groups));
    if (values.length) place.append(valueTable(values));
  };
  for (const owner of document.querySelectorAll("[data-detail]")) {
    if (owner.open) fill(owner);
    owner.addEventListener("toggle", () => owner.open && fill(owner));
  }

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
    fill(cell);
    cell.scrollIntoView({ block: "start" });
  };

  const step = (by) => {
    const visible = cells.filter((cell) => !cell.hidden);
    const here = visible.indexOf(document.activeElement.closest(".cell"));
    const next = here < 0 ? (by > 0 ? 0 : visible.length - 1) : here + by;
    visible[next]?.querySelector("summary").focus();
  };

  const keys = {
    "/": () => find.focus(),
    f: () => only.click(),
    j: () => step(1),
    k: () => step(-1),
  };
  const pressed = (event) => {
    if (event.key === "Escape" && event.target === find) {
      find.value = "";
      filter();
      find.blur();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=search]")) return;
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  };

  if (find) {
    document.querySelector(".filter").hidden = false;
    find.addEventListener("input", filter);
    only.addEventListener("change", filter);
    addEventListener("keydown", pressed);
  }
  addEventListener("hashchange", open);
  open();

  // A chart replaces its drawing. No code is made from text (`ast`), as the page's policy forbids it.
  const charts = document.getElementById("charts");
  const specifications = charts ? JSON.parse(charts.textContent) : [];
  for (const figure of document.querySelectorAll("[data-chart]")) {
    const place = make("div", "", "live");
    figure.append(place);
    const options = { actions: false, ast: true, renderer: "svg", tooltip: { theme: "custom" } };
    vegaEmbed(place, specifications[figure.dataset.chart], options).then(({ view }) => {
      figure.classList.add("drawn");
      view.addEventListener("click", (_, item) => {
        if (item?.datum?.at) location.hash = item.datum.at;
      });
    });
  }
}
