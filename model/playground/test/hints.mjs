// A reader's way through the page, in Chromium: hints are set, the answer is read, a change is made, a profile is
// dropped, the address is opened again.  Leaves screenshots: light, dark, phone.
// usage: hints.mjs PAGE CHROMIUM FOLDER
import assert from "node:assert/strict";
import { visit } from "./browser.mjs";

const box = (path, word) => `input[data-path="${path}"][value="${word}"]`;

await visit(...process.argv.slice(2), async ({ evaluate, screen, read, value, click, choose, picture, go, fitsAPhone, reload, until }) => {
    await screen(1280, 900, "light");
    assert.match(await read("#summary"), /^granted: shm, tcp$/, "what the page begins with is granted");
    await picture("hints-light");

    await click(box("caps", "FI_MULTICAST"));
    assert.match(await value("#call"), /caps=FI_MSG\|FI_RMA\|FI_MULTICAST/);
    assert.match(await read("#summary"), /^refused: shm, tcp$/);
    assert.match(await read("#answers"), /getinfo\.caps\.requested-fits/, "the clause that refuses is named");
    assert.match(await read(".change"), /caps: FI_MSG\|FI_RMA\|FI_MULTICAST → FI_MSG\|FI_RMA/, "the smallest change");
    assert.match(await read("#c"), /hints->caps = FI_MSG \| FI_RMA \| FI_MULTICAST;/);
    await screen(1280, 900, "dark");
    await picture("hints-dark");
    await fitsAPhone();
    await picture("hints-phone");
    await screen(1280, 900, "light");

    const link = await evaluate("location.href");
    await click(".change button");
    assert.match(await read("#summary"), /^granted: shm, tcp$/, "the change that was proposed is granted");
    assert.equal(await evaluate(`document.querySelector('${box("caps", "FI_MULTICAST")}').checked`), false);

    await go(link);
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

    // Drag and drop of profiles of one's own, as `selvage profile` writes them: of several providers in one file, for
    // callers of one version.
    const profile = (name) => `provider = "${name}"\napi = "1.16"\n\n[[entry]]\ncaps = ["FI_MSG"]\n[entry.ep_attr]\ntype = "FI_EP_DGRAM"\n`;
    const drop = async (text, where, expected) => {
        await evaluate(`{ const data = new DataTransfer();
            data.items.add(new File([${JSON.stringify(text)}], "mine.toml"));
            document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })); }`);
        await until(`${expected}.test(document.querySelector("${where}").textContent)`);
    };
    await drop("# what there is\n" + profile("mine") + profile("mine;too"), "#summary", /mine;too/);
    assert.equal(await value("#version"), "1.16", "the version that they are of is chosen");
    await choose("#call", "version=1.16 hints={caps=FI_MSG, ep_attr.type=FI_EP_DGRAM}");
    assert.match(await read("#summary"), /granted: mine, mine;too/, "dropped profiles are judged");
    await reload();
    assert.match(await read("#summary"), /granted: mine, mine;too/, "and lie in the link");
    await choose("#version", "1.17");
    assert.match(await read("#summary"), /not known: mine, mine;too/, "of callers of other versions they say nothing");
    await drop(`{"provider": "of-json", "entry": [{"caps": ["FI_MSG"], "ep_attr": {"type": "FI_EP_DGRAM"}}]}`,
        "#summary", /granted: of-json/);
    await drop(`{"provider": "of-json",\n "entry": [{"caps": ["FI_MGS"]}]}`,
        "#error", /^mine\.toml: line 2: caps: .*FI_MGS/);
    await drop("provider = 1", "#error", /^mine\.toml: line 1: provider is a string, .*, not 1/);
});
