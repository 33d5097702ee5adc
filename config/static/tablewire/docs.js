// The documentation: a field that narrows the list of guides.
"use strict";

for (const field of document.querySelectorAll("[data-finds]")) {
  const nav = field.closest("nav");
  field.hidden = false;
  field.addEventListener("input", () => {
    const words = field.value.trim().toLowerCase();
    let found = 0;
    for (const list of nav.querySelectorAll("ul")) {
      let here = 0;
      for (const entry of list.children) {
        entry.hidden = !entry.textContent.toLowerCase().includes(words);
        if (!entry.hidden) here += 1;
      }
      list.previousElementSibling.hidden = !here;
      found += here;
    }
    nav.querySelector("[data-nothing]").hidden = found > 0;
  });
}

// The guide that is read stands in the middle of the list, however long that is.
const current = document.querySelector(".side [aria-current]");
if (current) {
  const list = current.closest("nav");
  list.scrollTop = current.offsetTop - list.clientHeight / 2;
}
