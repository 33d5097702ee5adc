// The documentation: scroll the current guide to the middle of the list, and remember the language of the samples.
"use strict";

const current = document.querySelector(".side [aria-current]");
if (current) {
  const list = current.closest("nav");
  list.scrollTop = current.offsetTop - list.clientHeight / 2;
  // The search above the list cuts no link in two.
  const edge = list.querySelector(".find")?.getBoundingClientRect().bottom;
  for (const link of list.querySelectorAll("li > a, summary")) {
    const { top, bottom } = link.getBoundingClientRect();
    if (top < edge && edge < bottom) list.scrollTop -= edge - top;
  }
}

const LANGUAGE = "docs-language";
const choices = [...document.querySelectorAll(".samples input")];
const choose = (language) => {
  for (const choice of choices) if (choice.value === language) choice.checked = true;
};
if (choices.length) {
  // Without storage, as in private windows, the choice is for this page.
  try { choose(localStorage.getItem(LANGUAGE)); } catch { /* not stored */ }
  document.addEventListener("change", (event) => {
    if (!choices.includes(event.target)) return;
    const top = event.target.getBoundingClientRect().top;
    choose(event.target.value);
    // Samples above may have another height now.
    scrollBy(0, event.target.getBoundingClientRect().top - top);
    try { localStorage.setItem(LANGUAGE, event.target.value); } catch { /* not stored */ }
  });
}
