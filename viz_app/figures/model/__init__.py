"""What a figure is: numbers, labels and style, before any renderer."""
