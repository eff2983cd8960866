"""Button that opens the app to the class: it starts a second server. Only on the teacher's own computer."""

from __future__ import annotations

import streamlit as st

from viz_app.components.share import share_code
from viz_app.serving.class_server import NoFreePort, class_server
from viz_app.serving.scheduling.visitor import is_own_computer
from viz_app.serving.server_address import is_loopback
from viz_app.state import session
from viz_app.state.share_link import lan_address
from viz_app.text import Texts
from viz_app.ui.share_menu import code_data

_PROBLEM = "class_server_problem"  # name of the sentence that says why none was started


def may_open() -> bool:
    """Tell whether this visitor may start a server: only one on this computer, to which this server is open alone."""
    return is_loopback(str(st.get_option("server.address"))) and is_own_computer()


def draw_second_server(t: Texts) -> bool:
    """Draw the button, or the address of the server that it has started; return whether there is one."""
    state = class_server().state
    if state in ("starting", "open"):
        _follow(t)
        return True
    st.markdown(f"**{t('classroom.server')}** {t('classroom.server_about')}")
    is_alone = lan_address() is None
    problem = st.session_state.get(_PROBLEM) or ("server_failed" if state == "failed" else None)
    if is_alone:
        st.warning(t("classroom.server_no_network"), icon=":material/wifi_off:")
    elif problem:
        st.error(t(f"classroom.{problem}"), icon=":material/error:")
    label, icon = t("classroom.server_start"), ":material/wifi_tethering:"
    start = session.enqueue_callback(_start)
    st.button(label, key="class-server-start", type="primary", icon=icon, on_click=start, disabled=is_alone)
    return False


@st.fragment(run_every=2.0)
def _follow(t: Texts) -> None:
    """Draw the address as soon as the server answers, and a button to end it."""
    server = class_server()
    state, port = server.state, server.port
    if state in ("off", "failed"):
        st.rerun()
    if state == "open":
        address = f"http://{lan_address() or 'localhost'}:{port}"
        st.markdown(t("classroom.server_open"))
        st.code(address, language=None)
        share_code(code_data(t, f"{address}/classroom"), key="class-server-code")
    else:
        st.markdown(f":material/hourglass_top: {t('classroom.server_starting')}")
    with st.container(horizontal=True):
        if state == "open":
            here = f"http://localhost:{port}/classroom?lang={t.language}"
            st.link_button(t("classroom.server_teach"), here, type="primary", icon=":material/groups:")
        st.button(t("classroom.server_stop"), key="class-server-stop", icon=":material/close:", on_click=_stop)


def _start() -> None:
    """For `enqueue_callback`: start the server, if this visitor may."""
    st.session_state[_PROBLEM] = None
    try:
        if may_open():
            class_server().start(int(st.get_option("server.port")))
    except NoFreePort:
        st.session_state[_PROBLEM] = "server_no_port"


def _stop() -> None:
    if may_open():
        class_server().stop()
