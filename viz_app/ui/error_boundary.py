"""Errors for visitors: the problem, the file, the way out; the stack trace goes to the log."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from transformer_core.attention_maps import MapsTooLarge
from transformer_core.storage.files import CheckpointError
from viz_app.serving.cluster.remote_decoder import ModelServerAway, OtherModel
from viz_app.serving.decoding.batching import DeadlineExceeded
from viz_app.serving.decoding.worker_processes import WorkerLost
from viz_app.serving.models.registry import ROOT, available_models, is_tracked
from viz_app.serving.scheduling.request_queue import QueueFull
from viz_app.serving.settings import SettingError
from viz_app.state.selected_model import selected_model
from viz_app.text import Texts

# Label and icon.
_DECODING_ERRORS: dict[type[Exception], tuple[str, str]] = {
    DeadlineExceeded: ("errors.deadline", "timer_off"),
    WorkerLost: ("errors.worker_lost", "restart_alt"),
    ModelServerAway: ("errors.model_server_away", "cloud_off"),
    OtherModel: ("errors.other_model", "cloud_off"),
}

_log = logging.getLogger(__name__)


@contextmanager
def error_boundary(t: Texts) -> Iterator[None]:
    """Show any error of the block as a message instead of a stack trace.

    Streamlit stops and reruns scripts by exceptions that are no `Exception`, so they pass.
    """
    try:
        yield
    except SettingError as error:
        _log.error("unusable setting: %s", error)
        st.error(f"**{t('errors.setting_title')}**", icon=":material/error:")
        st.code(str(error), language=None, wrap_lines=True)
        st.markdown(t("errors.setting_way_out"))
    except QueueFull:
        st.warning(t("errors.queue_full"), icon=":material/hourglass_top:")
    except tuple(_DECODING_ERRORS) as error:
        _log.error("%s", error)
        label, icon = _DECODING_ERRORS[type(error)]
        st.error(t(label), icon=f":material/{icon}:")
    except MapsTooLarge as error:
        _log.error("%s", error)
        needed, limit = (f"{size / 2**20:,.0f}" for size in (error.needed, error.limit))
        st.error(t("errors.maps_too_large", needed=needed, limit=limit), icon=":material/memory:")
    except CheckpointError as error:
        _log.error("the checkpoint cannot be loaded: %s", error)
        _show_checkpoint_error(t, error)
    except Exception:
        _log.exception("a page failed")
        st.error(f"**{t('errors.unexpected_title')}**", icon=":material/error:")
        st.markdown(t("errors.unexpected"))


def _show_checkpoint_error(t: Texts, error: CheckpointError) -> None:
    there = available_models()
    folder = there[selected_model()]
    st.error(f"**{t('errors.checkpoint_title')}**", icon=":material/error:")
    st.markdown(t("errors.checkpoint_damaged" if folder.is_dir() else "errors.checkpoint_missing"))
    st.code(error.in_folder if folder.is_dir() else folder.name, language=None, wrap_lines=True)
    if len(there) > 1:
        st.markdown(t("errors.checkpoint_other"))
    if is_tracked(folder):
        st.markdown(t("errors.checkpoint_way_out"))
        st.code(f"git checkout -- {shlex.quote(folder.resolve().relative_to(ROOT).as_posix())}", language=None)
    else:
        st.markdown(t("errors.checkpoint_own"))
