// The day view: the reservation panel, drag and drop to another time or table, the current-time line, printing.
"use strict";

const STEP_S = 900;
const COLUMN_S = 300;
// Pointer movement in pixels below which a press is not a drag.
const DRAG_THRESHOLD_PX = 6;
// Of this script, in the language of the page. The waiting list has none.
const texts = document.getElementById("picking")?.dataset;
let drag = null;
let justDragged = false;

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
  if (event.target.closest("[data-dismiss]")) document.getElementById("status-message").replaceChildren();
  if (event.target.closest("[data-cancel-pick]")) unpick();
  const link = event.target.closest("[data-panel]");
  if (link && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
  if (event.target.closest("[data-open-picked]")) {
    const opened = pickedLink();
    unpick();
    if (opened) openPanel(opened);
    return;
  }
  if (link) event.preventDefault();
  if (justDragged) return;
  if (!link) { choosePlace(event); return; }
  // The first tap on a block picks it up; a second one opens it.
  if (isTouch && link.dataset.move && pickedLink() !== link) { pick(link); return; }
  unpick();
  openPanel(link);
});

// A chosen date applies at once. One that is typed changes several times in a row.
let dateTimer = 0;
document.querySelector(".to-day input[type=date]")?.addEventListener("change", (event) => {
  clearTimeout(dateTimer);
  const { form } = event.target;
  dateTimer = setTimeout(() => { if (form.checkValidity()) form.requestSubmit(); }, 300);
});

function openPanel(link) {
  const panel = document.getElementById("panel");
  panel.returnTo = link.id;
  htmx.ajax("GET", link.getAttribute("href"), { target: "#panel-body", swap: "innerHTML" }).then(() => {
    if (!panel.open) panel.showModal();
  });
}

// A party that was picked up by touch or keyboard, as the id of its block: the sheet may be replaced at any time.
let picked = null;
let isTouch = false;
document.addEventListener("pointerdown", (event) => { isTouch = event.pointerType === "touch"; }, true);

function pickedLink() {
  return picked && document.getElementById(picked.id);
}

function pick(link, isKeyboard = false) {
  unpick();
  document.getElementById("status-message").replaceChildren();
  picked = { id: link.id, isKeyboard, table: link.closest(".lane").dataset.table, moment: Number(link.dataset.starts) };
  showPicked();
}

function unpick() {
  picked = null;
  showPicked();
}

