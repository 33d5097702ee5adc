// The documentation: filter the list of guides.
"use strict";

for (const field of document.querySelectorAll("[data-filter-guides]")) {
  const nav = field.closest("nav");
  field.hidden = false;
  field.addEventListener("input", () => {
    const query = field.value.trim().toLowerCase();
    let found = 0;
    for (const list of nav.querySelectorAll("ul")) {
      let shown = 0;
      for (const entry of list.children) {
        entry.hidden = !entry.textContent.toLowerCase().includes(query);
        if (!entry.hidden) shown += 1;
      }
      list.previousElementSibling.hidden = !shown;
      found += shown;
    }
    nav.querySelector("[data-no-match]").hidden = found > 0;
  });
}

// Scroll the current guide to the middle of the list.
const current = document.querySelector(".side [aria-current]");
if (current) {
  const list = current.closest("nav");
  list.scrollTop = current.offsetTop - list.clientHeight / 2;
}
