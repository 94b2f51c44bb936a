// Starts Swagger UI on this server's own description. It is a file because the server's policy forbids scripts in pages.
"use strict";

window.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#api",
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null, // nothing is sent to other servers
  presets: [window.SwaggerUIBundle.presets.apis],
});
