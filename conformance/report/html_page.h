// Style and script of the page: what html.cc puts around its tables.  Private to report/.
//
// The script only filters rows, opens findings and copies text; the page is complete without it.
#pragma once

#include <string_view>

namespace selvage::conformance {

inline constexpr std::string_view kPageStyle = R"css(
:root{color-scheme:light dark;--bg:#fbfbf9;--card:#fff;--ink:#1d2327;--dim:#5d6870;--line:#dfe3e2;--soft:#f1f3f1;--link:#0b5fa5;
--kept:#1f7a4d;--kept-bg:#e3f3e9;--bad:#b3261e;--bad-bg:#fbe1de;--fatal:#fff;--fatal-bg:#8f1510;--warn:#8a5a00;--warn-bg:#fcefcf;
--none:#77828a;--none-bg:#eceff0;--unseen:#a3abb0}
@media(prefers-color-scheme:dark){:root{--bg:#14181b;--card:#1b2125;--ink:#e4e8ea;--dim:#9aa6ad;--line:#2f383e;--soft:#20272c;
--link:#79b8f3;--kept:#7ed3a3;--kept-bg:#173526;--bad:#ff9d94;--bad-bg:#4a1c19;--fatal:#fff;--fatal-bg:#a8231b;--warn:#f3c668;
--warn-bg:#40320f;--none:#8d99a1;--none-bg:#272f34;--unseen:#5b666d}}
*{box-sizing:border-box}html{scroll-padding-top:4.5rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main,header.top{max-width:1180px;margin:0 auto;padding:0 1.25rem}
header.top{padding-top:2rem}h1{font-size:1.7rem;line-height:1.2;margin:0 0 .35rem;letter-spacing:-.015em}
h2{font-size:1.2rem;margin:2.4rem 0 .8rem}h3{font-size:1rem;margin:1.6rem 0 .6rem}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
a{color:var(--link)}.dim{color:var(--dim)}.subject{margin:0;overflow-wrap:anywhere}
.subject span{white-space:nowrap;margin-right:1.1rem}.subject .path{white-space:normal}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(128px,1fr));gap:.7rem;margin:1.3rem 0 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.65rem .9rem}
a.tile{color:inherit;text-decoration:none}a.tile:hover{border-color:currentColor}.more{margin:.2rem .9rem .7rem}
.tile b{display:block;font-size:1.6rem;line-height:1.2;font-variant-numeric:tabular-nums}
.tile small{color:var(--dim)}.tile.fatal b{color:var(--bad)}.tile.violation b,.tile.intermittent b{color:var(--bad)}.tile.disputed b,.tile.weakness b{color:var(--warn)}
.tile.zero b{color:var(--dim);font-weight:500}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:10px;background:var(--card)}
table{border-collapse:separate;border-spacing:0;width:100%}
.sum td,.sum th{padding:.45rem .8rem;text-align:right;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums;white-space:nowrap}
.sum tr:last-child td{border-bottom:0}.sum th{font-weight:600;color:var(--dim);font-size:.83rem}
.sum td:first-child,.sum th:first-child{text-align:left;font-weight:600}.sum small{font-weight:400;white-space:normal}
.bar{display:flex;height:.62rem;min-width:150px;border-radius:4px;overflow:hidden;background:var(--none-bg)}
.bar i{display:block}.bar .k{background:var(--kept)}.bar .b{background:var(--bad)}.bar .n{background:var(--unseen);opacity:.55}
.tools{position:sticky;top:0;z-index:5;background:var(--bg);padding:.7rem 0;display:flex;flex-wrap:wrap;gap:.6rem 1.1rem;align-items:center;border-bottom:1px solid var(--line);margin-bottom:.9rem}
.tools input[type=search]{flex:1 1 220px;max-width:420px;font:inherit;padding:.45rem .7rem;border:1px solid var(--line);border-radius:8px;background:var(--card);color:inherit}
.tools label{white-space:nowrap;cursor:pointer}.tools nav{margin-left:auto;white-space:nowrap}.tools nav a{margin-left:.9rem}.legend{display:flex;margin:0 0 .8rem;gap:.8rem;flex-wrap:wrap;font-size:.85rem;color:var(--dim)}
.legend .cell{margin-right:.3rem}
details.chapter{margin:0 0 .35rem;border:1px solid var(--line);border-radius:10px;background:var(--card);overflow:clip}
details.chapter[open]{margin-bottom:.8rem}details.chapter>summary{padding:.38rem .9rem;cursor:pointer;font-weight:600;display:flex;gap:.8rem;align-items:baseline;list-style:none}
details.chapter>summary::-webkit-details-marker{display:none}
details.chapter>summary::before{content:"▸";color:var(--dim);display:inline-block;width:.8em}details.chapter[open]>summary::before{content:"▾"}
details.chapter>summary .dim{font-weight:400;font-size:.86rem}
.matrix{overflow-x:auto;border-top:1px solid var(--line)}
.matrix th,.matrix td{padding:.28rem .5rem;border-bottom:1px solid var(--line);text-align:center}
.matrix tr:last-child td,.matrix tr:last-child th{border-bottom:0}
.matrix thead th{font-size:.8rem;color:var(--dim);font-weight:600;vertical-align:bottom;white-space:nowrap;min-width:4.2rem}
.matrix tbody th,.matrix thead th:first-child{position:sticky;left:0;z-index:1;background:var(--card);text-align:left;font-weight:400;width:99%;min-width:210px;border-right:1px solid var(--line)}
.matrix tbody th{padding-left:.9rem;overflow-wrap:anywhere}.matrix tbody tr:hover th,.matrix tbody tr:hover td{background:var(--soft)}
.tag{font-size:.72rem;color:var(--dim);border:1px solid var(--line);border-radius:99px;padding:0 .45rem;margin-left:.35rem;white-space:nowrap}
.tag.disputed{color:var(--warn);border-color:currentColor}
.cell{display:inline-block;min-width:1.75rem;line-height:1.45rem;border-radius:6px;font-weight:700;text-align:center;text-decoration:none;font-size:.9rem}
.kept{color:var(--kept);background:var(--kept-bg)}.broken{color:var(--bad);background:var(--bad-bg)}.broken.fatal{color:var(--fatal);background:var(--fatal-bg)}
.broken.disputed,.broken.weakness{color:var(--warn);background:var(--warn-bg)}.broken.waived{color:var(--dim);background:var(--none-bg)}
.matrix td{font-weight:700}.matrix td.why{font-weight:400}.matrix td.broken a{color:inherit;display:block;text-decoration-thickness:1px}
.matrix th small{display:block;color:var(--dim)}
.matrix td.why{text-align:left;overflow-wrap:anywhere}
.unreached{color:var(--none);background:var(--none-bg)}.unseen{color:var(--unseen)}
.finding{border:1px solid var(--line);border-left:4px solid var(--bad);border-radius:8px;background:var(--card);margin:0 0 .6rem}
.finding.fatal{border-left-color:var(--fatal-bg)}.finding.disputed,.finding.weakness{border-left-color:var(--warn)}.finding.waived{border-left-color:var(--unseen)}
.promise{border:1px solid var(--line);border-radius:8px;background:var(--card);margin:0 0 .4rem}.promise>.finding{margin:.5rem .8rem}.promise>summary p{color:var(--dim)}
.finding:target{box-shadow:0 0 0 3px color-mix(in srgb,var(--link) 45%,transparent)}
:is(.finding,.promise)>summary{padding:.6rem .9rem;cursor:pointer;list-style:none}:is(.finding,.promise)>summary::-webkit-details-marker{display:none}
:is(.finding,.promise)>summary .line{display:flex;flex-wrap:wrap;gap:.2rem .6rem;align-items:baseline}
:is(.finding,.promise)>summary code{font-weight:650;overflow-wrap:anywhere}:is(.finding,.promise)>summary p{margin:.15rem 0 0;overflow-wrap:anywhere}
.badge{font-size:.75rem;font-weight:650;border-radius:99px;padding:.05rem .6rem;white-space:nowrap}
.badge.fatal{color:var(--fatal);background:var(--fatal-bg)}.badge.violation,.badge.intermittent{color:var(--bad);background:var(--bad-bg)}
.badge.weakness,.badge.disputed{color:var(--warn);background:var(--warn-bg)}.badge.waived,.badge.prov{color:var(--dim);background:var(--none-bg)}
.body{padding:.1rem .9rem .9rem;border-top:1px solid var(--line)}.body dl{display:grid;grid-template-columns:6.5rem 1fr;gap:.4rem .9rem;margin:.8rem 0}
.body dt{color:var(--dim)}.body dd{margin:0;min-width:0;overflow-wrap:anywhere}.body ol{margin:0;padding-left:1.2rem}
pre{background:var(--soft);border:1px solid var(--line);border-radius:8px;padding:.7rem .85rem;margin:0;overflow:auto;max-height:30rem;white-space:pre;tab-size:4}
pre .part{display:inline-block;padding:.1rem 0}pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}.code{position:relative;margin-top:.5rem}
.code button{position:absolute;top:.45rem;right:.45rem;font:inherit;font-size:.8rem;padding:.15rem .7rem;border:1px solid var(--line);border-radius:6px;background:var(--card);color:inherit;cursor:pointer}
.code summary{cursor:pointer;color:var(--link);margin-bottom:.4rem}.empty{padding:1.2rem;text-align:center;color:var(--dim)}
[hidden]{display:none!important}footer{max-width:1180px;margin:2.5rem auto 0;padding:1rem 1.25rem 2rem;color:var(--dim);font-size:.86rem}
@media(max-width:640px){html{scroll-padding-top:7rem}body{font-size:14px}h1{font-size:1.4rem}main,header.top{padding-left:.8rem;padding-right:.8rem}
.body dl{grid-template-columns:1fr;gap:.1rem}.body dd{margin-bottom:.5rem}.matrix tbody th,.matrix thead th:first-child{min-width:150px;max-width:46vw;font-size:.86rem}
.sum tr{display:grid;grid-template-columns:repeat(5,1fr);border-bottom:1px solid var(--line);padding:.25rem .5rem}.sum tbody tr:last-child{border-bottom:0}
.sum td,.sum th{border-bottom:0;padding:.1rem .2rem}.sum td:first-child,.sum th:first-child{grid-column:1/4;white-space:normal;overflow-wrap:anywhere}
.sum td:last-child,.sum th:last-child{grid-area:1/4/auto/-1;align-self:center}.bar{min-width:0}
.tools{gap:.45rem .8rem}.tiles{grid-template-columns:repeat(3,1fr);gap:.5rem}.tile{padding:.5rem .6rem}.tile b{font-size:1.25rem}}
@media print{.tools{display:none}details>*{display:block}}
)css";

