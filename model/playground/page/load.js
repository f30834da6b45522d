// Loads the model's module; returns a function: a request in, an answer out, both text.  The tests load it by this, too.
"use strict";

function load(bytes) {
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
    const text = new TextEncoder().encode(request);
    const at = exports.reserve(text.length);
    new Uint8Array(exports.memory.buffer, at, text.length).set(text);
    const size = exports.ask();
    return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.result(), size));
  };
}
