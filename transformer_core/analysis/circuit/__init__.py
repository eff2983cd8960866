"""Circuits: which heads and feed-forward networks carry a behaviour, along which edges, and how faithful they are."""

from transformer_core.analysis.circuit.curve import Faithfulness as Faithfulness
from transformer_core.analysis.circuit.find import circuit as circuit
from transformer_core.analysis.circuit.find import exact_edges as exact_edges
from transformer_core.analysis.circuit.pairs import MinimalPair as MinimalPair
from transformer_core.analysis.circuit.result import Circuit as Circuit
from transformer_core.analysis.circuit.task import read_pairs_file as read_pairs_file
from transformer_core.analysis.circuit.task import read_task as read_task
from transformer_core.analysis.circuit.task import shipped_tasks as shipped_tasks
