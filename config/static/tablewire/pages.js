// Behaviour of all pages: copy buttons, dialogs, dropdowns and forms.
"use strict";

const DROPDOWNS = ":is(.bar details, .more)[open]";

document.addEventListener("click", async (event) => {
  const copier = event.target.closest("[data-copy]");
  if (copier) {
    const source = document.getElementById(copier.dataset.copy);
    const label = copier.textContent;
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      copier.textContent = document.body.dataset.copied;
    } catch {
      // Without the clipboard permission, or over plain http, select the text.
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      copier.textContent = document.body.dataset.pressCopy;
    }
    setTimeout(() => { copier.textContent = label; }, 2000);
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
  for (const dropdown of document.querySelectorAll(DROPDOWNS)) {
    if (!dropdown.contains(event.target)) dropdown.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const dropdown of document.querySelectorAll(DROPDOWNS)) {
    dropdown.open = false;
    dropdown.querySelector("summary").focus();
  }
});

// "/" focuses the search box; on narrow screens it is collapsed.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog[open]")) return;
  const menu = document.querySelector(".search-collapsed");
  if (!menu) return;
  event.preventDefault();
  if (menu.checkVisibility()) menu.open = true;
  [...document.querySelectorAll(".bar .search input")].find((input) => input.checkVisibility()).select();
});

// The token of a form that waits until its user has signed in, in another tab, is of the session before.
document.addEventListener("submit", (event) => {
  const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  if (event.target.hasAttribute("data-fresh-token") && token) event.target.elements.csrfmiddlewaretoken.value = token[1];
});

// Submit a form only once, even if the button is pressed repeatedly. It can be submitted again after going back.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method === "dialog" || form.hasAttribute("data-allow-resubmit")) return;
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "yes";
  setTimeout(() => { delete form.dataset.sent; }, 5000);
  // Say what a slow button does, until the next page comes.
  const button = event.submitter;
  if (button?.dataset.busy) {
    const label = button.textContent;
    button.textContent = button.dataset.busy;
    addEventListener("pageshow", () => { button.textContent = label; }, { once: true });
    if (form.target) setTimeout(() => { button.textContent = label; }, 5000);
  }
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// A form whose button stays in view is sent once something has been changed.
for (const button of document.querySelectorAll("form.sections:not(.is-refused) > .save-bar button")) {
  button.disabled = true;
  const enable = () => { button.disabled = false; };
  for (const kind of ["input", "change"]) button.form.addEventListener(kind, enable);
  // A browser fills in again what was typed before it went away from the page.
  addEventListener("pageshow", (event) => { if (event.persisted) enable(); });
}

// Messages stay in view for some seconds, then scroll with the page.
setTimeout(() => { document.querySelector(".messages")?.classList.add("settled"); }, 8000);

// Strips that are wider than a phone begin at what is selected.
for (const selected of document.querySelectorAll(":is(.tabs, .chips) [aria-current]")) {
  const strip = selected.parentElement;
  strip.scrollLeft = selected.offsetLeft + selected.offsetWidth - strip.offsetLeft - strip.clientWidth + 48;
}

// Fill in the time zone of the browser and the currency of its country.
for (const field of document.querySelectorAll("[data-zone]")) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone || field.value;
  const zone = [...field.list.options].find((option) => option.value === field.value);
  if (zone?.dataset.currency) field.form.elements.currency.value = zone.dataset.currency;
}
// A folded part of a form says what its fields have.
for (const shown of document.querySelectorAll("[data-chosen]")) {
  const fields = shown.dataset.chosen.trim().split(" ").map((id) => document.getElementById(id));
  const show = () => { shown.textContent = fields.map((field) => field.value).join(", "); };
  for (const field of fields) field.addEventListener("input", show);
  show();
}

// Show or hide the password.
for (const button of document.querySelectorAll("[data-reveal]")) {
  const field = document.getElementById(button.dataset.reveal);
  button.hidden = false;
  button.addEventListener("click", () => {
    const isShown = field.type === "text";
    field.type = isShown ? "password" : "text";
    button.setAttribute("aria-pressed", String(!isShown));
  });
}

// "On this page": the section that is read, the last whose heading has passed the bar, is marked in the contents.
const contents = [...document.querySelectorAll(".contents a")];
if (contents.length) {
  const headings = contents.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const mark = () => {
    const isEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const passed = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < 120);
    const current = isEnd && scrollY ? contents.length - 1 : Math.max(passed, 0);
    for (const link of contents) link.removeAttribute("aria-current");
    contents[current].setAttribute("aria-current", "location");
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}
