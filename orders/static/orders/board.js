// The order board: taps, the dialog that asks why, sound, ages, focus, and what to say when the connection is lost.
// htmx asks for the columns and swaps them; the dialog, the sound and what is told lie outside of them.
"use strict";

(() => {
  const board = document.getElementById("board");
  const dialog = document.getElementById("cancelling");
  const away = document.getElementById("away");
  const heard = document.getElementById("heard");
  const told = document.getElementById("told");
  const mute = document.getElementById("mute");
  const soundButton = document.getElementById("sound");
  const screenButton = document.getElementById("whole-screen");
  const known = new Set();
  let lastAnswer = new Date();
  let wanted = null; // where the focus goes after the next swap
  let toast = 0;

  const seen = () => document.getElementById("seen");
  const cards = () => [...document.querySelectorAll("#todo-cards > [data-order]")];

  // Ages
  function age(minutes) {
    if (minutes < 60) return `${minutes} min`;
    const hours = Math.floor(minutes / 60);
    if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
    return `${Math.floor(hours / 24)} day${hours >= 48 ? "s" : ""}`;
  }
  function grow() {
    for (const card of cards()) {
      const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(card.dataset.since)) / 60000));
      card.querySelector(".age").textContent = age(minutes);
      card.classList.toggle("very-late", minutes >= Number(board.dataset.veryLate));
      card.classList.toggle("late", minutes >= Number(board.dataset.late) && minutes < Number(board.dataset.veryLate));
    }
  }
  setInterval(grow, 5000);

  // Sound: browsers play none before a tap
  let audio = null;
  const stored = {
    get on() { try { return localStorage.getItem("board-sound") === "on"; } catch { return false; } },
    set on(value) { try { localStorage.setItem("board-sound", value ? "on" : "off"); } catch { /* not remembered */ } },
  };
  let isOn = stored.on;
  function shown() {
    soundButton.setAttribute("aria-pressed", String(isOn));
    soundButton.querySelector("span").textContent = isOn ? "Sound is on" : "Sound on";
    mute.hidden = !isOn || (audio !== null && audio.state === "running");
  }
  async function wake() {
    if (!isOn) return;
    audio ??= new AudioContext();
    if (audio.state === "suspended") await audio.resume().catch(() => {});
    shown();
  }
  function ring() {
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
    stored.on = isOn;
    await wake();
    shown();
    ring();
  });
  for (const kind of ["pointerdown", "keydown"]) {
    document.addEventListener(kind, (event) => {
      if (!soundButton.contains(event.target) && (audio === null || audio.state !== "running")) wake();
    });
  }

  // What has come
  function learn() {
    const fresh = [];
    for (const card of document.querySelectorAll("#columns [data-order]")) {
      if (!known.has(card.dataset.order) && card.dataset.since) fresh.push(card);
      known.add(card.dataset.order);
    }
    const { newest, newestNumber } = seen().dataset;
    // It may stand behind those that are shown.
    const unshown = newest && !known.has(newest) ? newestNumber : null;
    if (newest) known.add(newest);
    return [fresh, unshown];
  }
  function titled() {
    const waiting = Number(seen().dataset.waiting);
    document.title = `${waiting ? `(${waiting}) ` : ""}Orders · ${board.dataset.venue}`;
  }
  function arrived() {
    const [fresh, unshown] = learn();
    titled();
    grow();
    if (fresh.length === 0 && !unshown) return;
    for (const card of fresh) {
      card.classList.add("fresh");
      setTimeout(() => card.classList.remove("fresh"), 10000);
    }
    const names = fresh.slice(0, 5).map((card) => `${card.dataset.number}, ${card.dataset.kind}`);
    if (unshown) names.push(unshown);
    heard.textContent = `New order: ${names.join("; ")}`;
    ring();
  }

  // Moves go one after another with the looks, so that an older answer never replaces a newer one.
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
  document.addEventListener("click", (event) => {
    const mover = event.target.closest("[data-move]");
    if (mover) {
      event.preventDefault();
      if (mover.disabled) return;
      wanted = mover.name === "reopen" ? `complete-${mover.value}` : next(mover.closest("[data-order]"));
      mover.disabled = true;
      setTimeout(() => { mover.disabled = false; }, 4000);
      send({ [mover.name]: mover.value });
    }
    const canceller = event.target.closest("[data-cancel]");
    if (canceller && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const form = dialog.querySelector("form");
      form.reset();
      form.elements.cancel.value = canceller.dataset.cancel;
      form.elements.words.required = false;
      dialog.querySelector("[data-number]").textContent = canceller.dataset.number;
      dialog.querySelector("[data-problem]").textContent = "";
      dialog.showModal();
    }
    if (event.target.closest("[data-untold]")) untell();
  });
  dialog.addEventListener("change", () => {
    const form = dialog.querySelector("form");
    form.elements.words.required = form.elements.reason.value === "Other";
  });
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.target;
    const card = document.getElementById(`card-${form.elements.cancel.value}`);
    wanted = card ? next(card) : "todo";
    send({ cancel: form.elements.cancel.value, reason: form.elements.reason.value, words: form.elements.words.value });
  });
  dialog.addEventListener("close", () => {
    // The button that opened it may have been swapped meanwhile.
    const opener = document.getElementById(`cancel-${dialog.querySelector("[name=cancel]").value}`);
    if (opener && (document.activeElement === document.body || !document.activeElement)) opener.focus();
  });

  // What is told stays long enough to be read, and while it is in use.
  function untell() {
    const had = told.contains(document.activeElement);
    told.replaceChildren();
    if (had) document.getElementById("todo").focus();
  }
  function tellFor(seconds) {
    clearTimeout(toast);
    toast = setTimeout(() => {
      if (told.contains(document.activeElement) || told.matches(":hover")) tellFor(5);
      else untell();
    }, seconds * 1000);
  }
  function tell(words) {
    const line = document.createElement("p");
    line.className = "toast warn";
    line.textContent = words;
    told.replaceChildren(line);
    tellFor(12);
  }

  // The connection
  function connected() {
    lastAnswer = new Date();
    away.hidden = true;
  }
  function say(words, link) {
    if (!away.hidden && away.dataset.words === words) return;
    away.dataset.words = words;
    away.textContent = words;
    if (link) {
      const anchor = document.createElement("a");
      anchor.href = link;
      anchor.textContent = "Sign in again";
      away.append(" ", anchor);
    }
    away.hidden = false;
  }
  function lost() {
    const at = lastAnswer.toLocaleTimeString("en-GB", { timeZone: board.dataset.zoneOf });
    say(`Not connected, last update ${at}. Trying again every two seconds.`);
  }
  document.addEventListener("htmx:afterRequest", (event) => {
    const { xhr, elt, successful } = event.detail;
    if (!board.contains(elt)) return;
    const isMove = elt === board;
    if (successful) {
      connected();
      if (!isMove) return;
      if (dialog.open) dialog.close();
      tellFor(15);
      return;
    }
    if (xhr.status === 400 && isMove && dialog.open) {
      connected();
      dialog.querySelector("[data-problem]").textContent = xhr.responseText;
      return;
    }
    if (xhr.status === 401) say("You are signed out, and this page stands still.", `/account/login/?next=${location.pathname}`);
    else if (xhr.status === 403 || xhr.status === 404) {
      if (isMove) tell("That order cannot be moved by you. Load the page again.");
      else say("You cannot see this board any more. Ask the owner of the venue.");
    } else {
      lost();
      if (isMove) tell("Not done: there is no connection. Tap again once it is back.");
    }
    if (isMove) {
      for (const button of document.querySelectorAll("[data-move]:disabled")) button.disabled = false;
    }
  });
  addEventListener("offline", lost);
  addEventListener("online", () => htmx.trigger("#poll", "look"));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return;
    htmx.trigger("#poll", "look");
    stayAwake();
  });

  // htmx gives the focus back to what has the same id; here it goes on from what has left.
  let stood = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "columns") return;
    const card = document.activeElement.closest?.("#todo-cards > [data-order]");
    stood = card ? { id: document.activeElement.id, next: next(card) } : null;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "columns") return;
    arrived();
    const isMove = event.detail.elt === board || event.detail.requestConfig?.elt === board;
    if (isMove && wanted) {
      if (dialog.open) dialog.close();
      (document.getElementById(wanted) ?? document.getElementById("todo")).focus();
      wanted = null;
    } else if (stood && !dialog.open && !document.getElementById(stood.id)) {
      (document.getElementById(stood.next) ?? document.getElementById("todo")).focus({ preventScroll: true });
    }
  });

  // The whole screen, which stays lit
  async function stayAwake() {
    try { await navigator.wakeLock?.request("screen"); } catch { /* the battery is low, or there is no such thing */ }
  }
  stayAwake();
  if (document.fullscreenEnabled) {
    screenButton.hidden = false;
    screenButton.addEventListener("click", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen().catch(() => {});
    });
    document.addEventListener("fullscreenchange", () => {
      const isWhole = Boolean(document.fullscreenElement);
      document.body.classList.toggle("whole", isWhole);
      screenButton.setAttribute("aria-pressed", String(isWhole));
    });
  }

  learn();
  titled();
  grow();
  shown();
})();
