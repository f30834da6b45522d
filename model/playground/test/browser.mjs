// A reader's way through the page, in Chromium: hints are set, the answer is read, a change is made, a profile is
// dropped, the address is opened again.  Leaves screenshots: light, dark, phone.
// usage: browser.mjs PAGE CHROMIUM FOLDER
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "./devtools.mjs";

const [page, chromium, folder] = process.argv.slice(2);
if (!existsSync(chromium)) {
    console.log("skipped: needs chromium");
    process.exit(77);
}
const url = `file://${page}`;
const browser = await open(chromium, url);
const { evaluate, screen, picture } = browser;

const read = (selector) => evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`);
const value = (selector) => evaluate(`document.querySelector(${JSON.stringify(selector)}).value`);
const click = (selector) => evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
const choose = (selector, v) => evaluate(`{ const c = document.querySelector(${JSON.stringify(selector)});
    c.value = ${JSON.stringify(v)}; c.dispatchEvent(new Event("input", { bubbles: true })); }`);
const box = (path, word) => `input[data-path="${path}"][value="${word}"]`;

async function loaded() {
    for (let i = 0; i < 200; ++i) {
        if (await evaluate('document.readyState === "complete" && !!document.getElementById("summary")?.textContent')) return;
        await sleep(50);
    }
    throw new Error("the page did not answer");
}

async function visit() {
    await loaded();
    await screen(1280, 900, "light");
    assert.match(await read("#summary"), /^granted: shm, tcp$/, "what the page begins with is granted");
    await picture(`${folder}/playground-light.png`);

    await click(box("caps", "FI_COLLECTIVE"));
    assert.match(await value("#call"), /caps=FI_MSG\|FI_RMA\|FI_COLLECTIVE/);
    assert.match(await read("#summary"), /^refused: shm, tcp$/);
    assert.match(await read("#answers"), /getinfo\.caps\.requested-fits/, "the clause that refuses is named");
    assert.match(await read(".change"), /caps: FI_MSG\|FI_RMA\|FI_COLLECTIVE → FI_MSG\|FI_RMA/, "the smallest change");
    assert.match(await read("#c"), /hints->caps = FI_MSG \| FI_RMA \| FI_COLLECTIVE;/);
    await screen(1280, 900, "dark");
    await picture(`${folder}/playground-dark.png`);
    await screen(390, 844, "light");
    await picture(`${folder}/playground-phone.png`);
    const wide = await evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(wide, 0, "nothing is wider than a phone");
    await screen(1280, 900, "light");

    const link = await evaluate("location.href");
    await click(".change button");
    assert.match(await read("#summary"), /^granted: shm, tcp$/, "the change that was proposed is granted");
    assert.equal(await evaluate(`document.querySelector('${box("caps", "FI_COLLECTIVE")}').checked`), false);

    await evaluate(`location.href = ${JSON.stringify(link)}`);
    await sleep(100);
    assert.match(await read("#summary"), /^refused: shm, tcp$/, "a link holds the hints");

    await choose('[data-path="ep_attr.type"]', "FI_EP_DGRAM");
    assert.match(await value("#call"), /ep_attr\.type=FI_EP_DGRAM/);
    await choose("#call", "version=1.17 hints={caps=FI_MGS}");
    assert.match(await read("#error"), /byte 25.*FI_MSG/, "what can't be read is shown with its place");
    await choose("#call", 'version=1.17 hints={caps=FI_MSG|0x4000, fabric_attr.prov_name="shm"}');
    assert.equal(await read("#error"), "");
    assert.equal(await value('[data-path="fabric_attr.prov_name"]'), "shm", "text fills the form");
    await click(box("caps", "FI_TAGGED"));
    assert.match(await value("#call"), /0x4000/, "a bit without a name is not lost");

    // Drag and drop of a profile of one's own.
    const text = 'provider = "mine"\n[[entry]]\ncaps = ["FI_MSG"]\n[entry.ep_attr]\ntype = "FI_EP_DGRAM"\n';
    await evaluate(`{ const data = new DataTransfer();
        data.items.add(new File([${JSON.stringify(text)}], "mine.toml"));
        document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })); }`);
    await choose("#call", "version=1.17 hints={caps=FI_MSG, ep_attr.type=FI_EP_DGRAM}");
    await sleep(100);
    assert.match(await read("#summary"), /granted: mine/, "a dropped profile is judged");
    await browser.send("Page.reload");
    await sleep(200);
    await loaded();
    assert.match(await read("#summary"), /granted: mine/, "and lies in the link");
}

let failure;
try {
    await visit();
} catch (error) {
    failure = error;
    await picture(`${folder}/playground-failed.png`).catch(() => {});
} finally {
    await browser.close();
}
if (failure) {
    console.log(failure.message);
    process.exit(1);
}
