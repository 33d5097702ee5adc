// The landing page: live API calls with response and duration.
"use strict";

const form = document.getElementById("query");
const timing = document.getElementById("timing");
const answer = document.getElementById("answer").firstElementChild;
const whole = document.getElementById("whole");
const pay = document.getElementById("pay");

// Keys, texts, words and numbers, with the classes of code.css.
const TOKENS = /("(?:[^"\\]|\\.)*")(?=:)|("(?:[^"\\]|\\.)*")|\b(true|false|null)\b|(-?\d[\d.eE+-]*)/g;
const CLASSES = ["c-nt", "c-s2", "c-kc", "c-mi"];

function showJson(text) {
  answer.textContent = "";
  let end = 0;
  for (const token of text.matchAll(TOKENS)) {
    const span = document.createElement("span");
    span.className = CLASSES[token.slice(1).findIndex(Boolean)];
    span.textContent = token[0];
    answer.append(text.slice(end, token.index), span);
    end = token.index + token[0].length;
  }
  answer.append(text.slice(end));
}

async function call(path) {
  timing.textContent = "Loading...";
  const startedAt = performance.now();
  try {
    const response = await fetch(path, { headers: { Accept: "application/json" }, credentials: "omit" });
    const body = await response.json();
    timing.textContent = `${response.status} in ${Math.round(performance.now() - startedAt)} ms: GET ${decodeURIComponent(path)}`;
    showJson(JSON.stringify(body, null, 2));
    return body;
  } catch {
    timing.textContent = "No response. Try again in a moment.";
    return {};
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = await call(`/v1/restaurants?near=${encodeURIComponent(form.near.value)}&limit=${form.limit.value}`);
  const slug = body.data?.[0]?.slug;
  if (pay && slug) pay.pathname = `/v1/restaurants/${slug}`;
});

pay?.addEventListener("click", (event) => {
  event.preventDefault();
  call(pay.pathname + pay.search);
});

if (whole) {
  whole.hidden = false;
  whole.addEventListener("click", () => {
    const isWhole = whole.getAttribute("aria-expanded") !== "true";
    whole.setAttribute("aria-expanded", String(isWhole));
    whole.textContent = isWhole ? "Show less" : "Show all";
  });
}
