"""Run commands of the program as on Windows: the lines of JSON on the input, each a list of arguments."""

from __future__ import annotations

import json
import sys
import warnings

from tests.platforms.windows import OURS, imitate

if __name__ == "__main__":
    imitate()
    warnings.filterwarnings("error", category=EncodingWarning, module=rf"({'|'.join(OURS)})\b")
    from transformer_core.cli import main
    from viz_app.cli import HEADLIGHT

    lines = [json.loads(line) for line in sys.stdin]
    sys.exit(max(main(line, HEADLIGHT) for line in lines))
