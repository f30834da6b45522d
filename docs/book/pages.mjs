// A reader of the book's pages in Chromium: nothing is wider than a phone, and the dark theme is dark.
// usage: pages.mjs FOLDER CHROMIUM PICTURES
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "../../model/playground/test/devtools.mjs";

const [folder, chromium, pictures] = process.argv.slice(2);
const pages = {
    first: "index", chapter: "md_docs_book_discovery", clauses: "md_build_release_model_gen_model_gen_clauses",
    class: "classselvage_1_1conformance_1_1Progress", guide: "md_docs_vendors",
};
if (!existsSync(chromium) || !existsSync(`${folder}/index.html`)) {
    console.log("skipped: needs chromium, and the pages (cmake --build build/release --target docs)");
    process.exit(77);
}

// How light the upper left corner of what is shown is, from 0 to 255: the theme is a filter, which no style tells.
async function lightness({ send, evaluate }) {
    const clip = { x: 2, y: 200, width: 1, height: 1, scale: 1 };
    const { data } = await send("Page.captureScreenshot", { clip });
    return evaluate(`new Promise((resolve) => { const image = new Image(); image.onload = () => {
        const canvas = document.createElement("canvas").getContext("2d"); canvas.drawImage(image, 0, 0);
        resolve(Math.max(...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3))); };
        image.src = "data:image/png;base64,${data}"; })`);
}

async function visit(name, page) {
    const browser = await open(chromium, `file://${folder}/${page}.html`);
    try {
        for (let i = 0; i < 200 && (await browser.evaluate("document.readyState")) !== "complete"; ++i) await sleep(50);
        for (const [width, theme, dark] of [[1280, "light", false], [1280, "dark", true], [390, "light", false]]) {
            await browser.screen(width, 850, theme);
            await sleep(200);
            await browser.picture(`${pictures}/book-${name}-${width}-${theme}.png`);
            const wide = await browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert.equal(wide, 0, `${name}: nothing is wider than ${width}`);
            assert.equal((await lightness(browser)) < 128, dark, `${name} is ${theme}`);
        }
    } finally {
        await browser.close();
    }
}

let failure;
for (const [name, page] of Object.entries(pages)) await visit(name, page).catch((error) => (failure = error));
if (failure) {
    console.log(failure.message);
    process.exit(1);
}
