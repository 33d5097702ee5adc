// Polls running exports and updates their cells; selected checkboxes do not change.
(() => {
  const WAIT_MS = 3000;
  const runs = (page) => page.querySelector("progress[data-runs]") !== null;
  const rows = (page) => new Map([...page.querySelectorAll("#result_list tbody tr")].map(
    (row) => [row.querySelector(".action-select")?.value, row]));
  const update = (page) => {
    const fresh = rows(page);
    for (const [key, row] of rows(document)) {
      const cells = fresh.get(key)?.querySelectorAll("td:not(.action-checkbox)") ?? [];
      row.querySelectorAll("td:not(.action-checkbox)").forEach((cell, at) => cells[at] && (cell.innerHTML = cells[at].innerHTML));
    }
    const form = document.querySelector("#export_form"), other = page.querySelector("#export_form");
    if (form && other) form.innerHTML = other.innerHTML;
  };
  const poll = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href, {headers: {"Accept": "text/html"}});
        if (answer.ok) update(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } catch { /* The server is unavailable; the next poll tries again. */ }
    }
    if (runs(document)) setTimeout(poll, WAIT_MS);
  };
  if (runs(document)) setTimeout(poll, WAIT_MS);
})();
