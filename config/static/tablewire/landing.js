// The landing page: calls that are really made, with what came back and how long it took.
"use strict";

const form = document.getElementById("ask");
const took = document.getElementById("took");
const answer = document.getElementById("answer").firstElementChild;
const pay = document.getElementById("pay");
let known = "";

async function call(path) {
  took.textContent = "Asking...";
  const begun = performance.now();
  try {
    const response = await fetch(path, { headers: { Accept: "application/json" }, credentials: "omit" });
    const told = await response.json();
    took.textContent = `${response.status} in ${Math.round(performance.now() - begun)} ms: GET ${decodeURIComponent(path)}`;
    answer.textContent = JSON.stringify(told, null, 2);
    return told;
  } catch {
    took.textContent = "No answer came. Try again in a moment.";
    return {};
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const told = await call(`/v1/restaurants?near=${encodeURIComponent(form.near.value)}&limit=3`);
  known = told.data?.[0]?.slug ?? told.data?.[0]?.id ?? known;
  pay.hidden = !known;
});

pay.addEventListener("click", () => call(`/v1/restaurants/${encodeURIComponent(known)}?fields=context`));