inline constexpr std::string_view kPageScript = R"js(
(function () {
  "use strict";
  var box = document.getElementById("filter"), only = document.getElementById("only");
  var rows = document.querySelectorAll("tr[data-key]"), findings = document.querySelectorAll(".finding");
  var promises = document.querySelectorAll("details.promise");
  var chapters = document.querySelectorAll("details.chapter"), groups = document.querySelectorAll(".group");
  // What a reader looks for: the words of an entry and those that it shows when it is pointed at.
  var texts = new Map();
  rows.forEach(function (r) {
    var head = r.querySelector("th");
    texts.set(r, (r.dataset.key + " " + head.textContent + " " + head.title).toLowerCase());
  });
  findings.forEach(function (f) {
    var promise = f.closest(".promise").querySelector("summary");
    texts.set(f, [promise.querySelector(".badge"), promise.querySelector("code"), f.querySelector("summary")]
      .map(function (e) { return e.textContent; }).join(" ").toLowerCase());
  });
  document.querySelectorAll(".matrix table").forEach(function (table) {
    var heads = table.tHead.rows[0].cells;
    table.querySelectorAll("td[title]").forEach(function (c) { c.title = heads[c.cellIndex].textContent + ": " + c.title; });
  });
  function update() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean), narrow = words.length > 0 || only.checked;
    function matches(e) { return words.every(function (w) { return texts.get(e).indexOf(w) >= 0; }); }
    rows.forEach(function (r) { r.hidden = !matches(r) || (only.checked && r.dataset.broken !== "1"); });
    chapters.forEach(function (c) {
      var left = c.querySelectorAll("tr[data-key]:not([hidden])").length;
      c.hidden = left === 0;
      if (narrow && left > 0) c.open = true;
    });
    findings.forEach(function (f) { f.hidden = !matches(f); });
    promises.forEach(function (p) {
      p.hidden = !p.querySelector(".finding:not([hidden])");
      if (words.length > 0 && !p.hidden) p.open = true;
    });
    groups.forEach(function (g) { g.hidden = !g.querySelector(".finding:not([hidden])"); });
    document.getElementById("no-finding").hidden = findings.length === 0 || !!document.querySelector(".finding:not([hidden])");
    document.getElementById("nothing").hidden = !!document.querySelector("details.chapter:not([hidden])");
  }
  function follow() {
    var id = decodeURIComponent(location.hash.slice(1)), f = id && document.getElementById(id);
    if (!f) return;
    for (var h = f; h; h = h.parentElement) h.hidden = false;
    for (var d = f.closest("details"); d; d = d.parentNode.closest("details")) d.open = true;
    f.scrollIntoView();
  }
  document.addEventListener("click", function (e) {
    var b = e.target.closest("button.copy");
    if (!b) return;
    var whole = b.parentNode.querySelector("pre").cloneNode(true);
    whole.querySelectorAll("a.part").forEach(function (a) {
      if (a.nextSibling) a.nextSibling.data = a.nextSibling.data.replace(/^\n/, "");
      a.textContent = a.dataset.parts.split(" ").map(function (range) {
        var ends = range.split("-"), text = "";
        for (var n = +ends[0]; n <= +ends[ends.length - 1]; n++) text += document.getElementById("part-" + n).textContent;
        return text;
      }).join("");
    });
    var text = whole.textContent;
    function done() { b.textContent = "copied"; setTimeout(function () { b.textContent = "copy"; }, 1500); }
    function old() {
      var t = document.createElement("textarea");
      t.value = text; document.body.appendChild(t); t.select();
      try { document.execCommand("copy"); done(); } finally { t.remove(); }
    }
    if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).then(done, old); else old();
  });
  box.addEventListener("input", update);
  only.addEventListener("change", update);
  window.addEventListener("hashchange", follow);
  follow();
})();
)js";

}  // namespace selvage::conformance
