// Suggests known guests while staff type a name, an email address or a phone number, and fills the contact data in.
"use strict";

{
  const list = document.getElementById("known-guests");
  const field = (name) => document.getElementById(`id_${name}`);
  const names = ["customer_name", "customer_phone", "customer_email"];
  let timer = 0;
  // Each answer is for what was typed last: slower answers of earlier requests are dropped.
  let latest = 0;

  async function suggest(input) {
    const number = ++latest;
    const response = await fetch(`${list.dataset.url}?${new URLSearchParams({ q: input.value })}`, { credentials: "same-origin" }).catch(() => null);
    if (!response?.ok || number !== latest) return;
    const html = await response.text();
    if (number !== latest) return;
    list.innerHTML = html;
    input.closest(".field").append(list);
  }

  function clear() {
    latest += 1;
    clearTimeout(timer);
    list.replaceChildren();
  }

  for (const name of list ? names : []) {
    field(name)?.addEventListener("input", (event) => {
      clearTimeout(timer);
      timer = setTimeout(() => suggest(event.target), 250);
    });
  }

  list?.addEventListener("click", (event) => {
    const chosen = event.target.closest("button");
    if (!chosen) return;
    for (const name of names) field(name).value = chosen.dataset[name.slice(9)];
    clear();
    document.getElementById("id_special_requests").focus();
  });

  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && list) clear(); });
}
