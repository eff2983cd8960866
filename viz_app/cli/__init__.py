"""The commands of python -m viz_app, a module each."""
