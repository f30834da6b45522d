// A reader's way through a report page, in Chromium: findings are looked for, opened and followed to, in light and dark, on a
// wide screen and on a phone.  The page is that of a library that breaks promises.
// usage: report_page.mjs TOOL LIBRARY CHROMIUM FOLDER
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "../../model/playground/test/devtools.mjs";

const [tool, library, chromium, folder] = process.argv.slice(2);
if (!existsSync(chromium)) {
    console.log("skipped: needs chromium");
    process.exit(77);
}
const page = `${folder}/report-page.html`;
const check = spawnSync(tool, ["check", "--library", library, "--provider", "tcp", "--provider", "shm", "--cases", "300",
    "--processes", "1", "--no-compiler", "--quiet", "--report", page],
    { env: { ...process.env, GTEST_FILTER: "classes.*" }, encoding: "utf8" });
assert.equal(check.status, 1, `the library breaks promises: ${check.stderr}`);

const browser = await open(chromium, `file://${page}`);
const { evaluate, screen, picture } = browser;
const count = (selector) => evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .filter((e) => e.checkVisibility()).length`);
const click = (selector) => evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
const look = (words) => evaluate(`{ const box = document.getElementById("filter");
    box.value = ${JSON.stringify(words)}; box.dispatchEvent(new Event("input", { bubbles: true })); }`);
const colour = () => evaluate("getComputedStyle(document.body).backgroundColor");

async function visit() {
    const loaded = () => evaluate('document.readyState === "complete" && !!document.getElementById("filter")');
    for (let i = 0; i < 200 && !(await loaded()); ++i) await sleep(50);
    await screen(1280, 900, "light");
    const light = await colour();
    await picture(`${folder}/report-light.png`);

    // A broken cell leads to its finding, which opens.
    const target = await evaluate('document.querySelector("td.broken a").hash');
    assert.equal(await evaluate(`document.querySelector(${JSON.stringify(target)}).open`), false, "closed at first");
    await evaluate('document.querySelector("details.chapter:has(td.broken a)").open = true');
    await click("td.broken a");
    await sleep(200);
    assert.equal(await evaluate(`document.querySelector(${JSON.stringify(target)}).open`), true, "opened by its cell");
    assert.ok(await evaluate(`document.querySelector(${JSON.stringify(target)}).checkVisibility()`));
    const dead = await evaluate(`[...document.querySelectorAll('a[href^="#"]')]
        .filter((a) => !document.getElementById(decodeURIComponent(a.hash.slice(1)))).length`);
    assert.equal(dead, 0, "no link leads nowhere");

    // Words narrow clauses and findings, whatever part of a clause they are from.
    const all = await count(".promise");
    const [id, title] = await evaluate(`{ const row = document.querySelector('tr[data-broken="1"]');
        [row.dataset.key.split(" ")[0], row.querySelector("small").textContent]; }`);
    await look(id);
    assert.ok((await count(".promise")) >= 1 && (await count(".promise")) < all, "an id leaves its promise");
    await look(title.toUpperCase());
    assert.ok((await count("tr[data-key]")) >= 1, "a title is found");
    await look("no clause speaks of this");
    assert.equal(await count("tr[data-key]"), 0);
    assert.ok(await count("#nothing"), "and the page says that there is none");
    assert.ok(await count("#no-finding"), "and no finding");
    await look("");
    assert.equal(await count("#no-finding"), 0);
    // A tile leads to what it counts, which stands below the bar that stays in sight.
    await click("a.tile");
    await sleep(200);
    const [top, bar] = await evaluate(`[document.querySelector(document.querySelector("a.tile").hash).getBoundingClientRect().top,
        document.querySelector(".tools").getBoundingClientRect().bottom]`);
    assert.ok(top >= bar - 1, `${top} is below ${bar}`);
    await click("#only");
    const shown = await count('tr[data-broken="0"]');
    assert.equal(shown, 0, "only broken ones are left");
    assert.ok(await count('tr[data-broken="1"]'));
    await click("#only");

    await screen(1280, 900, "dark");
    assert.notEqual(await colour(), light, "dark is another page");
    await picture(`${folder}/report-dark.png`);
    await screen(390, 844, "light");
    await picture(`${folder}/report-phone.png`);
    const wide = await evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(wide, 0, "nothing is wider than a phone");
    const cut = await evaluate(`[...document.querySelectorAll(".sum th, .sum td")]
        .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth).map((e) => e.textContent)`);
    assert.deepEqual(cut, [], "the table of providers is seen whole");
}

let failure;
try {
    await visit();
} catch (error) {
    failure = error;
    await picture(`${folder}/report-failed.png`).catch(() => {});
} finally {
    await browser.close();
}
if (failure) {
    console.log(failure.message);
    process.exit(1);
}
