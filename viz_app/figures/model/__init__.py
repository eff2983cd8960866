"""Description of a figure: numbers, labels and style, before any renderer."""
