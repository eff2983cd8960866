"""Source attribution: the contribution of each source word and each earlier target word to every generated word.

Start with `attribute`. `methods` has its input and output; `layers`, `mixing`, `gradients` and `leave_one_out` compute;
`agreement` compares methods. The parts of an attention sub-layer are in `analysis/sublayer.py`.
"""

from transformer_core.analysis.attribution.agreement import Faithfulness as Faithfulness
from transformer_core.analysis.attribution.agreement import agreement as agreement
from transformer_core.analysis.attribution.agreement import faithfulness as faithfulness
from transformer_core.analysis.attribution.agreement import kendall_tau_b as kendall_tau_b
from transformer_core.analysis.attribution.agreement import mean_agreement as mean_agreement
from transformer_core.analysis.attribution.attribute import STEPS as STEPS
from transformer_core.analysis.attribution.attribute import attribute as attribute
from transformer_core.analysis.attribution.attribute import check_choice as check_choice
from transformer_core.analysis.attribution.methods import METHODS as METHODS
from transformer_core.analysis.attribution.methods import OF_TOKENS as OF_TOKENS
from transformer_core.analysis.attribution.methods import POINTS as POINTS
from transformer_core.analysis.attribution.methods import SHARES as SHARES
from transformer_core.analysis.attribution.methods import Attribution as Attribution
from transformer_core.analysis.attribution.methods import Contrast as Contrast
from transformer_core.analysis.attribution.methods import Method as Method
from transformer_core.analysis.attribution.mixing import cross_contributions as cross_contributions
