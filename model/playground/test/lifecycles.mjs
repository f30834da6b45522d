// A reader's way through the second tab, in Chromium: objects are opened, bound, enabled and closed in a wrong order; the
// history is copied, its address opened again.  Leaves screenshots: light, dark, phone.
// usage: lifecycles.mjs PAGE CHROMIUM FOLDER
import assert from "node:assert/strict";
import { visit } from "./browser.mjs";

const move = (step) => `[data-step="${step}"]`;

await visit(...process.argv.slice(2), async ({ evaluate, screen, read, value, click, choose, send, picture, go, fitsAPhone, reload, until }) => {
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

    // A case file, as selvage replay reads it: pasted, chosen, dropped, and a bad one.
    const file = `selvage-case 1\n# a queue is open\nclause = domain.close.busy-cq\nkind = lifecycle\nprovider = "tcp"\n` +
        `call = version=1.17 hints={ep_attr.type=FI_EP_MSG, domain_attr.name="lo", fabric_attr.prov_name="tcp"}\n` +
        "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\ncq3 = open cq domain2\nclose domain2\n";
    await choose("#case-in", file);
    await click("#take-case");
    assert.equal(await read("#case-error"), "");
    assert.match(await read("#steps"), /fi_close\(domain2\) must fail with FI_EBUSY/);
    assert.match(await evaluate('document.getElementById("entry").selectedOptions[0].textContent'), /^FI_EP_MSG /);
    const told = await value("#case");
    await evaluate('document.getElementById("show-case").scrollIntoView()');
    await picture("case-phone");
    await choose("#case-in", file.replace("close domain2", "close cq9"));
    await click("#take-case");
    assert.equal(await read("#case-error"), 'line 10: "close cq9" is nothing that can be done here: there is no cq9 here');
    assert.equal(await value("#case"), told, "what was shown stays");
    const give = (text, how) => evaluate(`{ const data = new DataTransfer();
        data.items.add(new File([${JSON.stringify(text)}], "one.case"));
        ${how} }`);
    await click("#restart");
    await give(file, `const c = document.getElementById("case-file"); c.files = data.files;
        c.dispatchEvent(new Event("change", { bubbles: true }));`);
    await until('document.querySelectorAll("#steps > li").length === 4');
    assert.equal(await value("#case"), told, "a file that is chosen");
    await click("#restart");
    await click('[data-tab="hints"]');
    await give(file, 'document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));');
    await until('document.querySelectorAll("#steps > li").length === 4');
    assert.equal(await value("#case"), told, "a file that is dropped, from the other tab");
    assert.equal(await evaluate('document.getElementById("lifecycles").hidden'), false);
    await give("\u0000\u0001 nothing of the kind", `const c = document.getElementById("case-file"); c.files = data.files;
        c.dispatchEvent(new Event("change", { bubbles: true }));`);
    await until('document.getElementById("case-error").textContent !== ""');
    assert.match(await read("#case-error"), /^line 1: a case file begins with "selvage-case 1"/);

    // From one tab to the other by the keyboard.
    await evaluate('document.querySelector(\'[data-tab="lifecycles"]\').focus()');
    await send("Input.dispatchKeyEvent", { type: "keyDown", key: "ArrowLeft", code: "ArrowLeft", windowsVirtualKeyCode: 37 });
    assert.equal(await evaluate("document.activeElement.dataset.tab"), "hints");
    assert.equal(await evaluate('document.getElementById("lifecycles").hidden'), true);
});
