"""Classes: polls, answers, the teacher's place."""
