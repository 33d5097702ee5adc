// The landing page: live API calls with response and duration.
"use strict";

const form = document.getElementById("query");
const timing = document.getElementById("timing");
const answer = document.getElementById("answer").firstElementChild;
const pay = document.getElementById("pay");

async function call(path) {
  timing.textContent = "Loading...";
  const startedAt = performance.now();
  try {
    const response = await fetch(path, { headers: { Accept: "application/json" }, credentials: "omit" });
    const body = await response.json();
    timing.textContent = `${response.status} in ${Math.round(performance.now() - startedAt)} ms: GET ${decodeURIComponent(path)}`;
    answer.textContent = JSON.stringify(body, null, 2);
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
