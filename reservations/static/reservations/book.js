// The guests' page: tells the page around its frame how tall it is, and sends its form once.
"use strict";

if (parent !== self) {
  // A height is no secret, so any page around us may have it.
  const tell = () => parent.postMessage({ tablewire: "height", height: document.documentElement.getBoundingClientRect().height }, "*");
  new ResizeObserver(tell).observe(document.documentElement);
  // The page around us may have begun to listen after we had told it.
  addEventListener("message", (event) => { if (event.data?.tablewire === "ask") tell(); });
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

// What went wrong is read first.
(document.querySelector("[aria-invalid=true]") ?? document.querySelector(".alternatives button"))?.focus();
