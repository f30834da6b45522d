// The form: check boxes and fields for everything that hints can say, and the call as text that they stand for.
"use strict";

const vocabulary = ask({ ask: "vocabulary" });
const byId = (id) => document.getElementById(id);
const newest = Number(vocabulary.newest.split(".")[1]);

// What each part of the form is called, in the order in which people look for it.
const parts = [
  ["Capabilities", (f) => f.path === "caps"],
  ["Mode bits that the application supports", (f) => f.path === "mode" || f.path === "domain_attr.mr_mode"],
  ["Endpoint and addresses", (f) => f.path.startsWith("ep_attr.") || /^(addr_format|src_addr|dest_addr)$/.test(f.path)],
  ["Domain", (f) => f.path.startsWith("domain_attr.")],
  ["Transmit", (f) => f.path.startsWith("tx_attr.")],
  ["Receive", (f) => f.path.startsWith("rx_attr.")],
  ["Fabric and provider", (f) => f.path.startsWith("fabric_attr.")],
];

function checkBox(field, word) {
  const box = element("input", { type: "checkbox", value: word.name });
  box.dataset.path = field;
  const title = [`since ${word.since}`, word.needs ? `needs one of ${word.needs}` : ""].filter(Boolean).join("; ");
  const label = element("label", { title }, box, element("span", { className: "word", textContent: word.name }));
  label.dataset.since = word.since;
  return label;
}

function boxes(field) {
  const words = vocabulary.families[field.family].words;
  const classes = ["primary", "modifier", "secondary", ""].filter((c) => words.some((w) => (w.class ?? "") === c));
  return classes.flatMap((c) => [
    c ? element("h3", { textContent: c }) : null,
    element("div", { className: "choices" }, ...words.filter((w) => (w.class ?? "") === c).map((w) => checkBox(field.path, w))),
  ]).filter(Boolean);
}

function input(field) {
  const words = vocabulary.families[field.family]?.words ?? [];
  let control;
  if (field.form === "enum") {
    control = element("select", {}, element("option", { value: "", textContent: "not asked for" }),
      ...words.map((w) => element("option", { value: w.name, textContent: w.name })));
  } else {
    control = element("input", { placeholder: "not asked for", spellcheck: false });
  }
  control.dataset.path = field.path;
  return element("label", {}, field.path, control);
}

function buildForm() {
  for (let minor = newest; minor >= 0; --minor)
    byId("version").append(element("option", { value: `1.${minor}`, textContent: `1.${minor}` }));
  byId("flags").append(...vocabulary.families.getinfo_flags.words.map((w) => checkBox("flags", w)));
  const left = new Set(vocabulary.fields);
  parts.forEach(([title, holds], i) => {
    const fields = [...left].filter(holds);
    fields.forEach((f) => left.delete(f));
    const bits = fields.filter((f) => f.form === "bits");
    const rest = fields.filter((f) => f.form !== "bits");
    const body = [
      element("div", { className: "grid" }, ...rest.map(input)),
      ...bits.flatMap((f) => [f.path === "caps" ? null : element("h3", { textContent: f.path }), ...boxes(f)]),
    ].filter(Boolean);
    byId("fields").append(element("details", { className: "part", open: i < 3 },
      element("summary", {}, element("strong", { textContent: title })), ...body));
  });
}

const controls = () => [...document.querySelectorAll("#fields [data-path]")];
// Bits that were given as numbers have no box; they are kept.
const numbers = new Map();

// The fields of the form by path, as the text form spells them.
function fieldsOfForm() {
  const out = new Map(numbers);
  for (const c of controls()) {
    const path = c.dataset.path;
    if (c.type === "checkbox") {
      if (c.checked) out.set(path, out.has(path) ? `${out.get(path)}|${c.value}` : c.value);
    } else if (c.value !== "") {
      const { form } = vocabulary.fields.find((f) => f.path === path);
      out.set(path, form === "string" ? quoted(c.value) : c.value);
    }
  }
  return out;
}

// A string of the text form: bytes that are not plain as \xNN.
function quoted(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const plain = (b) => b >= 0x20 && b < 0x7f && b !== 0x22 && b !== 0x5c;
  return `"${bytes.map((b) => (plain(b) ? String.fromCharCode(b) : `\\x${b.toString(16).padStart(2, "0")}`)).join("")}"`;
}

function callOfForm() {
  const flags = [...byId("flags").querySelectorAll("input:checked")].map((c) => c.value);
  return [
    `version=${byId("version").value}`,
    byId("node").value ? `node=${quoted(byId("node").value)}` : "",
    byId("service").value ? `service=${quoted(byId("service").value)}` : "",
    flags.length ? `flags=${flags.join("|")}` : "",
    byId("null-hints").checked ? "" : `hints={${[...fieldsOfForm()].map(([path, v]) => `${path}=${v}`).join(", ")}}`,
  ].filter(Boolean).join(" ");
}

// Sets the form to a call that was understood.
function showInForm(answer) {
  byId("version").value = answer.version;
  byId("node").value = answer.node ?? "";
  byId("service").value = answer.service ?? "";
  const flags = answer.flags.split("|");
  byId("flags").querySelectorAll("input").forEach((c) => (c.checked = flags.includes(c.value)));
  byId("null-hints").checked = answer.hints === null;
  numbers.clear();
  for (const c of controls()) {
    const value = answer.hints?.[c.dataset.path] ?? "";
    if (c.type === "checkbox") {
      const words = value.split("|");
      c.checked = words.includes(c.value);
      const rest = words.filter((w) => /^\d/.test(w)).join("|");
      if (rest) numbers.set(c.dataset.path, rest);
    } else {
      if (value !== "" && c.tagName === "SELECT" && ![...c.options].some((o) => o.value === value))
        c.append(element("option", { value, textContent: value }));
      c.value = value;
    }
  }
  markLaterWords();
}

// Words that the chosen version does not know yet are dashed.
function markLaterWords() {
  const minor = Number(byId("version").value.split(".")[1]);
  for (const label of document.querySelectorAll("[data-since]"))
    label.classList.toggle("later", Number(label.dataset.since.split(".")[1]) > minor);
}
