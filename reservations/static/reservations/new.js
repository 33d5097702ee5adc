// A new reservation: of the listed times and the typed one, the last choice counts.
"use strict";

document.getElementById("times").addEventListener("input", (event) => {
  const isTyped = event.target.id === "id_time";
  if (!isTyped) document.getElementById("id_time").value = "";
  else if (event.target.value) for (const radio of document.querySelectorAll("#times input:checked")) radio.checked = false;
});