// Mark the picked block, and of the keyboard the place that the arrow keys have reached.
function showPicked() {
  for (const ghost of document.querySelectorAll(".ghost")) ghost.remove();
  for (const block of document.querySelectorAll(".block.picked")) block.classList.remove("picked");
  const link = pickedLink();
  if (picked && !link) picked = null;
  document.getElementById("picking").hidden = !picked;
  document.querySelector(".lines")?.classList.toggle("picking", Boolean(picked));
  if (!picked) return;
  link.closest(".block").classList.add("picked");
  const name = link.querySelector("bdi").textContent;
  const place = placeOf(clockOf(link, picked.moment), picked.table);
  const text = picked.isKeyboard ? texts.keys.replace("{place}", () => place) : texts.tap;
  document.querySelector("#picking span").textContent = text.replace("{guest}", () => name);
  document.querySelector("[data-open-picked]").hidden = picked.isKeyboard;
  if (!picked.isKeyboard) return;
  const lane = laneOf(picked.table);
  const column = Math.max(0, Math.round((picked.moment - Number(lane.closest(".lines").dataset.first)) / COLUMN_S));
  const ghost = document.createElement("li");
  ghost.className = `ghost c${column} ${[...link.closest(".block").classList].find((name_) => /^w\d+$/.test(name_))}`;
  ghost.setAttribute("aria-hidden", "true");
  lane.append(ghost);
  ghost.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function placeOf(time, table) {
  return (table ? texts.at : texts.without).replace("{time}", time).replace("{table}", () => table);
}

function laneOf(table) {
  return [...document.querySelectorAll(".lane[data-table]")].find((lane) => lane.dataset.table === table);
}

// A click or tap on an empty place: the picked party moves there, else a new reservation is opened for it.
function choosePlace(event) {
  const lane = event.target.closest(".lane[data-table]");
  if (!lane || event.target.closest(".block")) return;
  const lines = lane.closest(".lines");
  const box = lane.getBoundingClientRect();
  const column = ((event.clientX - box.left) / box.width) * Number(lines.dataset.columns);
  const moment = Number(lines.dataset.first) + Math.floor((column * COLUMN_S) / STEP_S) * STEP_S;
  const link = pickedLink();
  if (link) {
    unpick();
    sendMove(link, moment, lane);
  } else if (lane.dataset.table) {
    location.href = `${lines.dataset.new}?${new URLSearchParams({ moment, table: lane.dataset.table })}`;
  }
}

document.addEventListener("keydown", (event) => {
  const link = event.target.closest?.(".block a[data-move]");
  if (picked && event.key === "Escape") { unpick(); return; }
  if (link && event.key.toLowerCase() === "m" && !event.ctrlKey && !event.metaKey && !event.altKey) {
    pick(link, true);
    return;
  }
  if (!link || !picked?.isKeyboard || pickedLink() !== link) return;
  const lanes = [...document.querySelectorAll(".lane[data-table]")].map((lane) => lane.dataset.table);
  const row = lanes.indexOf(picked.table);
  if (event.key === "ArrowLeft") picked.moment -= STEP_S;
  else if (event.key === "ArrowRight") picked.moment += STEP_S;
  else if (event.key === "ArrowUp") picked.table = lanes[Math.max(row - 1, 0)];
  else if (event.key === "ArrowDown") picked.table = lanes[Math.min(row + 1, lanes.length - 1)];
  else if (event.key === "Enter") {
    event.preventDefault();
    const { moment, table } = picked;
    unpick();
    focusAfterSwap = link.id.split("-").slice(0, 2).join("-");
    sendMove(link, moment, laneOf(table));
    return;
  } else return;
  event.preventDefault();
  showPicked();
});
let focusAfterSwap = "";

// The sheet may have been replaced while the panel was open: focus the element with the same id.
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
  if (!drag.moved && Math.hypot(dx, dy) < DRAG_THRESHOLD_PX) return;
  if (!drag.moved) {
    drag.moved = true;
    drag.hint = document.createElement("div");
    drag.hint.className = "drop-hint";
    document.body.append(drag.hint);
    drag.block.classList.add("dragging");
  }
  event.preventDefault();
  drag.block.style.transform = `translate(${dx}px, ${dy}px)`;
  drag.block.style.pointerEvents = "none";
  const below = document.elementsFromPoint(event.clientX, event.clientY);
  const lane = below.map((element) => element.closest(".lane[data-table]")).find(Boolean) || drag.lane;
  if (lane !== drag.lane) drag.lane.classList.remove("target");
  drag.lane = lane;
  lane.classList.add("target");
  drag.moment = momentAt(dx);
  drag.hint.textContent = placeOf(clockOf(drag.link, drag.moment), lane.dataset.table);
  drag.hint.style.left = `${event.clientX + 12}px`;
  drag.hint.style.top = `${event.clientY + 16}px`;
});

function momentAt(dx) {
  const starts = Number(drag.link.dataset.starts);
  const shift = Math.round((dx / drag.width) * COLUMN_S / STEP_S) * STEP_S;
  return starts + shift;
}

// The hour labels above the grid show the venue's local time, also on days when the clocks change.
function clockOf(link, moment) {
  const first = Number(link.closest(".lines").dataset.first);
  const hours = [...document.querySelectorAll(".hours .hour")];
  const minutes = Math.floor((moment - first) / 60);
  const hour = hours[Math.floor(minutes / 60)];
  if (!hour || minutes < 0) return texts.thisTime;
  return `${hour.textContent.slice(0, 3)}${String(minutes % 60).padStart(2, "0")}`;
}

