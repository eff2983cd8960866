"""What the page Figures asks for, draws and collects."""
