// The booking page, and the page on which a guest changes a reservation: reports its height to the embedding page, and submits its form once.
"use strict";

if (parent !== self) {
  // The height is not secret, so any embedding page may receive it.
  const reportHeight = () => parent.postMessage({ tablewire: "height", height: document.documentElement.getBoundingClientRect().height }, "*");
  new ResizeObserver(reportHeight).observe(document.documentElement);
  // The embedding page may start to listen after the first report.
  addEventListener("message", (event) => { if (event.data?.tablewire === "ask") reportHeight(); });
}

// A change of the party or the date applies at once. What the guest has typed stays while the page loads.
const choose = document.getElementById("choose");
const details = document.querySelector("form.details");
const STORED = "booking-details";
let timer = 0;
document.addEventListener("change", (event) => {
  if (!choose?.contains(event.target) && event.target.id !== "day") return;
  clearTimeout(timer);
  // A date or number entered by keyboard or arrows changes several times in a row.
  timer = setTimeout(() => { if (choose.checkValidity()) choose.requestSubmit(); }, 300);
});
choose?.addEventListener("submit", () => {
  clearTimeout(timer);
  if (!details) return;
  const typed = [...details.elements].filter((field) => field.id && field.value).map((field) => [field.id, field.value]);
  try { sessionStorage.setItem(STORED, JSON.stringify(typed)); } catch { /* storage is blocked in this frame */ }
});
details?.addEventListener("submit", (event) => {
  const isShown = ["party", "day", "time", "area"].every((name) => {
    const field = document.getElementById(name);
    return !field || field.value === details.elements[name].value;
  });
  if (isShown) return;
  event.preventDefault();
  choose.requestSubmit();
});
try {
  const typed = JSON.parse(sessionStorage.getItem(STORED) ?? "[]");
  sessionStorage.removeItem(STORED);
  for (const [id, value] of typed) {
    const field = document.getElementById(id);
    if (field && !field.value) field.value = value;
  }
} catch { /* storage is blocked in this frame */ }

document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  const form = event.target;
  if (!form.hasAttribute("data-once")) return;
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Focus the first error.
(document.querySelector("[aria-invalid=true]") ?? document.querySelector(".alternatives button"))?.focus();
