// The day view: a panel for what is chosen, dragging to another time or table, the line of this moment, printing.
"use strict";

const STEP_S = 900;
const COLUMN_S = 300;
// So far the pointer may tremble before a press is a drag.
const TREMBLE = 6;
let drag = null;
let justDragged = false;

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
  const link = event.target.closest("[data-panel]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (justDragged) return;
  const panel = document.getElementById("panel");
  panel.returnTo = link.id;
  htmx.ajax("GET", link.getAttribute("href"), { target: "#panel-body", swap: "innerHTML" }).then(() => {
    if (!panel.open) panel.showModal();
  });
});

// The sheet may have been drawn anew while the panel was open: the focus goes to the line of the same name.
document.getElementById("panel")?.addEventListener("close", (event) => {
  document.getElementById(event.target.returnTo)?.focus();
});

document.addEventListener("pointerdown", (event) => {
  const link = event.target.closest(".block a[data-move]");
  if (!link || event.button !== 0 || event.pointerType === "touch") return;
  const lines = link.closest(".lines");
  const lane = link.closest(".lane");
  const width = lane.getBoundingClientRect().width / Number(lines.dataset.columns);
  drag = { link, block: link.closest(".block"), from: lane, lane, width, x: event.clientX, y: event.clientY, moved: false };
});

document.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const dx = event.clientX - drag.x;
  const dy = event.clientY - drag.y;
  if (!drag.moved && Math.hypot(dx, dy) < TREMBLE) return;
  if (!drag.moved) {
    drag.moved = true;
    drag.hint = document.createElement("div");
    drag.hint.className = "drop-at";
    document.body.append(drag.hint);
    drag.block.classList.add("lifted");
  }
  event.preventDefault();
  drag.block.style.transform = `translate(${dx}px, ${dy}px)`;
  drag.block.style.pointerEvents = "none";
  const under = document.elementsFromPoint(event.clientX, event.clientY);
  const lane = under.map((one) => one.closest(".lane[data-table]")).find(Boolean) || drag.lane;
  if (lane !== drag.lane) drag.lane.classList.remove("target");
  drag.lane = lane;
  lane.classList.add("target");
  drag.moment = momentAt(dx);
  drag.hint.textContent = `${clockOf(drag.moment)} ${lane.dataset.table ? `at ${lane.dataset.table}` : "without a table"}`;
  drag.hint.style.left = `${event.clientX + 12}px`;
  drag.hint.style.top = `${event.clientY + 16}px`;
});

function momentAt(dx) {
  const starts = Number(drag.link.dataset.starts);
  const shift = Math.round((dx / drag.width) * COLUMN_S / STEP_S) * STEP_S;
  return starts + shift;
}

// The hours above the grid say what the clock of the venue shows, also where the clocks change.
function clockOf(moment) {
  const first = Number(drag.link.closest(".lines").dataset.first);
  const hours = [...document.querySelectorAll(".hours .hour")];
  const minutes = Math.floor((moment - first) / 60);
  const hour = hours[Math.floor(minutes / 60)];
  if (!hour || minutes < 0) return "then";
  return `${hour.textContent.slice(0, 3)}${String(minutes % 60).padStart(2, "0")}`;
}

function letGo(isDropped) {
  if (!drag) return;
  const its = drag;
  drag = null;
  its.lane.classList.remove("target");
  if (!its.moved) return;
  its.hint.remove();
  its.block.classList.remove("lifted");
  justDragged = true;
  setTimeout(() => { justDragged = false; }, 50);
  const isElsewhere = its.lane !== its.from || its.moment !== Number(its.link.dataset.starts);
  const jumpBack = () => { its.block.style.transform = ""; its.block.style.pointerEvents = ""; };
  if (!isDropped || !isElsewhere) { jumpBack(); return; }
  const values = {
    csrfmiddlewaretoken: document.querySelector("#drag input").value,
    version: its.link.dataset.version,
    moment: its.moment,
    tables: its.lane === its.from ? "" : JSON.stringify(tablesAfter(its)),
  };
  htmx.ajax("POST", its.link.dataset.move, { target: "#said", swap: "innerHTML", values }).then(jumpBack, jumpBack);
}

function tablesAfter(its) {
  const held = JSON.parse(its.link.dataset.tables);
  const [from, to] = [its.from.dataset.table, its.lane.dataset.table];
  const kept = held.filter((name) => name !== from && name !== to);
  return to ? [...kept, to] : kept;
}

document.addEventListener("pointerup", () => letGo(true));
document.addEventListener("pointercancel", () => letGo(false));
document.addEventListener("keydown", (event) => { if (event.key === "Escape") letGo(false); });
document.addEventListener("dragstart", (event) => { if (event.target.closest(".block")) event.preventDefault(); });

// Nothing is drawn anew under a hand that drags, nor for a page that nobody sees.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.id === "sheet-live" && (drag || document.hidden)) event.preventDefault();
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, xhr } = event.detail;
  if (target.id === "said" && xhr.status === 400) {
    // A refusal is an answer that staff read, no fault of the page.
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
  if (target.id === "sheet-live") {
    if (drag) { event.detail.shouldSwap = false; return; }
    const frame = document.getElementById("frame");
    if (frame) target.scrolled = [frame.scrollLeft, frame.scrollTop];
    scrolled = target.scrolled;
  }
});
let scrolled = null;
document.addEventListener("htmx:afterSwap", () => {
  const frame = document.getElementById("frame");
  if (frame && scrolled) frame.scrollTo(...scrolled);
  scrolled = null;
});

// The line of this moment moves by itself.
setInterval(() => {
  const lines = document.querySelector(".lines");
  if (!lines) return;
  const column = Math.floor((Date.now() / 1000 - Number(lines.dataset.first)) / COLUMN_S);
  for (const line of lines.querySelectorAll(".now")) {
    line.className = `now c${column} w1`;
    line.hidden = column < 0 || column >= Number(lines.dataset.columns);
  }
}, 30000);

// A long day opens at this moment.
{
  const frame = document.getElementById("frame");
  const now = frame?.querySelector(".row:not(.hours) .now");
  if (now) frame.scrollLeft = now.offsetLeft - frame.clientWidth / 3;
}
