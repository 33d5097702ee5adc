// The booking page: reports its height to the embedding page, and submits its form once.
"use strict";

if (parent !== self) {
  // The height is not secret, so any embedding page may receive it.
  const reportHeight = () => parent.postMessage({ tablewire: "height", height: document.documentElement.getBoundingClientRect().height }, "*");
  new ResizeObserver(reportHeight).observe(document.documentElement);
  // The embedding page may start to listen after the first report.
  addEventListener("message", (event) => { if (event.data?.tablewire === "ask") reportHeight(); });
}

document.addEventListener("submit", (event) => {
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
