// What every page does without a library: copying, dialogs, sheets that close again.
"use strict";

document.addEventListener("click", async (event) => {
  const copier = event.target.closest("[data-copy]");
  if (copier) {
    const source = document.getElementById(copier.dataset.copy);
    const words = copier.textContent;
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      copier.textContent = "Copied";
    } catch {
      // Without the permission, or over plain http, the text is selected for the keyboard.
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      copier.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { copier.textContent = words; }, 2000);
  }
  const opener = event.target.closest("[data-dialog]");
  if (opener) {
    event.preventDefault();
    document.getElementById(opener.dataset.dialog).showModal();
  }
  const closer = event.target.closest("[data-close]");
  if (closer) {
    event.preventDefault();
    closer.closest("dialog").close();
  }
  for (const sheet of document.querySelectorAll(".bar details[open]")) {
    if (!sheet.contains(event.target)) sheet.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const sheet of document.querySelectorAll(".bar details[open]")) {
    sheet.open = false;
    sheet.querySelector("summary").focus();
  }
});

// A form is sent once, however often its button is pressed. Back in the browser's history it can be sent again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method === "dialog" || form.hasAttribute("data-again")) return;
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "yes";
  setTimeout(() => { delete form.dataset.sent; }, 5000);
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Where a form asks for a time zone, the browser knows it.
for (const field of document.querySelectorAll("[data-zone]")) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone || field.value;
}
