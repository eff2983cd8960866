"""deploy/: what can be checked without containers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.server.cluster_parts import configure_nginx, find_nginx
from viz_app.serving.settings import TEACHER_KEY_SETTING

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "deploy"


@pytest.mark.skipif(find_nginx() is None, reason="needs nginx: apt-get install nginx-light")
def test_nginx_accepts_its_configuration(tmp_path: Path) -> None:
    configure_nginx(tmp_path, 8080, [8501, 8502])
    command = [str(find_nginx()), "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(find_nginx() is None, reason="needs nginx: apt-get install nginx-light")
def test_nginx_accepts_the_lines_of_a_site(tmp_path: Path) -> None:
    server = f"server {{ listen 127.0.0.1:8080; include {FOLDER / 'site.conf'}; }}"
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/nginx.pid; error_log {tmp_path}/error.log; events {{}} http {{ {server} }}", encoding="utf-8"
    )
    command = [str(find_nginx()), "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_compose_publishes_the_proxy_only_and_to_this_machine() -> None:
    yaml = pytest.importorskip("yaml")
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    assert {name for name, service in services.items() if "ports" in service} == {"proxy"}
    assert services["proxy"]["ports"] == ["127.0.0.1:8080:80"]
    inner = {name for name, network in compose["networks"].items() if network.get("internal")}
    assert set(services["front"]["networks"]) | set(services["model"]["networks"]) <= inner
    assert "proxy" not in services["model"]["networks"] and "models" not in services["proxy"]["networks"]


def test_services_are_closed_and_their_images_pinned() -> None:
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
    for service in services.values():
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and not service.get("privileged")
        assert service["security_opt"] == ["no-new-privileges:true"]
    assert not any("cap_add" in services[name] for name in ("front", "model"))
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    images = [services["proxy"]["image"], re.findall(r"^FROM (\S+:\S+)", text, re.MULTILINE)[0]]
    assert all(re.search(r":\d+\.\d+\.\d+", image) for image in images), images
    (ci,) = re.findall(r"pip==\S+", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert ci in text and text.count("-c hashes.txt") == 2


def test_nothing_starts_without_a_teacher_key() -> None:
    """Compose ends with the message for `${NAME:?message}`; otherwise every visitor could open classes."""
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
    required = re.fullmatch(r"\$\{(\w+):\?(.+)\}", services["front"]["environment"][TEACHER_KEY_SETTING])
    assert required is not None and required[1] == TEACHER_KEY_SETTING and TEACHER_KEY_SETTING in required[2]


def test_values_and_images_are_those_that_are_there() -> None:
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
    template = (FOLDER / "nginx.conf.template").read_text(encoding="utf-8")
    assert set(re.findall(r"\$\{(\w+)\}", template)) == set(services["proxy"]["environment"])
    stages = set(re.findall(r"AS (\w+)", (FOLDER / "Dockerfile").read_text(encoding="utf-8")))
    assert {services[name]["build"]["target"] for name in ("front", "model")} <= stages
    for mounted in services["proxy"]["volumes"]:
        assert (FOLDER / mounted.split(":")[0]).is_file()
