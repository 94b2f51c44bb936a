#!/usr/bin/env python3
# SPDX-License-Identifier: AGPL-3.0-or-later
"""Draws the operators' icons: draw_icons.py FOLDER writes FOLDER/{16,24,48}/stope_*.png.

All icons are steps cut into rock, which is what a stope is, with a sign for the operator above them.
"""
import math
import pathlib
import struct
import sys
import zlib

OVER = 8  # samples a pixel and direction
ROCK, ROCK_LIGHT, SIGN = (62, 74, 92), (96, 114, 140), (226, 124, 38)


def disc(x, y, cx, cy, r):
    return (x - cx) ** 2 + (y - cy) ** 2 <= r * r


def line(x, y, x0, y0, x1, y1, width):
    dx, dy = x1 - x0, y1 - y0
    t = max(0.0, min(1.0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)))
    return math.hypot(x - x0 - t * dx, y - y0 - t * dy) <= width / 2


def box(x, y, x0, y0, x1, y1):
    return x0 <= x < x1 and y0 <= y < y1


def steps(x, y):
    """Three steps that rise to the right; the treads are light."""
    for x0, top in ((0.06, 0.84), (0.36, 0.70), (0.66, 0.56)):
        if box(x, y, x0, top, x0 + 0.30, 0.95):
            return ROCK_LIGHT if y < top + 0.06 else ROCK
    return None


def k_nn(x, y):
    if disc(x, y, 0.34, 0.36, 0.10):
        return SIGN
    for cx, cy in ((0.12, 0.22), (0.18, 0.56), (0.58, 0.22)):
        if disc(x, y, cx, cy, 0.07):
            return ROCK
        if line(x, y, 0.34, 0.36, cx, cy, 0.035):
            return SIGN
    return None


def tree(x, y):
    for cx, cy, colour in ((0.34, 0.14, SIGN), (0.16, 0.42, ROCK), (0.54, 0.42, ROCK)):
        if disc(x, y, cx, cy, 0.09):
            return colour
    if line(x, y, 0.34, 0.14, 0.16, 0.42, 0.04) or line(x, y, 0.34, 0.14, 0.54, 0.42, 0.04):
        return SIGN
    return None


def cross_distances(x, y):
    for row in range(2):
        for other in range(2):
            if line(x, y, 0.12, 0.16 + 0.34 * row, 0.56, 0.10 + 0.30 * other, 0.03):
                return SIGN
    for cx, cy in ((0.12, 0.16), (0.12, 0.50), (0.56, 0.10), (0.56, 0.40)):
        if disc(x, y, cx, cy, 0.08):
            return ROCK
    return None


def discretization(x, y):
    if box(x, y, 0.04, 0.28, 0.64, 0.34):
        return ROCK
    for cut in (0.18, 0.34, 0.50):
        if box(x, y, cut - 0.02, 0.12, cut + 0.02, 0.50):
            return SIGN
    return None


def pca(x, y):
    u, v = (x - 0.34) * 0.8 - (y - 0.32) * 0.6, (x - 0.34) * 0.6 + (y - 0.32) * 0.8
    if line(x, y, 0.12, 0.485, 0.56, 0.155, 0.05):
        return SIGN
    ring = (u / 0.34) ** 2 + (v / 0.15) ** 2
    return ROCK if 0.72 <= ring <= 1.0 else None


def statistics(x, y):
    for i, height in enumerate((0.16, 0.34, 0.44, 0.26)):
        left = 0.06 + 0.15 * i
        if box(x, y, left, 0.54 - height, left + 0.11, 0.54):
            return SIGN if i == 2 else ROCK
    return None


SIGNS = {"k_nn": k_nn, "tree": tree, "cross_distances": cross_distances, "discretization": discretization, "pca": pca,
         "statistics": statistics}


def pixels(sign, size):
    for py in range(size):
        row = bytearray([0])  # a PNG row begins with its filter
        for px in range(size):
            found = []
            for sy in range(OVER):
                for sx in range(OVER):
                    x, y = (px + (sx + 0.5) / OVER) / size, (py + (sy + 0.5) / OVER) / size
                    colour = steps(x, y) or sign(x, y)
                    if colour:
                        found.append(colour)
            alpha = round(255 * len(found) / OVER**2)
            mean = [round(sum(c[i] for c in found) / len(found)) for i in range(3)] if found else [0, 0, 0]
            row += bytes(mean + [alpha])
        yield bytes(row)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main():
    for size in (16, 24, 48):
        folder = pathlib.Path(sys.argv[1]) / str(size)
        folder.mkdir(parents=True, exist_ok=True)
        for name, sign in SIGNS.items():
            image = zlib.compress(b"".join(pixels(sign, size)), 9)
            header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
            png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", image) + chunk(b"IEND", b"")
            (folder / f"stope_{name}.png").write_bytes(png)


if __name__ == "__main__":
    main()
