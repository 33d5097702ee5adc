// What is shown of exports that run is asked for again; boxes that are ticked stay as they are.
(() => {
  const WAIT_MS = 3000;
  const runs = (page) => page.querySelector("progress[data-runs]") !== null;
  const rows = (page) => new Map([...page.querySelectorAll("#result_list tbody tr")].map(
    (row) => [row.querySelector(".action-select")?.value, row]));
  const renew = (page) => {
    const fresh = rows(page);
    for (const [key, row] of rows(document)) {
      const cells = fresh.get(key)?.querySelectorAll("td:not(.action-checkbox)") ?? [];
      row.querySelectorAll("td:not(.action-checkbox)").forEach((cell, at) => cells[at] && (cell.innerHTML = cells[at].innerHTML));
    }
    const form = document.querySelector("#export_form"), other = page.querySelector("#export_form");
    if (form && other) form.innerHTML = other.innerHTML;
  };
  const look = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href, {headers: {"Accept": "text/html"}});
        if (answer.ok) renew(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } catch { /* The next look may find the server again. */ }
    }
    if (runs(document)) setTimeout(look, WAIT_MS);
  };
  if (runs(document)) setTimeout(look, WAIT_MS);
})();
