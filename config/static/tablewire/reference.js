// Shows an OpenAPI document with Redoc or Swagger UI; requests go to the host of this page.
"use strict";

(async () => {
  const place = document.querySelector("[data-document]");
  const answer = await fetch(place.dataset.document);
  const document_ = await answer.json();
  document_.servers = [{ url: location.origin }];
  if (place.id === "swagger") {
    SwaggerUIBundle({ spec: document_, domNode: place, deepLinking: true, validatorUrl: null, tryItOutEnabled: true, docExpansion: "list", defaultModelsExpandDepth: -1 });
    return;
  }
  // Block Redoc's logo, which it would load from another site.
  const image = HTMLImageElement.prototype;
  const set = image.setAttribute;
  const source = Object.getOwnPropertyDescriptor(image, "src");
  const isOurs = (value) => !String(value).startsWith("https:");
  image.setAttribute = function (name, value) {
    if (name !== "src" || isOurs(value)) set.call(this, name, value);
  };
  Object.defineProperty(image, "src", { ...source, set(value) { if (isOurs(value)) source.set.call(this, value); } });
  Redoc.init(document_, { hideHostname: false, scrollYOffset: 48, nativeScrollbars: true, expandResponses: "200,201", theme: { colors: { primary: { main: "#1f5f4a" } }, typography: { fontFamily: "system-ui, sans-serif", headings: { fontFamily: "system-ui, sans-serif" } } } }, place);
})();
