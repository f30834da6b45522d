// A reader's way through the second tab, in Chromium: objects are opened, bound, enabled and closed in a wrong order; the
// history is copied, its address opened again.  Leaves screenshots: light, dark, phone.
// usage: lifecycles.mjs PAGE CHROMIUM FOLDER
import assert from "node:assert/strict";
import { visit } from "./browser.mjs";

const move = (step) => `[data-step="${step}"]`;

await visit(...process.argv.slice(2), async ({ evaluate, screen, read, value, click, choose, send, picture, go, fitsAPhone, reload }) => {
    const says = (step) => evaluate(`document.querySelector('${move(step)}').parentElement.textContent`);
    const object = (name) => evaluate(`[...document.querySelectorAll("#tree button")].find((b) => b.textContent === "${name}").click()`);
    const take = (step) => click(move(step));

    await screen(1280, 1000, "light");
    await click('[data-tab="lifecycles"]');
    assert.equal(await evaluate('document.getElementById("hints").hidden'), true);
    await choose("#provider", "tcp");
    await choose("#entry", "1");
    assert.match(await evaluate('document.getElementById("entry").selectedOptions[0].textContent'), /^FI_EP_RDM FI_SOCKADDR_IN lo$/);

    await take("fabric1 = open fabric offer=0");
    await take("domain2 = open domain fabric1");
    await take("ep3 = open ep domain2");
    assert.match(await read("#moves-of"), /ep3/, "what was opened last is at hand");
    assert.match(await says("enable ep3"), /must fail.*endpoint\.enable\.needs-queue.*cannot be enabled/);
    await object("domain2");
    await take("cq4 = open cq domain2");
    assert.match(await read("#moves-of"), /domain2/, "a queue is opened, and the domain stays at hand");
    await take("av5 = open av domain2");
    assert.match(await says("close domain2"), /must fail with FI_EBUSY.*domain\.close\.busy-cq/);
    await object("ep3");
    await take("ep-bind ep3 cq4 flags=0xc00");
    await take("ep-bind ep3 av5");
    assert.match(await says("enable ep3"), /must succeed.*endpoint\.enable\.bound/);
    await take("enable ep3");
    assert.match(await read("#tree"), /ep3 enabled; bound to cq4, av5/);
    await picture("lifecycles-light");
    await object("domain2");
    await screen(1280, 1000, "dark");
    await picture("lifecycles-dark");
    await take("close domain2");
    assert.match(await read("#last"), /fi_close\(domain2\) must fail with FI_EBUSY/);
    assert.match(await read("#refused"), /Closing domain2 was refused/);
    const text = await value("#case");
    assert.match(text, /^selvage-case 1\nkind = lifecycle\nprovider = "tcp"\n/);
    assert.match(text, /\n# must fail with FI_EBUSY\nclose domain2\n$/);
    await fitsAPhone();
    await picture("lifecycles-phone");

    const link = await evaluate("location.href");
    await click("#undo");
    assert.equal(await read("#refused"), "");
    await click("#restart");
    assert.match(await read("#last"), /Open a fabric/);
    await go(link);
    assert.equal(await value("#case"), text, "a link holds the history");
    await reload();
    assert.equal(await value("#case"), text, "and is opened again");

    await choose("#steps select", "!");
    assert.match(await read("#tree"), /ep3 failed/, "what no clause decides can be said to fail");
    await go(`${link.split("#")[0]}#tab=lifecycles&provider=tcp&entry=0&step=close+fabric1`);
    assert.match(await read("#life-error"), /step 1: "close fabric1" is nothing that can be done here/);

    // From one tab to the other by the keyboard.
    await evaluate('document.querySelector(\'[data-tab="lifecycles"]\').focus()');
    await send("Input.dispatchKeyEvent", { type: "keyDown", key: "ArrowLeft", code: "ArrowLeft", windowsVirtualKeyCode: 37 });
    assert.equal(await evaluate("document.activeElement.dataset.tab"), "hints");
    assert.equal(await evaluate('document.getElementById("lifecycles").hidden'), true);
});
