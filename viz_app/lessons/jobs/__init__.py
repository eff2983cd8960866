"""Work that goes on at the server while a scene is open: live training, timings."""
