// The second tab: objects as a tree, what can be done with each, and the history that led there.  Every rule is the
// module's; this file only shows what it says.
"use strict";

const life = { provider: "shm", entry: 0, steps: [], selected: 0, objects: 0 };

const clauseItem = (id, clauses) => element("li", {},
  element("details", {},
    element("summary", {}, element("code", { className: "clause", textContent: id }), ` ${clauses[id].title}`),
    element("span", { className: "promise", textContent: `${clauses[id].promise} (${clauses[id].level}; ${clauses[id].source.join(", ")})` })));

const clauseList = (ids, clauses) => (ids.length ? element("ul", {}, ...ids.map((id) => clauseItem(id, clauses))) : null);

const said = (step) => element("span", { className: "verdict", textContent: step.words });

function changeSteps(steps, selected = life.selected) {
  Object.assign(life, { steps, selected });
  showLifecycles();
}

function choosePlace(provider, entry) {
  Object.assign(life, { provider, entry });
  changeSteps([], 0);
}

// What was opened on an object, below it; what is closed stays in sight.
function branch(objects, parent) {
  const here = objects.filter((o) => o.parent === parent);
  if (!here.length) return null;
  return element("ul", {}, ...here.map((o) => {
    const button = element("button", { type: "button", textContent: o.name, disabled: o.state !== "open" });
    button.setAttribute("aria-pressed", String(o.number === life.selected));
    button.addEventListener("click", () => changeSteps(life.steps, o.number));
    const notes = [o.state === "open" ? "" : o.state, o.enabled ? "enabled" : "",
      o.bound.length ? `bound to ${[...new Set(o.bound)].join(", ")}` : ""].filter(Boolean).join("; ");
    return element("li", { className: o.state }, button, notes ? ` ${notes}` : "", branch(objects, o.number));
  }));
}

function moveBlock(move, answer) {
  const button = element("button", { type: "button", textContent: move.call });
  button.dataset.step = move.step;
  button.addEventListener("click", () => changeSteps([...life.steps, move.step]));
  return element("div", { className: `move ${move.verdict}` }, button, " ", said(move), clauseList(move.clauses, answer.clauses));
}

function stepItem(step, i, answer) {
  const item = element("li", { className: `step ${step.verdict}` }, element("code", { textContent: step.call }), " ", said(step));
  if (step.verdict === "open") {
    const choice = element("select", { ariaLabel: `the result of step ${i + 1}` },
      element("option", { value: "", textContent: "say it works" }), element("option", { value: "!", textContent: "say it fails" }));
    choice.value = step.ret === "0" ? "" : "!";
    // What comes later may not be possible any more.
    choice.addEventListener("change", () => changeSteps([...life.steps.slice(0, i), choice.value + step.step]));
    item.append(" ", choice);
  } else {
    item.append(clauseList(step.clauses, answer.clauses) ?? "");
  }
  return item;
}

// The object whose moves are shown: the chosen one, or what it stands on once it is closed.  What was just opened is
// chosen if more can be done with it than to close it.
function shownObject({ objects, moves }) {
  const last = objects.at(-1);
  if (objects.length > life.objects && moves.filter((m) => m.on === last.number).length > 1) life.selected = last.number;
  life.objects = objects.length;
  let o = objects.find((one) => one.number === life.selected);
  while (o && o.state !== "open") o = objects.find((one) => one.number === o.parent);
  return o;
}

function showAnswer(answer) {
  const failed = "error" in answer;
  byId("life-error").textContent = failed ? `${answer.where}: ${answer.error}` : "";
  if (failed) return;
  byId("entry").replaceChildren(...answer.entries.map((name, i) => element("option", { value: String(i), textContent: name })));
  byId("entry").value = String(life.entry);
  const object = shownObject(answer);
  life.selected = object?.number ?? 0;
  byId("tree").replaceChildren(branch(answer.objects, 0) ?? "Nothing is open.");
  byId("moves-of").textContent = object ? `What can be done with ${object.name}` : "What can be done";
  const shown = answer.moves.filter((m) => m.on === life.selected || m.on === 0);
  byId("moves").replaceChildren(...shown.filter((m) => m.on).concat(shown.filter((m) => !m.on)).map((m) => moveBlock(m, answer)));
  byId("refused").textContent = answer.refused === null ? ""
    : `Closing ${answer.refused} was refused. From here on one promise counts: that the refusal changed nothing.`;
  byId("steps").replaceChildren(...answer.steps.map((s, i) => stepItem(s, i, answer)));
  const last = answer.steps.at(-1);
  byId("last").textContent = last ? `${last.call} ${last.words}` : "Open a fabric to begin.";
  byId("last").className = last?.verdict ?? "";
  byId("case").value = answer.case;
  byId("undo").disabled = byId("restart").disabled = !answer.steps.length;
}

function showLifecycles() {
  byId("provider").replaceChildren(...[...texts.keys()].map((name) => element("option", { value: name, textContent: name })));
  byId("provider").value = life.provider;
  showAnswer(ask({ profile: texts.get(life.provider), entry: life.entry, steps: life.steps }));
  writeAddress();
}

const caseNote = byId("case-note").textContent;

// The history that a case file tells takes the place of the one that is shown; a file that is wrong changes nothing.
function takeCase(text) {
  byId("show-case").open = true;
  byId("case-in").value = text;
  const answer = ask({ case: text, profiles: Object.fromEntries(texts) });
  const failed = "error" in answer;
  byId("case-error").textContent = failed ? `${answer.where}: ${answer.error}` : "";
  byId("case-note").textContent = answer.note ?? caseNote;
  if (failed) return;
  choosePlace(answer.profile, answer.entry);
  changeSteps(answer.steps, 0);
}

// Of the address: provider, entry, steps; and the other way.
function lifecyclesOfAddress(state) {
  if (texts.has(state.get("provider"))) life.provider = state.get("provider");
  life.entry = Number(state.get("entry") ?? 0);
  life.steps = state.getAll("step");
  life.selected = life.objects = 0;
}

function addressOfLifecycles() {
  const state = new URLSearchParams({ tab: "lifecycles", provider: life.provider, entry: String(life.entry) });
  for (const step of life.steps) state.append("step", step);
  if (dropped.has(life.provider)) state.append("profile", JSON.stringify([life.provider, texts.get(life.provider)]));
  return state;
}

byId("provider").addEventListener("change", () => choosePlace(byId("provider").value, 0));
byId("entry").addEventListener("change", () => choosePlace(life.provider, Number(byId("entry").value)));
byId("undo").addEventListener("click", () => changeSteps(life.steps.slice(0, -1)));
byId("restart").addEventListener("click", () => changeSteps([], 0));
byId("copy-case").addEventListener("click", () => navigator.clipboard?.writeText(byId("case").value));
byId("take-case").addEventListener("click", () => takeCase(byId("case-in").value));
byId("case-file").addEventListener("change", async (event) => {
  for (const file of event.target.files) takeCase(await file.text());
  event.target.value = "";
});
