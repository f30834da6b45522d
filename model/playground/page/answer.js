// The answer: a line for all, a card for each provider, the call in C.
"use strict";

const verdictWords = {
  "granted": "granted", "refused": "refused", "may-be-refused": "may be refused", "unspecified": "not known",
};

// Of a long comparison of bits, what decided it.
function inShort(link) {
  const decided = /, must (?:contain|be within|lack|not hold) [^:]*: (.*)$/.exec(link.evidence);
  return decided && link.field ? `${link.field}: ${decided[1]}` : link.evidence;
}

function linkItem(link, clauses) {
  const clause = clauses[link.clause];
  const sides = link.field ? `${link.field}: asked ${link.asked || "nothing"}, offered ${link.offered || "nothing"}` : "";
  return element("li", {},
    element("details", {},
      element("summary", {}, element("code", { className: "clause", textContent: link.clause }), ` ${inShort(link)}`),
      element("span", { className: "promise", textContent: `${clause.promise} (${clause.source.join(", ")})` }),
      clause.reading ? element("span", { className: "promise", textContent: `Read as: ${clause.reading}` }) : null,
      sides ? element("span", { className: "promise", textContent: sides }) : null));
}

const offerName = (o) => [o["ep_attr.type"], o["addr_format"], o["domain_attr.name"]].filter(Boolean).join(" ");

function offerBlock(entry, clauses) {
  const links = [...entry.refuses, ...entry.leaves_open].map((l) => linkItem(l, clauses));
  const offered = Object.entries(entry.offered).map(([path, value]) => `${path} = ${value}`).join("\n");
  return element("div", { className: `offer ${entry.verdict}` },
    element("span", { className: "verdict", textContent: verdictWords[entry.verdict] }),
    ` ${offerName(entry.offered)}`,
    links.length ? element("ul", {}, ...links) : null,
    element("details", {}, element("summary", { className: "note", textContent: "what it offers" }),
      element("pre", { textContent: offered })));
}

function proposalBlock(proposal, use) {
  const changes = proposal.changes.map((c) => element("div", {},
    element("code", { textContent: c.field }), `: ${c.before || "nothing"} → `, element("strong", { textContent: c.after || "nothing" })));
  const button = element("button", { type: "button", textContent: "make this change" });
  button.addEventListener("click", () => use(proposal.call));
  return element("div", { className: "change" }, `Smallest change, granted by ${proposal.granted_by}:`, ...changes, button);
}

function providerCard(judged, clauses, use) {
  const granted = judged.entries.filter((e) => e.verdict === "granted").length;
  const card = element("section", { className: `provider ${judged.verdict}` },
    element("h2", {}, judged.provider), element("span", { className: "verdict", textContent: verdictWords[judged.verdict] }),
    judged.verdict === "granted" ? `: ${granted} of ${judged.entries.length} offers` : "",
    judged.only ? `: the profile holds for callers of ${judged.only} alone` : "",
    judged.errors.length ? ` with ${judged.errors.join(" or ")}` : "");
  const own = judged.because.filter((b) => !judged.entries.some((e) =>
    [...e.refuses, ...e.leaves_open].some((l) => l.clause === b.clause)));
  if (own.length) card.append(element("ul", {}, ...own.map((l) => linkItem(l, clauses))));
  if (judged.proposals.length) card.append(proposalBlock(judged.proposals[0], use));
  card.append(...judged.entries.map((e) => offerBlock(e, clauses)));
  return card;
}

function summaryLine(answer) {
  const names = (verdict) => answer.profiles.filter((p) => p.verdict === verdict).map((p) => p.provider).join(", ");
  const out = Object.entries(verdictWords).filter(([v]) => names(v)).map(([v, words]) => `${words}: ${names(v)}`);
  return out.join(" — ") || "choose a provider";
}

const worst = (answer) => ["granted", "may-be-refused", "refused"].find((v) => answer.profiles.some((p) => p.verdict === v)) ?? "";

// The call as a C program would write it.
function inC(answer, fields) {
  const string = (t) => (t === null ? "NULL" : JSON.stringify(t));
  const [major, minor] = answer.version.split(".");
  const flags = answer.flags === "none" ? "0" : answer.flags;
  const lines = ["struct fi_info *info, *hints = fi_allocinfo();"];
  for (const [path, value] of Object.entries(answer.hints ?? {})) {
    const field = fields.find((f) => f.path === path);
    if (!field) continue;
    const member = `hints->${path.replace(".", "->")}`;
    if (field.form === "bytes") lines.push(`/* ${member} = ${value} */`);
    else if (field.form === "string") lines.push(`${member} = strdup(${string(value)});`);
    else lines.push(`${member} = ${value.replaceAll("|", " | ")};`);
  }
  const hints = answer.hints === null ? "NULL" : "hints";
  if (answer.hints === null) lines[0] = "struct fi_info *info;";
  lines.push(`int ret = fi_getinfo(FI_VERSION(${major}, ${minor}), ${string(answer.node)}, ${string(answer.service)}, ${flags}, ${hints}, &info);`);
  return lines.join("\n");
}
