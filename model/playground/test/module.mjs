// Loads the playground's module by the page's own code; returns its function: a request in, an answer out, both text.
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const page_load = runInThisContext(readFileSync(new URL("../page/load.js", import.meta.url), "utf8") + "load;");

export function load(file) {
    return page_load(readFileSync(file));
}
