"""The benches of the Lab, a folder each: Python, scene, words and labels."""
