// A page in Chromium, as a reader sees and uses it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "./devtools.mjs";

/// Opens the page, lets visit() use it, and exits: 0, 1 if an assertion failed, 77 without Chromium.
export async function visit(page, chromium, folder, steps) {
    if (!existsSync(chromium)) {
        console.log("skipped: needs chromium");
        process.exit(77);
    }
    const browser = await open(chromium, `file://${page}`);
    const { evaluate, screen } = browser;
    const of = (selector, rest) => evaluate(`document.querySelector(${JSON.stringify(selector)})${rest}`);
    const reader = {
        ...browser,
        read: (selector) => of(selector, ".textContent"),
        value: (selector) => of(selector, ".value"),
        click: (selector) => of(selector, ".click()"),
        choose: (selector, v) => evaluate(`{ const c = document.querySelector(${JSON.stringify(selector)});
            c.value = ${JSON.stringify(v)};
            for (const type of ["input", "change"]) c.dispatchEvent(new Event(type, { bubbles: true })); }`),
        picture: (name) => browser.picture(`${folder}/playground-${name}.png`),
        go: async (address) => {
            await evaluate(`location.href = ${JSON.stringify(address)}`);
            await sleep(100);
        },
        fitsAPhone: async () => {
            await screen(390, 844, "light");
            const wide = await evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert.equal(wide, 0, "nothing is wider than a phone");
        },
        /// Waits for what comes after a promise of the page: a file that is read.
        until: async (condition) => {
            for (let i = 0; i < 200; ++i) {
                if (await evaluate(condition)) return;
                await sleep(50);
            }
            throw new Error(`the page did not come to ${condition}`);
        },
        loaded: () => reader.until('document.readyState === "complete" && !!document.getElementById("summary")?.textContent'),
        reload: async () => {
            await browser.send("Page.reload");
            await sleep(200);
            await reader.loaded();
        },
    };
    let failure;
    try {
        await reader.loaded();
        await steps(reader);
    } catch (error) {
        failure = error;
        await reader.picture("failed").catch(() => {});
    } finally {
        await browser.close();
    }
    if (failure) console.log(failure.message);
    process.exit(failure ? 1 : 0);
}
