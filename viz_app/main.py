"""Entry point of the app; start it with `python -m streamlit run viz_app/main.py`."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # Streamlit puts only this file's own folder there
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402
from starlette.middleware import Middleware  # noqa: E402
from streamlit import App  # noqa: E402

from viz_app.classroom.routes import class_routes  # noqa: E402
from viz_app.serving import streamlit_patches  # noqa: E402
from viz_app.serving.end_with_parent import end_with_parent  # noqa: E402
from viz_app.serving.scheduling.visitor import current_visitor  # noqa: E402
from viz_app.serving.web.cookie_middleware import BrowserCookie  # noqa: E402
from viz_app.serving.web.health import health  # noqa: E402
from viz_app.serving.web.log_format import limit_traces, use_log_setting  # noqa: E402
from viz_app.serving.web.middleware import MAX_MESSAGE_BYTES, Guard  # noqa: E402
from viz_app.serving.web.page_addresses import PageAddresses  # noqa: E402
from viz_app.serving.web.page_routes import page_routes  # noqa: E402
from viz_app.serving.web.warm_up import warm_up  # noqa: E402

end_with_parent()
use_log_setting()
limit_traces(current_visitor)
streamlit_patches.limit_incoming(MAX_MESSAGE_BYTES)
streamlit_patches.limit_heads()
streamlit_patches.disable_external_ip_lookup()
streamlit_patches.leave_hosts_to_the_guard()
base = st.get_option("server.baseUrlPath") or ""
routes = [*class_routes(base), *health.routes(), *page_routes(base, ROOT / "viz_app" / "frame.css")]
guards = [Middleware(Guard), Middleware(BrowserCookie), Middleware(PageAddresses, base=base)]
app = App(ROOT / "viz_app" / "page_script.py", routes=routes, middleware=guards, lifespan=warm_up)
