// Puts the parts together: providers, the address that holds the state, what happens when something changes.
"use strict";

const texts = new Map(Object.entries(JSON.parse(byId("profile-texts").textContent)));
const dropped = new Set();

function addProfile(name, checked) {
  const box = element("input", { type: "checkbox", value: name, checked });
  byId("profiles").append(element("label", {}, box, element("span", { className: "word", textContent: name })));
}

const chosen = () => [...byId("profiles").querySelectorAll("input:checked")].map((c) => c.value);

function judge(call) {
  return ask({ profiles: chosen().map((name) => texts.get(name)), call });
}

// The state in the address: the tab, providers, profiles that were dropped, the call.
function addressOfHints() {
  const state = new URLSearchParams({ providers: chosen().join(","), call: judged });
  for (const name of chosen()) if (dropped.has(name)) state.append("profile", JSON.stringify([name, texts.get(name)]));
  return state;
}

const tabs = { hints: addressOfHints, lifecycles: addressOfLifecycles };
let judged = "";  // the call that is shown

const tab = () => document.querySelector('[role="tab"][aria-selected="true"]').dataset.tab;

function writeAddress() {
  history.replaceState(null, "", `#${tabs[tab()]()}`);
}

function openTab(name) {
  for (const button of document.querySelectorAll('[role="tab"]')) {
    button.setAttribute("aria-selected", String(button.dataset.tab === name));
    button.tabIndex = button.dataset.tab === name ? 0 : -1;
    byId(button.dataset.tab).hidden = button.dataset.tab !== name;
  }
  if (name === "lifecycles") showLifecycles();
}

function show(answer, call) {
  const failed = "error" in answer;
  byId("error").textContent = failed ? `${answer.where}${"at" in answer ? `, byte ${answer.at}` : ""}: ${answer.error}` : "";
  if (failed) return;
  byId("summary").textContent = summaryLine(answer);
  byId("summary").className = worst(answer);
  byId("answers").replaceChildren(...answer.profiles.map((p) => providerCard(p, answer.clauses, use)));
  byId("c").textContent = inC(answer, vocabulary.fields);
  judged = call;
  writeAddress();
}

function formChanged() {
  markLaterWords();
  const call = callOfForm();
  const answer = judge(call);
  byId("call").value = answer.call ?? call;
  show(answer, answer.call ?? call);
}

// Takes a call as text: shows it in the form, and judges it.
function use(call) {
  const answer = judge(call);
  byId("call").value = call;
  if (!("error" in answer)) showInForm(answer);
  show(answer, call);
}

// `selvage profile` writes those of several providers one after the other.
function profilesOf(file, text) {
  const each = text.split(/^(?=provider\s*=)/m).filter((t) => /^provider\s*=/m.test(t));
  return each.length > 1 ? each.map((t) => [null, t]) : [[file.name.replace(/\.(toml|json)$/, ""), text]];
}

async function takeFiles(files) {
  const errors = [];
  for (const file of files) {
    const content = await file.text();
    if (content.startsWith("selvage-case ")) {
      openTab("lifecycles");
      takeCase(content);
      return;
    }
    for (const [name, text] of profilesOf(file, content)) {
      const answer = ask({ profiles: [text], call: `version=${byId("version").value}` });
      if ("error" in answer) {
        errors.push(`${file.name}: ${answer.error}`);
        continue;
      }
      const [{ provider, only }] = answer.profiles;
      takeProfile(name ?? provider, text);
      if (only) byId("version").value = only;
    }
  }
  formChanged();
  openTab(tab());
  if (errors.length) byId("error").textContent = errors.join("; ");
}

function takeProfile(name, text) {
  dropped.add(name);
  if (!texts.has(name)) addProfile(name, true);
  texts.set(name, text);
}

function readAddress() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const p of state.getAll("profile")) takeProfile(...JSON.parse(p));
  const name = state.get("tab") in tabs ? state.get("tab") : "hints";
  if (name === "lifecycles") lifecyclesOfAddress(state);
  openTab(name);
  if (name === "hints" || !judged) hintsOfAddress(state);
}

function hintsOfAddress(state) {
  if (state.has("providers")) {
    const names = state.get("providers").split(",");
    byId("profiles").querySelectorAll("input").forEach((c) => (c.checked = names.includes(c.value)));
  }
  use(state.get("call") ?? `version=1.${newest} hints={caps=FI_MSG|FI_RMA, mode=FI_CONTEXT, ep_attr.type=FI_EP_RDM}`);
}

buildForm();
for (const name of texts.keys()) addProfile(name, name === "shm" || name === "tcp");
byId("form").addEventListener("input", (event) => event.target.id !== "file" && formChanged());
byId("form").addEventListener("submit", (event) => event.preventDefault());
byId("call").addEventListener("input", () => use(byId("call").value));
byId("clear").addEventListener("click", () => use(`version=${byId("version").value} hints={}`));
byId("file").addEventListener("change", (event) => takeFiles(event.target.files));
byId("summary").addEventListener("click", () => byId("answers").scrollIntoView({ behavior: "smooth" }));
for (const button of document.querySelectorAll(".copy-link"))
  button.addEventListener("click", () => navigator.clipboard?.writeText(location.href));
byId("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  byId("drop").classList.add("over");
});
document.addEventListener("dragleave", () => byId("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  byId("drop").classList.remove("over");
  takeFiles(event.dataTransfer.files);
});
for (const button of document.querySelectorAll('[role="tab"]')) {
  button.addEventListener("click", () => {
    openTab(button.dataset.tab);
    writeAddress();
  });
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = button.nextElementSibling ?? button.previousElementSibling;
    other.click();
    other.focus();
  });
}
addEventListener("hashchange", readAddress);
readAddress();
