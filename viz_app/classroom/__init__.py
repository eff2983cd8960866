"""Ask the class and Follow me: what teacher and students see of a class."""
