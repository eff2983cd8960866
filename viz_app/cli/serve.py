"""Serve the model to the front ends of an app on several machines; Ctrl-C ends it.

It needs Ray: pip install 'headlight[cluster]'

Front ends are started with --model-server. Every machine that reaches the port can have sentences decoded, so let
only front ends reach it. RAY_ADDRESS joins a cluster of several machines; see docs/serving.md.

Example:
  python -m viz_app serve --replicas 2
  python -m viz_app app --model-server http://127.0.0.1:8000
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import threading

from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.storage.bundled_models import SHIPPED
from viz_app.cli.app import MAX_PORT, check_free


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_number("--replicas", 1, "Processes that hold the model.")
    parser.add_checkpoint(default=str(SHIPPED / "en-de"))
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="Where it listens.")
    parser.add_number("--port", 8000, "Its port.", most=MAX_PORT)
    about = "GPUs of each process; 0.5 shares one between two, 0 decodes on the CPU."
    parser.add_argument("--gpus-per-replica", type=float, default=0.0, metavar="X", help=about)


def run(options: Options) -> int:
    """Start the server and wait for its end."""
    if not 0 <= options.gpus_per_replica < float("inf"):
        raise UsageError(f"--gpus-per-replica is {options.gpus_per_replica}, but must be 0 or more")
    if importlib.util.find_spec("ray") is None:
        raise UsageError("serve needs Ray: pip install 'headlight[cluster]'")
    check_free(options.host, options.port)
    import ray

    from viz_app.serving.cluster import model_server

    ended = threading.Event()
    try:
        model_server.start(
            model_server.ServerOptions(
                checkpoint=options.checkpoint,
                replicas=options.replicas,
                gpus_per_replica=options.gpus_per_replica,
                host=options.host,
                port=options.port,
            )
        )
        signal.signal(signal.SIGTERM, lambda *_: ended.set())  # Ray has its own, which ends without a word to others
        sys.stdout.write(f"Model server: http://{options.host}:{options.port}\n")
        sys.stdout.flush()
        while not ended.wait(1.0):  # Ctrl-C interrupts a wait that ends
            if not any(node["Alive"] for node in ray.nodes()):  # nothing answers, and nothing starts one
                sys.stderr.write("error: Ray's node has ended, as after a lack of memory; start the server again\n")
                os._exit(1)  # an orderly end would wait for the node
    except KeyboardInterrupt:
        pass
    finally:
        model_server.stop()
    return 0
