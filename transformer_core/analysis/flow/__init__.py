"""The flow: the logit of a token as an exact sum over words, biases, and every edge of every head, at every height.

Frozen are the attention weights, the standard deviations of LayerNorm and the gates of the feed-forward networks (Ali
et al. 2022; drawn as a graph by Ferrando and Voita 2024). It says what a token is made of, not what would change
without a part: all that is frozen would change, too.

Start with `flow`. `backward` computes; `result` is the flow of one token; `graph` has its largest edges; `cut` tells
what they do in the model itself.
"""

from transformer_core.analysis.flow.backward import POINTS as POINTS
from transformer_core.analysis.flow.compute import flow as flow
from transformer_core.analysis.flow.compute import flows as flows
from transformer_core.analysis.flow.cut import Cuts as Cuts
from transformer_core.analysis.flow.cut import cut_edges as cut_edges
from transformer_core.analysis.flow.graph import Graph as Graph
from transformer_core.analysis.flow.graph import Ways as Ways
from transformer_core.analysis.flow.result import Flow as Flow
