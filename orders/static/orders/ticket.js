// A button that prints, where there is a script to do it.
"use strict";

const button = document.getElementById("print");
button.hidden = false;
button.addEventListener("click", () => window.print());
