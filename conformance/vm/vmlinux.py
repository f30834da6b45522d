#!/usr/bin/env python3
"""Takes the kernel out of a compressed kernel image: vmlinux.py IMAGE OUTPUT.

QEMU starts an ELF kernel directly, which saves the emulated processor from unpacking it: 1 to 3 s of each start.
Debian packs with xz; other packings are refused, and the caller starts the image as it is.
"""
import lzma
import sys

XZ = b"\xfd7zXZ\x00"


def unpacked(image):
    """The ELF file inside, or None. The loader in front of it may hold the mark by chance, so every place is tried."""
    at = image.find(XZ)
    while at >= 0:
        try:
            content = lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(image[at:])
            if content.startswith(b"\x7fELF"):
                return content
        except lzma.LZMAError:
            pass
        at = image.find(XZ, at + 1)
    return None


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        kernel = unpacked(file.read())
    if kernel is None:
        sys.exit(f"{source} holds no ELF kernel packed with xz")
    with open(target, "wb") as file:
        file.write(kernel)


if __name__ == "__main__":
    main()