function endDrag(isDropped) {
  if (!drag) return;
  const ended = drag;
  drag = null;
  ended.lane.classList.remove("target");
  if (!ended.moved) return;
  ended.hint.remove();
  ended.block.classList.remove("dragging");
  justDragged = true;
  setTimeout(() => { justDragged = false; }, 50);
  const hasMoved = ended.lane !== ended.from || ended.moment !== Number(ended.link.dataset.starts);
  const jumpBack = () => { ended.block.style.transform = ""; ended.block.style.pointerEvents = ""; };
  if (!isDropped || !hasMoved) { jumpBack(); return; }
  sendMove(ended.link, ended.moment, ended.lane).then(jumpBack, jumpBack);
}

function sendMove(link, moment, lane) {
  const from = link.closest(".lane");
  const values = {
    csrfmiddlewaretoken: document.querySelector("#drag input").value,
    version: link.dataset.version,
    moment,
    tables: lane === from ? "" : JSON.stringify(tablesAfter(link, from.dataset.table, lane.dataset.table)),
  };
  return htmx.ajax("POST", link.dataset.move, { target: "#status-message", swap: "innerHTML", values });
}

function tablesAfter(link, from, to) {
  const tables = JSON.parse(link.dataset.tables);
  const unchanged = tables.filter((name) => name !== from && name !== to);
  return to ? [...unchanged, to] : unchanged;
}

document.addEventListener("pointerup", () => endDrag(true));
document.addEventListener("pointercancel", () => endDrag(false));
document.addEventListener("keydown", (event) => { if (event.key === "Escape") endDrag(false); });
document.addEventListener("dragstart", (event) => { if (event.target.closest(".block")) event.preventDefault(); });

// Do not refresh during a drag, or while the page is hidden.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.id === "sheet-live" && (drag || document.hidden)) event.preventDefault();
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, xhr } = event.detail;
  if (target.id === "status-message" && xhr.status === 400) {
    // Show the error message of a rejected move.
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
  if (target.id === "sheet-live") {
    if (drag) { event.detail.shouldSwap = false; return; }
    const frame = document.getElementById("frame");
    if (frame) target.scrolled = [frame.scrollLeft, frame.scrollTop];
    scrolled = target.scrolled;
    unfolded = [...target.querySelectorAll("details[open]")].map((part) => part.id);
  }
});
// A message goes after the minute in which an undo sends nothing, unless it has the focus or the pointer.
let toastTimer = 0;
function hideToastAfter(ms) {
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    const place = document.getElementById("status-message");
    if (place?.matches(":hover, :focus-within")) { hideToastAfter(5000); return; }
    place?.replaceChildren();
  }, ms);
}
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "status-message") hideToastAfter(60000);
});
if (document.querySelector("#status-message > *")) hideToastAfter(60000);

let scrolled = null;
// The ids of the parts that are unfolded, and stay so when the sheet is replaced.
let unfolded = [];
document.addEventListener("htmx:afterSwap", (event) => {
  for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
  unfolded = [];
  const frame = document.getElementById("frame");
  if (frame && scrolled) frame.scrollTo(...scrolled);
  scrolled = null;
  if (picked) showPicked();
  const moved = focusAfterSwap && document.querySelector(`.block a[id^="${focusAfterSwap}"]`);
  if (moved && event.detail.target.id === "sheet-live") {
    moved.focus();
    focusAfterSwap = "";
  }
});

// Move the current-time line.
setInterval(() => {
  const lines = document.querySelector(".lines");
  if (!lines) return;
  const column = Math.floor((Date.now() / 1000 - Number(lines.dataset.first)) / COLUMN_S);
  for (const line of lines.querySelectorAll(".now")) {
    line.className = `now c${column} w1`;
    line.hidden = column < 0 || column >= Number(lines.dataset.columns);
  }
}, 30000);

// Scroll to the current time.
{
  const frame = document.getElementById("frame");
  const now = frame?.querySelector(".row:not(.hours) .now");
  if (now) frame.scrollLeft = now.offsetLeft - frame.clientWidth / 3;
}
