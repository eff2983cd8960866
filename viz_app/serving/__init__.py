"""The model behind the pages: loading it, the gate in front of it, the cache of what it said."""
