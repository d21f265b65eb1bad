"""The image and its manifest: linted, valid, and in step with the server."""

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from starlette.testclient import TestClient

from keras_attn.serving.__main__ import ENVIRONMENT
from keras_attn.serving.app import Server
from keras_attn.serving.running import GRACEFUL_SECONDS
from keras_attn.serving.settings import Settings

ROOT = Path(__file__).parents[2]
KUBERNETES = "1.34"


@pytest.fixture(scope="module")
def dockerfile():
    """Instructions of the last stage, by name."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    lines = [line.split(None, 1) for line in text.splitlines() if line and line[0] != "#"]
    starts = [i for i, (name, _) in enumerate(lines) if name == "FROM"]
    return dict(lines[starts[-1] :])


@pytest.fixture(scope="module")
def manifest():
    text = (ROOT / "examples" / "kubernetes" / "server.yaml").read_text("utf-8")
    return {document["kind"]: document for document in yaml.safe_load_all(text)}


@pytest.fixture(scope="module")
def container(manifest):
    (container,) = manifest["Deployment"]["spec"]["template"]["spec"]["containers"]
    return container


def test_hadolint_finds_nothing():
    found = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), ROOT / "Dockerfile"],
        capture_output=True,
        text=True,
    )
    assert (found.returncode, found.stdout) == (0, "")


def test_the_image_has_what_the_server_needs(dockerfile):
    text = (ROOT / "Dockerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE)
    for name in " ".join(copied).split():
        assert (ROOT / name).exists()
        assert f"!{name}" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert json.loads(dockerfile["ENTRYPOINT"]) == ["python", "-m", "keras_attn.serving"]
    assert int(dockerfile["USER"].split(":")[0]) > 0
    names = {ENVIRONMENT + field.name.upper() for field in dataclasses.fields(Settings)}
    assert set(re.findall(r"KERAS_ATTN_\w+", dockerfile["ENV"])) <= names


def test_the_manifest_is_valid(manifest):
    for document in manifest.values():
        kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_the_manifest_is_in_step_with_the_image(manifest, container, dockerfile):
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert sorted(ports.values()) == sorted(map(int, dockerfile["EXPOSE"].split()))
    assert {port["targetPort"] for port in manifest["Service"]["spec"]["ports"]} == ports.keys()
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/models", "/tmp"]
    assert json.loads(dockerfile["CMD"]) == ["/models"]
    pod = manifest["Deployment"]["spec"]["template"]
    user = pod["spec"]["securityContext"]["runAsUser"]
    assert dockerfile["USER"] == f"{user}:{user}"
    labels = pod["metadata"]["labels"]
    assert labels == manifest["Service"]["spec"]["selector"]
    for kind in ("Deployment", "PodDisruptionBudget"):
        assert manifest[kind]["spec"]["selector"]["matchLabels"] == labels


def test_the_pod_runs_without_rights_on_a_file_system_to_read(container):
    security = container["securityContext"]
    assert security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert {"cpu", "memory"} == container["resources"]["requests"].keys()
    assert "memory" in container["resources"]["limits"]


def test_the_probes_ask_paths_that_the_server_has(container, dockerfile, tmp_path):
    (tmp_path / "ja-en").mkdir()
    probes = [container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness")]
    with TestClient(Server(tmp_path / "ja-en", Settings()).app()) as client:
        # There is no model: the server is alive, and not ready.
        assert {client.get(path).status_code for path in probes} == {503}
        live = container["livenessProbe"]["httpGet"]["path"]
        assert client.get(live).status_code == 200
    assert probes[0] in dockerfile["HEALTHCHECK"]


def test_the_pod_may_finish_running_requests(manifest, container):
    pod = manifest["Deployment"]["spec"]["template"]["spec"]
    waits = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    most = Settings().max_seconds  # of gRPC, after those of HTTP
    assert pod["terminationGracePeriodSeconds"] >= waits + GRACEFUL_SECONDS + most
