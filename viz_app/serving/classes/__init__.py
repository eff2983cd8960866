"""Classes: polls, answers, what the teacher shows."""
