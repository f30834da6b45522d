#!/usr/bin/env python3
"""Puts the playground together: one page that holds its style, its scripts, the module and the profiles.

usage: assemble.py PAGE_FOLDER MODULE OUTPUT PROFILE...
"""
import base64
import json
import pathlib
import sys


def main():
    folder, module, output, *profiles = map(pathlib.Path, sys.argv[1:])
    page = (folder / "index.html").read_text()
    for style in sorted(folder.glob("*.css")):
        page = page.replace(f'<link rel="stylesheet" href="{style.name}">', f"<style>\n{style.read_text()}</style>")
    for script in sorted(folder.glob("*.js")):
        page = page.replace(f'<script src="{script.name}"></script>', f"<script>\n{script.read_text()}</script>")
    texts = {p.stem: p.read_text() for p in profiles}
    # "</" would end the element that holds it.
    page = page.replace("@PROFILES@", json.dumps(texts).replace("</", "<\\/"))
    page = page.replace("@MODULE@", base64.b64encode(module.read_bytes()).decode())
    output.write_text(page)


main()
