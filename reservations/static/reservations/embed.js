// For the restaurant's website: sets the height of each frame to the height of the booking page in it.
"use strict";
(() => {
  const origin = new URL(document.currentScript.src).origin;
  addEventListener("message", (event) => {
    if (event.origin !== origin || event.data?.tablewire !== "height") return;
    const height = Number(event.data.height);
    if (!(height > 0 && height < 20000)) return;
    for (const frame of document.querySelectorAll("iframe")) {
      if (frame.contentWindow === event.source) frame.height = Math.ceil(height);
    }
  });
  for (const frame of document.querySelectorAll("iframe")) {
    if (frame.src.startsWith(`${origin}/book/`)) frame.contentWindow.postMessage({ tablewire: "ask" }, origin);
  }
})();
