"""Axes, colours and texts of pictures."""

import numpy as np

__all__ = [
    "axes", "background", "class_colors", "ink", "number", "plain", "pyplot", "text_on", "tidy",
]


def pyplot():
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("stope.plot draws with Matplotlib: pip install matplotlib, or stope[plot]") from error
    return plt


def axes(ax, **figure):
    if ax is not None:
        return ax
    return pyplot().subplots(layout="constrained", **figure)[1]


def ink():
    return pyplot().rcParams["text.color"]


def tidy(ax):
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def plain(text, n_letters=28):
    """Text that Matplotlib draws as it is: no mathematics, not too long."""
    text = str(text)
    if len(text) > n_letters:
        text = text[: n_letters - 1] + "…"
    return text.replace("$", r"\$")


def class_colors(n_classes):
    plt = pyplot()
    cycle = plt.rcParams["axes.prop_cycle"].by_key().get("color", ["C0"])
    if n_classes <= len(cycle):
        return cycle[:n_classes]
    return [plt.get_cmap("turbo")(place) for place in np.linspace(0.05, 0.95, n_classes)]


def text_on(color, behind):
    """Black or white, whichever is legible on the colour as it looks over the background."""
    from matplotlib.colors import to_rgb, to_rgba

    red, green, blue, alpha = to_rgba(color)
    mixed = alpha * np.array([red, green, blue]) + (1 - alpha) * np.array(to_rgb(behind))
    return "black" if mixed @ [0.299, 0.587, 0.114] > 0.5 else "white"


def background(ax):
    color = ax.get_facecolor()
    return color if color[3] > 0 else ax.figure.get_facecolor()


def number(value):
    return f"{value:.4g}"
