// The model, as a function: a request in, an answer out, both objects.
"use strict";

const ask = (() => {
  const bytes = Uint8Array.from(atob(document.getElementById("module").textContent), (c) => c.charCodeAt(0));
  const module = new WebAssembly.Module(bytes);
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = () => {
      throw new Error(`the module calls ${from}.${name}`);
    };
  }
  const { exports } = new WebAssembly.Instance(module, imports);
  exports._initialize();
  return (request) => {
    const text = new TextEncoder().encode(JSON.stringify(request));
    const at = exports.reserve(text.length);
    new Uint8Array(exports.memory.buffer, at, text.length).set(text);
    const size = exports.ask();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.result(), size)));
  };
})();

function element(tag, properties, ...children) {
  const out = Object.assign(document.createElement(tag), properties);
  out.append(...children.filter((c) => c !== null));
  return out;
}
