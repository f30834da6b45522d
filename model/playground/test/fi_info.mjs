// Holds the page's verdicts against what the bundled library says to fi_info, a program that we did not write: each
// pair of capabilities with each endpoint type.
// usage: fi_info.mjs MODULE FI_INFO LIBRARY_FOLDER NAME=PROFILE...
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { load } from "./module.mjs";

const [module, fiInfo, folder, ...profiles] = process.argv.slice(2);
if (!existsSync(fiInfo)) {
    console.log("skipped: needs fi_info (libfabric-bin)");
    process.exit(77);
}
const ask = load(module);
const caps = ["FI_MSG", "FI_TAGGED", "FI_RMA", "FI_ATOMIC", "FI_MULTICAST", "FI_COLLECTIVE", "FI_SOURCE", "FI_MULTI_RECV",
    "FI_RMA_EVENT", "FI_RMA_PMEM", "FI_HMEM", "FI_TRIGGER", "FI_READ"];
const types = ["FI_EP_RDM", "FI_EP_MSG", "FI_EP_DGRAM", "FI_EP_SOCK_STREAM"];

// fi_info sets every mode bit, and asks in the version of its header.
const version = /libfabric api: (\S+)/.exec(spawnSync(fiInfo, ["--version"], { encoding: "utf8" }).stdout)[1];
const call = (provider, both, type) => `version=${version} hints={caps=${both}, mode=0xffffffffffffffff, `
    + `domain_attr.mode=0xffffffffffffffff, domain_attr.mr_mode=0xfffffffc, ep_attr.type=${type}, `
    + `fabric_attr.prov_name="${provider}"}`;

let asked = 0, different = 0, granted = 0, open = 0;
for (const [provider, file] of profiles.map((p) => p.split("="))) {
    const text = readFileSync(file, "utf8");
    for (const one of caps) for (const other of caps) for (const type of types) {
        if (other < one) continue;
        const both = one === other ? one : `${one}|${other}`;
        const run = spawnSync(fiInfo, ["-p", provider, "-c", both, "-t", type],
            { encoding: "utf8", env: { ...process.env, LD_LIBRARY_PATH: folder } });
        const { verdict } = JSON.parse(ask(JSON.stringify({ profiles: [text], call: call(provider, both, type) }))).profiles[0];
        ++asked;
        granted += run.status === 0 ? 1 : 0;
        open += verdict === "may-be-refused" ? 1 : 0;
        if (verdict === "may-be-refused" || (verdict === "granted") === (run.status === 0)) continue;
        if (++different <= 5) console.log(`${provider} ${both} ${type}: ${verdict}, fi_info: ${run.status} ${run.stderr}`);
    }
}
console.log(`${asked} calls, ${granted} granted, ${open} left open by the text, ${different} differ`);
process.exit(different || granted < 20 || asked - granted < 20 ? 1 : 0);
