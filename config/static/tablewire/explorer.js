// Shows an OpenAPI document with Swagger UI; requests go to the host of this page.
"use strict";

(async () => {
  const place = document.querySelector("[data-document]");
  const answer = await fetch(place.dataset.document);
  const document_ = await answer.json();
  document_.servers = [{ url: location.origin }];
  SwaggerUIBundle({ spec: document_, domNode: place, deepLinking: true, validatorUrl: null, tryItOutEnabled: true, docExpansion: "list", defaultModelsExpandDepth: -1 });
})();
