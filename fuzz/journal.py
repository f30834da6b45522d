#!/usr/bin/env python3
"""Takes the input under way out of the journal of a fuzz target (fuzz/journal.h): journal.py JOURNAL FILE"""
import struct
import sys

with open(sys.argv[1], 'rb') as journal:
    content = journal.read()
size = struct.unpack_from('<Q', content)[0] if len(content) >= 8 else 0
if size == 0:
    sys.exit('journal.py: no input was under way')
with open(sys.argv[2], 'wb') as out:
    out.write(content[8:8 + size])
