// A new reservation: of the listed times and the typed one, the last choice counts; a line says what is created.
"use strict";

const times = document.getElementById("times");
const summary = document.getElementById("summary");
// The pages write English dates as in Europe.
const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
const phone = matchMedia("(max-width: 40rem)");

times.addEventListener("input", (event) => {
  const isTyped = event.target.id === "id_time";
  if (!isTyped) document.getElementById("id_time").value = "";
  else if (event.target.value) for (const radio of document.querySelectorAll("#times input:checked")) radio.checked = false;
  // On a phone the guest's name is next.
  if (!isTyped && phone.matches) event.target.closest("details").open = false;
});

function summarize() {
  const chosen = document.querySelector("#times input:checked")?.value ?? document.getElementById("id_time").value;
  for (const period of document.querySelectorAll("#times details")) {
    const label = period.querySelector("summary .quiet");
    label.dataset.count ??= label.textContent;
    label.textContent = period.querySelector(":checked")?.value ?? label.dataset.count;
  }
  const date = document.getElementById("id_date").valueAsDate;
  const count = document.getElementById("id_party_size").value;
  const day = date?.toLocaleDateString(language, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });
  const guests = count && (Number(count) === 1 ? summary.dataset.one : summary.dataset.two.replace("2", count));
  summary.textContent = [day, chosen || summary.dataset.none, guests].filter(Boolean).join(", ");
}
for (const name of ["input", "change", "htmx:afterSwap"]) document.querySelector(".new-reservation").addEventListener(name, summarize);
summarize();
