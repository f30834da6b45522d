#!/usr/bin/env python3
"""Draws the book's figures: states of an endpoint, matching, the rendezvous, a chain of deferred work.

usage: draw.py FOLDER            writes FOLDER/*.svg
       draw.py FOLDER --check    exits with 1 if a file there is not what would be written
Colours are those of the reader's theme: dark lines on light, light lines on dark.
"""
import pathlib
import sys
from html import escape

STYLE = """<style>
  svg { color: #24292f; }
  text { font: 14px sans-serif; fill: currentColor; }
  .small { font-size: 12px; }
  .code { font-family: monospace; font-size: 13px; }
  .line { stroke: currentColor; fill: none; stroke-width: 1.5; }
  .box { stroke: currentColor; fill: #eaf2fb; stroke-width: 1.5; }
  .other { fill: #fdf3e1; }
  .head { fill: currentColor; }
  @media (prefers-color-scheme: dark) {
    svg { color: #d7dde4; }
    .box { fill: #1d3147; }
    .other { fill: #44371c; }
  }
</style>
<defs><marker id="head" markerWidth="9" markerHeight="9" refX="8" refY="4" orient="auto">
  <path class="head" d="M0,0 L8,4 L0,8 z"/></marker></defs>"""


class Drawing:
    def __init__(self, width, height, title):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                      f'height="{height}" role="img">', f"<title>{escape(title)}</title>", STYLE]

    def text(self, x, y, words, kind="", anchor="middle"):
        self.parts.append(f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>')

    def box(self, x, y, width, height, *lines, kind=""):
        self.parts.append(f'<rect class="box {kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')
        for i, words in enumerate(lines):
            self.text(x + width / 2, y + height / 2 + 5 + 17 * (i - (len(lines) - 1) / 2), words,
                      "code" if words.startswith(("tag", "fi_")) else "")

    def arrow(self, *points, words="", at=None, kind="code", anchor="middle", dashed=False):
        path = " L".join(f"{x},{y}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<path class="line" d="M{path}" marker-end="url(#head)"{dash}/>')
        if words:
            self.text(*at, words, kind, anchor)

    def line(self, *points):
        self.parts.append(f'<path class="line" d="M{" L".join(f"{x},{y}" for x, y in points)}"/>')

    def svg(self):
        return "\n".join([*self.parts, "</svg>", ""])


def endpoint():
    d = Drawing(760, 250, "The states of an endpoint")
    d.box(20, 90, 130, 50, "disabled")
    d.box(300, 90, 130, 50, "enabled")
    d.box(600, 90, 130, 50, "closed", kind="other")
    d.arrow((85, 30), (85, 88), words="fi_endpoint", at=(92, 50), anchor="start")
    d.arrow((150, 115), (298, 115), words="fi_enable", at=(224, 106))
    d.arrow((430, 115), (598, 115), words="fi_close", at=(514, 106))
    d.arrow((60, 140), (60, 185), (110, 185), (110, 142), words="fi_ep_bind: CQ, AV, counters", at=(20, 205), anchor="start")
    d.arrow((340, 140), (340, 185), (390, 185), (390, 142), words="fi_send, fi_recv, fi_write, ...", at=(272, 205), anchor="start")
    d.arrow((130, 90), (130, 60), (665, 60), (665, 88), words="fi_close", at=(400, 52))
    d.text(20, 235, "Before fi_enable it takes no operations; after it nothing more can be bound.", "small", "start")
    return d.svg()


def matching():
    d = Drawing(760, 330, "How a message finds its receive")
    d.text(120, 30, "posted receives")
    for i, words in enumerate(("tag 7", "tag 0, ignore 0xffff", "tag 9")):
        d.box(20, 45 + 45 * i, 200, 36, words)
    d.text(640, 30, "unexpected messages")
    for i, words in enumerate(("tag 3", "tag 4")):
        d.box(540, 45 + 45 * i, 200, 36, words, kind="other")
    d.box(300, 45, 160, 36, "tag 9", kind="other")
    d.text(380, 30, "a message arrives")
    d.arrow((300, 63), (224, 63), dashed=True)
    d.arrow((300, 75), (260, 108), (224, 108))
    d.text(268, 58, "no", "small")
    d.text(278, 118, "fits: taken", "small", "start")
    d.text(278, 136, "(the first in order)", "small", "start")
    d.arrow((460, 63), (538, 63), words="none fits", at=(499, 56), kind="small")
    d.line((20, 200), (740, 200))
    d.box(300, 240, 160, 36, "tag 4, ignore 0")
    d.text(380, 228, "a receive is posted")
    d.arrow((460, 258), (640, 258), (640, 130), words="looks here first", at=(548, 250), kind="small")
    d.arrow((300, 258), (120, 258), (120, 182), words="none fits: waits here", at=(212, 250), kind="small")
    d.text(20, 315, "Both lists are searched from the oldest on, so that order is kept where it was asked for.", "small", "start")
    return d.svg()


def rendezvous():
    d = Drawing(760, 400, "The rendezvous")
    left, right = 190, 570
    for x, words in ((left, "sender"), (right, "receiver")):
        d.box(x - 60, 10, 120, 34, words)
        d.line((x, 44), (x, 372))
    d.text(left - 12, 82, "fi_send, 4 MiB", "code", "end")
    d.arrow((left, 80), (right, 110), words="RTS: length, tag, where the bytes are", at=(380, 76), kind="small")
    d.text(right + 12, 116, "nothing posted:", "small", "start")
    d.text(right + 12, 132, "kept as unexpected", "small", "start")
    d.text(right + 12, 182, "fi_recv", "code", "start")
    d.arrow((right, 190), (left, 220), words="CTS: go on", at=(380, 194), kind="small")
    d.arrow((left, 235), (right, 260), words="bytes", at=(380, 240), kind="small")
    d.arrow((left, 260), (right, 285))
    d.arrow((left, 285), (right, 310))
    d.text(right + 12, 316, "entry of the receive", "small", "start")
    d.arrow((right, 322), (left, 350), words="ack", at=(380, 330), kind="small")
    d.text(left - 12, 356, "entry of the send", "small", "end")
    d.text(380, 395, "Where the receiver can read the sender's memory it fetches the bytes itself: RTS, copy, ack.", "small")
    return d.svg()


def chain():
    d = Drawing(760, 205, "A chain of deferred work")
    d.box(20, 70, 110, 50, "counter go", kind="other")
    d.box(210, 70, 130, 50, "fi_send", "deferred")
    d.box(430, 70, 110, 50, "counter done", kind="other")
    d.box(610, 70, 130, 50, "add 10 to done", "deferred")
    d.arrow((75, 30), (75, 68), words="fi_cntr_add", at=(82, 46), anchor="start")
    d.arrow((130, 95), (208, 95), words="at 1: begins", at=(170, 86), kind="small")
    d.arrow((340, 95), (428, 95), words="over: adds 1", at=(385, 86), kind="small")
    d.arrow((540, 95), (608, 95), words="at 1", at=(574, 86), kind="small")
    d.arrow((675, 120), (675, 155), (485, 155), (485, 122), words="11: the end of the chain", at=(580, 173), kind="small")
    d.text(20, 198, "Boxes in blue are queued in advance; the program adds 1 to go, and makes progress.", "small", "start")
    return d.svg()


def main():
    folder = pathlib.Path(sys.argv[1])
    wrong = 0
    for draw in (endpoint, matching, rendezvous, chain):
        file = folder / f"{draw.__name__}.svg"
        if sys.argv[2:] == ["--check"]:
            if not file.exists() or file.read_text() != draw():
                print(f"{file} is not what draw.py draws")
                wrong = 1
        else:
            file.write_text(draw())
    sys.exit(wrong)


main()
