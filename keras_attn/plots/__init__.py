"""Plots of attention weights and positional encodings.

`show_attention` returns HTML. The other functions return a matplotlib figure:
`figure.savefig("name.png")` saves the figure; a notebook shows it after `%matplotlib inline`.
Figures are not registered with pyplot, and no setting of matplotlib is changed.
"""

# First: if matplotlib is missing, its error says how to install it.
from keras_attn.plots import heat_maps as heat_maps  # isort: skip
from keras_attn.plots.attention_grid import plot_attention
from keras_attn.plots.attention_html import show_attention
from keras_attn.plots.encodings import (
    plot_binary_counting,
    plot_encoding,
    plot_encoding_curves,
    plot_position_similarity,
)

__all__ = [
    "plot_attention",
    "plot_binary_counting",
    "plot_encoding",
    "plot_encoding_curves",
    "plot_position_similarity",
    "show_attention",
]
