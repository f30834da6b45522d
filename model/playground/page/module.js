// The model, as a function: a request in, an answer out, both objects.
"use strict";

const ask = (() => {
  const bytes = Uint8Array.from(atob(document.getElementById("module").textContent), (c) => c.charCodeAt(0));
  const answer_to = load(bytes);
  return (request) => JSON.parse(answer_to(JSON.stringify(request)));
})();

function element(tag, properties, ...children) {
  const out = Object.assign(document.createElement(tag), properties);
  out.append(...children.filter((c) => c !== null));
  return out;
}
