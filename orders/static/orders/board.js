// The order board: order actions, the cancel dialog, sound, auto-print, ages, focus, and the connection notice.
// htmx polls and swaps the columns; the dialog, the sound and the toasts are outside of them.
"use strict";

(() => {
  const board = document.getElementById("board");
  // With the texts of this script, in the language of the page.
  const texts = board.dataset;
  const dialog = document.getElementById("cancel-dialog");
  const connection = document.getElementById("connection");
  const announcement = document.getElementById("new-orders");
  const toasts = document.getElementById("toasts");
  const soundHint = document.getElementById("sound-hint");
  const soundButton = document.getElementById("sound");
  const screenButton = document.getElementById("full-screen");
  const printButton = document.getElementById("auto-print");
  const known = new Set();
  // Milliseconds from this browser's clock, which may be wrong, to the server's.
  let clockOffset = Date.parse(board.dataset.now) - Date.now();
  let lastAnswer = now();
  let focusAfterSwap = null; // the ids of the elements of which the first is focused after the next swap
  let toastTimer = 0;

  function now() { return new Date(Date.now() + clockOffset); }
  const seen = () => document.getElementById("seen");
  const cards = () => [...document.querySelectorAll("#todo-cards [data-order]")];

  // Settings of this browser, "on" or "off"
  function recall(name) {
    try { return localStorage.getItem(name) === "on"; } catch { return false; }
  }
  function remember(name, isOn) {
    try { localStorage.setItem(name, isOn ? "on" : "off"); } catch { /* storage is blocked */ }
  }

  // A swap between press and release would remove the pressed button, and the browser would report no click: while
  // something is pressed, the response waits. A finger that rests on the screen holds it for three seconds at most.
  let isPressed = false;
  let pressTimer = 0;
  let heldResponse = null;
  function release() {
    clearTimeout(pressTimer);
    isPressed = false;
    if (!heldResponse) return;
    const response = heldResponse;
    heldResponse = null;
    rememberFocus();
    htmx.swap(response.target, response.xhr.response, { swapStyle: "innerHTML", settleDelay: 20 }, { eventInfo: response });
  }
  function releaseIn(milliseconds) {
    clearTimeout(pressTimer);
    pressTimer = setTimeout(release, milliseconds);
  }
  function press() {
    isPressed = true;
    releaseIn(3000);
  }
  addEventListener("pointerdown", press, true);
  addEventListener("keydown", (event) => { if (event.key === " " && !event.repeat) press(); }, true);
  // The click follows; on a touch screen somewhat later.
  for (const kind of ["pointerup", "keyup"]) addEventListener(kind, () => { if (isPressed) releaseIn(500); }, true);
  addEventListener("pointercancel", release, true);
  addEventListener("click", () => { if (isPressed) releaseIn(0); }, true);

  // The drawer of done and cancelled orders stays open or closed over swaps and reloads.
  function restoreDrawer() { document.getElementById("past").open = recall("board-past"); }
  document.addEventListener("toggle", (event) => {
    if (event.target.id === "past") remember("board-past", event.target.open);
  }, true);

  // Ages
  function age(minutes) {
    if (minutes < 60) return `${minutes} min`;
    const hours = Math.floor(minutes / 60);
    if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
    return hours < 48 ? texts.day : texts.days.replace("{count}", Math.floor(hours / 24));
  }
  function updateAges() {
    for (const card of cards()) {
      const minutes = Math.max(0, Math.floor((now() - Date.parse(card.dataset.since)) / 60000));
      const overdue = Math.floor((now() - Date.parse(card.dataset.due)) / 60000);
      const words = overdue > 0 ? texts.late : texts.ahead;
      card.querySelector(".age").textContent = overdue === 0 ? texts.due : words.replace("{time}", age(Math.abs(overdue)));
      const { warn, late } = seen().dataset;
      card.classList.toggle("late", minutes >= Number(late));
      card.classList.toggle("warn", (minutes >= Number(warn) || overdue > 0) && minutes < Number(late));
    }
    // On a phone the late ones may be below the first screen: the link goes to the first of them.
    const late = cards().filter((card) => card.classList.contains("late"));
    const link = document.getElementById("late-link");
    link.hidden = late.length === 0;
    link.querySelector("b").textContent = late.length;
    if (late.length) link.hash = late[0].id;
  }
  setInterval(updateAges, 5000);

  // Sound: browsers play it only after a tap
  let audio = null;
  let isOn = recall("board-sound");
  function updateSoundButton() {
    soundButton.setAttribute("aria-pressed", String(isOn));
    soundButton.querySelector("span").textContent = isOn ? texts.soundOn : texts.soundOff;
    soundHint.hidden = !isOn || (audio !== null && audio.state === "running");
  }
  async function resumeAudio() {
    if (!isOn) return;
    audio ??= new AudioContext();
    if (audio.state === "suspended") await audio.resume().catch(() => {});
    updateSoundButton();
  }
  function playSound() {
    if (!isOn || audio === null || audio.state !== "running") return;
    for (const [after, pitch] of [[0, 880], [0.22, 1175], [0.44, 880]]) {
      const tone = audio.createOscillator();
      const loudness = audio.createGain();
      const at = audio.currentTime + after;
      tone.frequency.value = pitch;
      loudness.gain.setValueAtTime(0.0001, at);
      loudness.gain.exponentialRampToValueAtTime(0.4, at + 0.02);
      loudness.gain.exponentialRampToValueAtTime(0.0001, at + 0.2);
      tone.connect(loudness).connect(audio.destination);
      tone.start(at);
      tone.stop(at + 0.22);
    }
  }
  soundButton.hidden = false;
  soundButton.addEventListener("click", async () => {
    isOn = !isOn;
    remember("board-sound", isOn);
    await resumeAudio();
    updateSoundButton();
    playSound();
  });
  for (const kind of ["click", "keydown"]) {
    document.addEventListener(kind, (event) => {
      if (!soundButton.contains(event.target) && (audio === null || audio.state !== "running")) resumeAudio();
    });
  }

  // Auto-print: each order that comes after it was switched on, by the first board that claims its ticket
  // Each station has tickets of its own.
  const PRINTED = `board-printed-${board.dataset.venueId}${new URL(board.dataset.claim, location).search}`;
  const AUTO_PRINT = `board-print-${board.dataset.venueId}`;
  const MAX_PRINTED = 1000;
  const printed = new Set();
  const unanswered = new Set(); // claims that may have reached the server
  let isAutoPrint = recall(AUTO_PRINT);
  let isPrinting = false;
  try { for (const id of JSON.parse(localStorage.getItem(PRINTED) ?? "[]")) printed.add(id); } catch { /* storage is blocked */ }
  function rememberPrinted(...ids) {
    for (const id of ids) printed.add(id);
    try { localStorage.setItem(PRINTED, JSON.stringify([...printed].slice(-MAX_PRINTED))); } catch { /* storage is blocked */ }
  }
  function loadTicket(frame, address) {
    return new Promise((resolve) => {
      // Without a connection or a session this is another page.
      frame.onload = () => resolve(Boolean(frame.contentDocument?.getElementById("ticket")));
      frame.src = address;
    });
  }
  // Whether this board prints the ticket; null if that is not known.
  async function claimTicket(order) {
    const body = new URLSearchParams({ order });
    try {
      const answer = await fetch(board.dataset.claim, {
        method: "POST", body, headers: { "X-CSRFToken": token() }, redirect: "manual",
      });
      if (answer.status === 204) return true;
      // The answer to our first claim was lost: rather print twice than not at all.
      if (answer.status === 409) return unanswered.has(order);
      // A gateway lost the answer; all others, such as of a board that is signed out, have claimed nothing.
      if (answer.status === 502 || answer.status === 504) unanswered.add(order);
    } catch {
      unanswered.add(order); // no connection
    }
    return null;
  }
  async function printTicket({ order, ticket }) {
    const frame = document.getElementById("ticket-frame");
    // Claimed when it can be printed at once.
    if (!(await loadTicket(frame, ticket))) return false;
    const isMine = await claimTicket(order);
    if (isMine) frame.contentWindow.print();
    return isMine !== null;
  }
  async function printNew() {
    if (!isAutoPrint || isPrinting) return;
    isPrinting = true;
    for (const { dataset } of cards()) {
      if (printed.has(dataset.order)) continue;
      // After a failure the next update tries again.
      if (!(await printTicket(dataset))) break;
      rememberPrinted(dataset.order);
    }
    isPrinting = false;
  }
  function updatePrintButton() {
    printButton.setAttribute("aria-pressed", String(isAutoPrint));
    printButton.querySelector("span").textContent = isAutoPrint ? texts.printOn : texts.printOff;
  }
  printButton.hidden = false;
  printButton.addEventListener("click", () => {
    isAutoPrint = !isAutoPrint;
    remember(AUTO_PRINT, isAutoPrint);
    if (isAutoPrint) rememberPrinted(...cards().map((card) => card.dataset.order));
    updatePrintButton();
  });

  // New orders
  function findNew() {
    const fresh = [];
    for (const card of document.querySelectorAll("#columns [data-order]")) {
      if (!known.has(card.dataset.order) && card.dataset.since) fresh.push(card);
      known.add(card.dataset.order);
    }
    const { newest, newestNumber } = seen().dataset;
    // The newest order may not be among the cards shown.
    const hiddenNumber = newest && !known.has(newest) ? newestNumber : null;
    if (newest) known.add(newest);
    return [fresh, hiddenNumber];
  }
  function updateTitle() {
    const waiting = Number(seen().dataset.waiting);
    document.title = `${waiting ? `(${waiting}) ` : ""}${texts.title} · ${texts.venue}`;
  }
  function announceNew() {
    const [fresh, hiddenNumber] = findNew();
    updateTitle();
    updateAges();
    if (fresh.length === 0 && !hiddenNumber) return;
    for (const card of fresh) {
      card.classList.add("fresh");
      setTimeout(() => card.classList.remove("fresh"), 10000);
    }
    const names = fresh.slice(0, 5).map((card) => `${card.dataset.number}, ${card.dataset.kind}`);
    if (hiddenNumber) names.push(hiddenNumber);
    announcement.textContent = `${texts.newOrder} ${names.join("; ")}`;
    playSound();
  }

  // Actions and polls are queued, so that an older response never replaces a newer one.
  function token() {
    const cookie = document.cookie.split("; ").find((one) => one.startsWith("csrftoken="));
    return cookie ? cookie.slice("csrftoken=".length) : document.querySelector("#move [name=csrfmiddlewaretoken]").value;
  }
  function send(values) {
    htmx.ajax("POST", document.getElementById("move").action, {
      source: board, target: "#columns", swap: "innerHTML", values, headers: { "X-CSRFToken": token() },
    });
  }
  function next(card) {
    const all = cards();
    const place = all.indexOf(card);
    const other = place < 0 ? null : all[place + 1] ?? all[place - 1];
    return other ? `complete-${other.dataset.order}` : "todo";
  }
  // The second click of a double-click is not for the button that the first one has brought under the pointer.
  let lastClick = { x: 0, y: 0, at: 0 };
  function isSecondClick({ detail, clientX: x, clientY: y }) {
    if (detail === 0) return false; // by the keyboard
    const isSecond = Date.now() - lastClick.at < 500 && Math.hypot(x - lastClick.x, y - lastClick.y) < 10;
    lastClick = { x, y, at: Date.now() };
    return isSecond;
  }
  document.addEventListener("click", (event) => {
    const actionButton = event.target.closest("[data-move]");
    if (actionButton) {
      event.preventDefault();
      if (actionButton.disabled || isSecondClick(event)) return;
      const order = actionButton.value.split(" ")[0];
      // A completed card goes to the drawer; all others stay.
      focusAfterSwap = actionButton.name === "complete"
        ? [next(actionButton.closest("[data-order]"))]
        : [...(actionButton.name === "reopen" ? [] : [`next-${order}`]), `complete-${order}`];
      actionButton.disabled = true;
      setTimeout(() => { actionButton.disabled = false; }, 4000);
      send({ [actionButton.name]: actionButton.value });
    }
    const cancelLink = event.target.closest("[data-cancel]");
    if (cancelLink && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const form = dialog.querySelector("form");
      form.reset();
      form.elements.cancel.value = cancelLink.dataset.cancel;
      form.elements.details.required = false;
      dialog.querySelector("[data-number]").textContent = cancelLink.dataset.number;
      dialog.querySelector("[data-problem]").textContent = "";
      dialog.showModal();
    }
    if (event.target.closest("[data-dismiss]")) clearToasts();
  });
  dialog.addEventListener("change", () => {
    const form = dialog.querySelector("form");
    form.elements.details.required = form.elements.reason.value === "Other";
  });
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.target;
    const card = document.getElementById(`card-${form.elements.cancel.value}`);
    focusAfterSwap = [card ? next(card) : "todo"];
    send({ cancel: form.elements.cancel.value, reason: form.elements.reason.value, details: form.elements.details.value });
  });
  dialog.addEventListener("close", () => {
    // The button that opened the dialog may have been swapped since.
    const opener = document.getElementById(`cancel-${dialog.querySelector("[name=cancel]").value}`);
    if (opener && (document.activeElement === document.body || !document.activeElement)) opener.focus();
  });

  // A toast stays long enough to be read, and while it has the focus or the pointer.
  function clearToasts() {
    const hadFocus = toasts.contains(document.activeElement);
    toasts.replaceChildren();
    if (hadFocus) document.getElementById("todo").focus();
  }
  function hideToastAfter(seconds) {
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => {
      if (toasts.contains(document.activeElement) || toasts.matches(":hover")) hideToastAfter(5);
      else clearToasts();
    }, seconds * 1000);
  }
  function showToast(words) {
    const line = document.createElement("p");
    line.className = "toast warn";
    line.textContent = words;
    toasts.replaceChildren(line);
    hideToastAfter(12);
  }

  // The connection
  function connected(xhr) {
    clockOffset = Date.parse(xhr.getResponseHeader("Date")) - Date.now();
    lastAnswer = now();
    connection.hidden = true;
  }
  function showConnection(words, link) {
    if (!connection.hidden && connection.dataset.words === words) return;
    connection.dataset.words = words;
    connection.textContent = words;
    if (link) {
      const anchor = document.createElement("a");
      anchor.href = link;
      anchor.textContent = texts.signIn;
      connection.append(" ", anchor);
    }
    connection.hidden = false;
  }
  function showLost() {
    const at = lastAnswer.toLocaleTimeString("en-GB", { timeZone: board.dataset.zoneOf });
    showConnection(texts.lost.replace("{time}", at));
  }
  document.addEventListener("htmx:afterRequest", (event) => {
    const { xhr, elt, successful } = event.detail;
    if (!board.contains(elt)) return;
    const isMove = elt === board;
    if (successful) {
      connected(xhr);
      printNew();
      if (!isMove) return;
      if (dialog.open) dialog.close();
      hideToastAfter(15);
      return;
    }
    if (xhr.status === 400 && isMove && dialog.open) {
      connected(xhr);
      dialog.querySelector("[data-problem]").textContent = xhr.responseText;
      return;
    }
    if (xhr.status === 401) showConnection(texts.signedOut, `/account/login/?next=${location.pathname}`);
    else if (xhr.status === 403 || xhr.status === 404) {
      if (isMove) showToast(texts.forbidden);
      else showConnection(texts.noAccess);
    } else {
      showLost();
      if (isMove) showToast(texts.unsaved);
    }
    if (isMove) {
      for (const button of document.querySelectorAll("[data-move]:disabled")) button.disabled = false;
    }
  });
  addEventListener("offline", showLost);
  addEventListener("online", () => htmx.trigger("#poll", "refresh"));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return;
    htmx.trigger("#poll", "refresh");
    stayAwake();
  });

  // htmx restores the focus to the same id; if that card is gone, the focus moves to the next one.
  let focused = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "columns" || !event.detail.shouldSwap) return;
    if (isPressed) {
      event.detail.shouldSwap = false;
      // The next poll gets what is dropped here.
      if (!heldResponse || event.detail.requestConfig.elt === board) heldResponse = event.detail;
      return;
    }
    rememberFocus();
  });
  function rememberFocus() {
    const card = document.activeElement.closest?.("#todo-cards [data-order]");
    focused = card ? { id: document.activeElement.id, next: next(card) } : null;
  }
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "columns") return;
    restoreDrawer();
    announceNew();
    const isMove = event.detail.elt === board || event.detail.requestConfig?.elt === board;
    if (isMove && focusAfterSwap) {
      if (dialog.open) dialog.close();
      const found = [...focusAfterSwap, "todo"].map((id) => document.getElementById(id)).find((element) => element);
      found.focus();
      focusAfterSwap = null;
    } else if (focused && !dialog.open && !document.getElementById(focused.id)) {
      (document.getElementById(focused.next) ?? document.getElementById("todo")).focus({ preventScroll: true });
    }
  });

  // Full screen, with a wake lock
  async function stayAwake() {
    try { await navigator.wakeLock?.request("screen"); } catch { /* low battery, or not supported */ }
  }
  stayAwake();
  if (document.fullscreenEnabled) {
    screenButton.hidden = false;
    screenButton.addEventListener("click", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen().catch(() => {});
    });
    document.addEventListener("fullscreenchange", () => {
      const isFullScreen = Boolean(document.fullscreenElement);
      document.body.classList.toggle("full-screen", isFullScreen);
      screenButton.setAttribute("aria-pressed", String(isFullScreen));
    });
  }

  restoreDrawer();
  findNew();
  updateTitle();
  updateAges();
  updateSoundButton();
  updatePrintButton();
  document.body.classList.add("ready");
  printNew();
  // A browser that is started for it plays the sound without a tap.
  resumeAudio();
})();
