// The documentation: scroll the current guide to the middle of the list.
"use strict";

const current = document.querySelector(".side [aria-current]");
if (current) {
  const list = current.closest("nav");
  list.scrollTop = current.offsetTop - list.clientHeight / 2;
}
