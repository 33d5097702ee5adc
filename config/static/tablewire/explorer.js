// Shows an OpenAPI document with Swagger UI; requests go to the host of this page.
"use strict";

(async () => {
  const place = document.querySelector("[data-document]");
  const answer = await fetch(place.dataset.document);
  const document_ = await answer.json();
  document_.servers = [{ url: location.origin }];
  new MutationObserver(() => nameParts(place)).observe(place, { childList: true, subtree: true });
  // A deep link would be a link inside the button that opens its operation.
  SwaggerUIBundle({ spec: document_, domNode: place, deepLinking: false, validatorUrl: null, tryItOutEnabled: true, docExpansion: "list", defaultModelsExpandDepth: -1 });
})();

// What Swagger UI leaves out for screen readers: levels of headings without a gap, and the names of parts and of a list.
function nameParts(place) {
  for (const [part, name] of [[".information-container", "About"], [".scheme-container", "Server and key"]]) {
    place.querySelector(part)?.setAttribute("role", "region");
    place.querySelector(part)?.setAttribute("aria-label", name);
  }
  place.querySelector("#servers")?.setAttribute("aria-label", "Server");
  for (const tag of place.querySelectorAll("h3.opblock-tag")) tag.setAttribute("aria-level", "2");
}
