// Holds the playground's histories against a library: of each provider a profile is written (`selvage profile`), the page's
// module follows random histories on it, and `selvage replay` makes their calls.  What the page says must succeed or fail
// does, or is a deviation that the page of findings has.
// usage: histories.mjs MODULE TOOL LIBRARY FINDINGS PROVIDER...
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "../../model/playground/test/module.mjs";
import { generator, histories } from "../../model/playground/test/random.mjs";

const [module, tool, library, findings, ...providers] = process.argv.slice(2);
if (!existsSync(library) || !existsSync(module)) {
    console.log(`skipped: needs ${library} and ${module}`);
    process.exit(77);
}
const selvage = (...command) => spawnSync(tool, command,
    { encoding: "utf8", env: { ...process.env, NO_COLOR: "1", LD_LIBRARY_PATH: "" }, maxBuffer: 1 << 28 });
const folder = mkdtempSync(join(tmpdir(), "histories-"));
const ask = load(module);
const random = generator(7);
const perProvider = 10;

// Case files of histories on a profile, each as long as it gets.
function* cases(profile) {
    let answer, request;
    for (const next of histories([profile], random, (r) => (answer = JSON.parse(ask(JSON.stringify(r)))))) {
        if (next.steps.length < (request?.steps.length ?? 0)) yield answer.case;
        request = next;
    }
}

const files = [];
for (const provider of providers) {
    const { stdout, stderr, status } = selvage("profile", "--library", library, "--provider", provider);
    if (status !== 0) throw new Error(stderr);
    const some = cases(stdout);
    for (let n = 0; n < perProvider; ++n) {
        files.push(join(folder, `${files.length}.case`));
        writeFileSync(files.at(-1), some.next().value);
    }
}
const run = selvage("replay", "--as-is", "--library", library, ...files);
rmSync(folder, { recursive: true });
const kept = (run.stdout.match(/^kept$/gm) ?? []).length;
const shown = (run.stdout.match(/^shows its deviation$/gm) ?? []).length;
const broken = [...new Set((run.stdout.match(/^broken \S+(?=:)/gm) ?? []).map((line) => line.slice("broken ".length)))];
const known = readFileSync(findings, "utf8");
const unknown = broken.filter((id) => !known.includes(`\`${id}\``));
console.log(`${files.length} histories: ${kept} kept, ${shown} show what is known: ${broken.join(", ") || "-"}`, run.stderr);
if (unknown.length) console.log(`not known: ${unknown.join(", ")}`);
process.exit(kept + shown === files.length && !unknown.length && kept ? 0 : 1);
