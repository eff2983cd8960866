"""Ask the class and Follow me: views of a class for teacher and students."""
