// Show the chosen photo before it is uploaded.
"use strict";

document.getElementById("id_file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (!file) return;
  const preview = document.getElementById("photo-preview");
  const reader = new FileReader();
  preview.addEventListener("error", () => { preview.hidden = true; }, { once: true });
  reader.addEventListener("load", () => { preview.src = reader.result; preview.hidden = false; });
  reader.readAsDataURL(file);
});
