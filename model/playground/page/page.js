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

// The state in the address: providers, profiles that were dropped, the call.
function writeAddress(call) {
  const state = new URLSearchParams({ providers: chosen().join(","), call });
  for (const name of chosen()) if (dropped.has(name)) state.append("profile", JSON.stringify([name, texts.get(name)]));
  history.replaceState(null, "", `#${state}`);
}

function show(answer, call) {
  const failed = "error" in answer;
  byId("error").textContent = failed ? `${answer.where}${"at" in answer ? `, byte ${answer.at}` : ""}: ${answer.error}` : "";
  if (failed) return;
  byId("summary").textContent = summaryLine(answer);
  byId("summary").className = worst(answer);
  byId("answers").replaceChildren(...answer.profiles.map((p) => providerCard(p, answer.clauses, use)));
  byId("c").textContent = inC(answer, vocabulary.fields);
  writeAddress(call);
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

async function takeFiles(files) {
  for (const file of files) {
    const text = await file.text();
    const answer = ask({ profiles: [text], call: "version=1.17" });
    if ("error" in answer) {
      byId("error").textContent = `${file.name}: ${answer.error}`;
      continue;
    }
    takeProfile(file.name.replace(/\.toml$/, ""), text);
  }
  formChanged();
}

function takeProfile(name, text) {
  dropped.add(name);
  if (!texts.has(name)) addProfile(name, true);
  texts.set(name, text);
}

function readAddress() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const p of state.getAll("profile")) takeProfile(...JSON.parse(p));
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
byId("copy").addEventListener("click", () => navigator.clipboard?.writeText(location.href));
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
addEventListener("hashchange", readAddress);
readAddress();
