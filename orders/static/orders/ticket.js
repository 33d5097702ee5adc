// Shows the print button, which needs JavaScript.
"use strict";

const button = document.getElementById("print");
button.hidden = false;
button.addEventListener("click", () => window.print());
