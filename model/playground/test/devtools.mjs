// Chromium without a window, driven through its debugging pipe: no package is needed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function open(chromium, url) {
    const home = mkdtempSync(join(tmpdir(), "playground-"));
    const child = spawn(chromium, ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
        `--user-data-dir=${home}`, "--no-first-run", "--disable-dev-shm-usage", "about:blank"],
        { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    const waiting = new Map();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    let rest = "", last = 0, session;
    child.stdio[4].setEncoding("utf8").on("data", (data) => {
        const messages = (rest + data).split("\0");
        rest = messages.pop();
        for (const text of messages) {
            const { id, result, error } = JSON.parse(text);
            const call = waiting.get(id);
            waiting.delete(id);
            if (call) error ? call.reject(new Error(`${call.method}: ${error.message}`)) : call.resolve(result);
        }
    });
    ended.then(() => waiting.forEach((call) => call.reject(new Error("the browser ended"))));
    const send = (method, params = {}) => new Promise((resolve, reject) => {
        waiting.set(++last, { method, resolve, reject });
        child.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId: session }) + "\0");
    });
    const { targetId } = await send("Target.createTarget", { url });
    ({ sessionId: session } = await send("Target.attachToTarget", { targetId, flatten: true }));

    // The value of an expression; what it throws is thrown here.
    const evaluate = async (expression) => {
        const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
        if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    };
    const screen = (width, height, theme) => Promise.all([
        send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 }),
        send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] }),
    ]);
    const picture = async (file) => writeFileSync(file, (await send("Page.captureScreenshot")).data, "base64");
    const close = async () => {
        session = undefined;
        send("Browser.close").catch(() => {});
        await ended;
        rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    };
    return { send, evaluate, screen, picture, close };
}
