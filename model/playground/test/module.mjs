// Loads the playground's module as the page does, and returns its function: a request in, an answer out, both text.
import { readFileSync } from "node:fs";

export function load(file) {
    const module = new WebAssembly.Module(readFileSync(file));
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
        (imports[from] ??= {})[name] = () => {
            throw new Error(`the module calls ${from}.${name}`);
        };
    }
    const { exports } = new WebAssembly.Instance(module, imports);
    exports._initialize();
    return (request) => {
        const bytes = new TextEncoder().encode(request);
        const at = exports.reserve(bytes.length);
        new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
        const size = exports.ask();
        return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.result(), size));
    };
}
