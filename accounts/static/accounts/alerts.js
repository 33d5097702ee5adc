// Lets this browser show notifications of the dashboard, and marks it in the list of browsers.
"use strict";

(async () => {
  const form = document.getElementById("allow");
  const isSupported = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  document.getElementById("unsupported").hidden = isSupported;
  if (!isSupported) {
    for (const part of document.querySelectorAll("[data-supported]")) part.hidden = true;
    return;
  }
  const worker = await navigator.serviceWorker.register(form.dataset.worker);
  const encoded = form.dataset.serverKey.replaceAll("-", "+").replaceAll("_", "/");
  const serverKey = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
  const hasServerKey = (subscription) => {
    const key = new Uint8Array(subscription.options.applicationServerKey ?? []);
    return key.length === serverKey.length && key.every((byte, index) => byte === serverKey[index]);
  };

  const current = await worker.pushManager.getSubscription();
  const rows = [...document.querySelectorAll("[data-endpoint]")];
  const row = current && hasServerKey(current) && rows.find((each) => each.dataset.endpoint === current.endpoint);
  if (row) {
    row.querySelector(".badge").hidden = false;
    return;
  }
  for (const part of document.querySelectorAll("[data-supported]")) part.hidden = false;
  const allow = document.querySelector("button[form=allow]");
  allow.disabled = false;
  allow.addEventListener("click", async () => {
    try {
      if (current && !hasServerKey(current)) await current.unsubscribe();
      const subscription = await worker.pushManager.subscribe({
        userVisibleOnly: true, applicationServerKey: serverKey,
      });
      const { endpoint, keys } = subscription.toJSON();
      form.elements.endpoint.value = endpoint;
      form.elements.p256dh.value = keys.p256dh;
      form.elements.auth.value = keys.auth;
      form.submit();
    } catch {
      document.getElementById("refused").hidden = false;
    }
  });
})();
