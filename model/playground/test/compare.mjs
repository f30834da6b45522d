// Holds the page's module against the same function, compiled natively: 1,000 generated hints and 1,000 histories of
// objects, equal answers byte by byte.
// usage: compare.mjs MODULE NATIVE PROFILE...
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { load } from "./module.mjs";
import { generator, histories } from "./random.mjs";

const [module, native, ...profiles] = process.argv.slice(2);
const ask = load(module);
const texts = profiles.map((p) => readFileSync(p, "utf8"));
const vocabulary = JSON.parse(ask('{"ask":"vocabulary"}'));

const random = generator(20240607);
const pick = (list) => list[random(list.length)];

function value(field) {
    const words = (vocabulary.families[field.family]?.words ?? []).map((w) => w.name);
    if (field.form === "bits") {
        const some = new Set(Array.from({ length: 1 + random(4) }, () => (random(12) ? pick(words) : "0x4000")));
        return [...some].join("|");
    }
    if (field.form === "enum" && words.length) return random(10) ? pick(words) : String(random(99));
    if (field.form === "string") return JSON.stringify(pick(["eth0", "lo", "tcp", "shm", "net", "verbs;ofi_rxm", "!tcp", ""]));
    if (field.form === "bytes")
        return pick(["hex:0a0b", "sockaddr_in:192.0.2.2:7471", "sockaddr_in6:[fe80::1%2]:7", "sockaddr_in6:[::ffff:1.2.3.4]:0",
            'str:"x"', "NULL"]);
    return pick(["0", "1", "8", "64", "4096", "65536", "0xffffffffffffffff", "max"]);
}

function call() {
    const some = new Map();
    for (let n = random(7); n > 0; --n) {
        const field = random(3) ? pick(vocabulary.fields.slice(0, 3)) : pick(vocabulary.fields);
        some.set(field.path, value(field));
    }
    const hints = [...some].map(([path, v]) => `${path}=${v}`).join(", ");
    const rest = [
        random(5) ? "" : ` node="${pick(["127.0.0.1", "fe80::1", "192.0.2.2", "nowhere.test", "10.0.0.010"])}"`,
        random(6) ? "" : ` service="${pick(["7471", "0", "http", "70000"])}"`,
        random(5) ? "" : ` flags=${pick(vocabulary.families.getinfo_flags.words).name}`,
        random(30) ? ` hints=${random(6) ? "" : "bare"}{${hints}}` : "",
    ];
    return `version=1.${random(19)}${rest.join("")}`;
}

const requests = ['{"ask":"vocabulary"}', "{", '{"profiles":["provider = 1"],"call":"version=1.17"}'];
const calls = 1000;
for (let i = 0; i < calls; ++i) requests.push(JSON.stringify({ profiles: [texts[i % texts.length]], call: call() }));
const walks = histories(texts, random, (request) => JSON.parse(ask(JSON.stringify(request))));
for (let i = 0; i < calls; ++i) requests.push(JSON.stringify(walks.next().value));

const run = spawnSync(native, { input: requests.join("\n") + "\n", maxBuffer: 1 << 30, encoding: "utf8" });
const expected = run.stdout.split("\n").slice(0, -1);
if (expected.length !== requests.length) throw new Error(`${expected.length} native answers to ${requests.length} requests`);

let different = 0;
const verdicts = {};
requests.forEach((request, i) => {
    const got = ask(request);
    const { error, profiles: judged, steps } = JSON.parse(got);
    const verdict = error ? "unreadable" : (judged?.[0].verdict ?? steps?.at(-1)?.verdict ?? "vocabulary");
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    if (got === expected[i]) return;
    if (++different <= 3) console.log(`request ${i}: ${request.slice(-300)}\n  module: ${got}\n  native: ${expected[i]}\n`);
});
console.log(`${requests.length} requests, ${different} answers differ:`, verdicts);
// A comparison of nothing but errors would hold, too.
const least = { granted: 50, refused: 300, succeeds: 100, fails: 50, open: 100 };
const readable = Object.entries(least).every(([verdict, n]) => (verdicts[verdict] ?? 0) >= n);
if (!readable) console.log("too few of some verdict");
process.exit(different || !readable ? 1 : 0);
