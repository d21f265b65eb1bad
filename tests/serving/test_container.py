"""The image and its manifest: linted, valid, and in step with the server."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import kubernetes_validate
import yaml

from keras_attn.serving.__main__ import ENVIRONMENT
from keras_attn.serving.running import GRACEFUL_SECONDS
from keras_attn.serving.settings import Settings

ROOT = Path(__file__).parents[2]
KUBERNETES = "1.34"


def instructions():
    """Instructions of the last stage of the Dockerfile, by name."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    lines = [line.split(None, 1) for line in text.splitlines() if line and line[0] != "#"]
    starts = [i for i, (name, _) in enumerate(lines) if name == "FROM"]
    return dict(lines[starts[-1] :])


def test_the_image_has_what_the_server_needs():
    hadolint = [Path(sys.executable).with_name("hadolint"), ROOT / "Dockerfile"]
    found = subprocess.run(hadolint, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")
    text = (ROOT / "Dockerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE)
    for name in " ".join(copied).split():
        assert (ROOT / name).exists()
        assert f"!{name}" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    dockerfile = instructions()
    assert json.loads(dockerfile["ENTRYPOINT"]) == ["python", "-m", "keras_attn.serving"]
    assert int(dockerfile["USER"].split(":")[0]) > 0
    names = {ENVIRONMENT + field.name.upper() for field in dataclasses.fields(Settings)}
    assert set(re.findall(r"KERAS_ATTN_\w+", dockerfile["ENV"])) <= names


def test_the_health_check_of_the_image_asks_no_proxy_at_the_port_of_the_server(server):
    _, command = instructions()["HEALTHCHECK"].split("CMD ")
    program = [sys.executable, *json.loads(command)[1:]]
    proxy = {"http_proxy": "http://127.0.0.1:9"}
    for port, status in ((urlsplit(server).port, 0), (9, 1)):
        environment = {**os.environ, **proxy, "KERAS_ATTN_PORT": str(port)}
        assert subprocess.run(program, env=environment, capture_output=True).returncode == status


def test_the_manifest_is_valid_and_in_step_with_image_and_server():
    text = (ROOT / "examples" / "kubernetes" / "server.yaml").read_text("utf-8")
    manifest = {document["kind"]: document for document in yaml.safe_load_all(text)}
    for document in manifest.values():
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    pod = manifest["Deployment"]["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    dockerfile = instructions()

    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert sorted(ports.values()) == sorted(map(int, dockerfile["EXPOSE"].split()))
    assert {port["targetPort"] for port in manifest["Service"]["spec"]["ports"]} == ports.keys()
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/models", "/tmp"]
    assert json.loads(dockerfile["CMD"]) == ["/models"]
    labels = pod["metadata"]["labels"]
    assert labels == manifest["Service"]["spec"]["selector"]
    for kind in ("Deployment", "PodDisruptionBudget"):
        assert manifest[kind]["spec"]["selector"]["matchLabels"] == labels

    # The pod runs without rights on a file system that it can only read.
    user = pod["spec"]["securityContext"]["runAsUser"]
    assert dockerfile["USER"] == f"{user}:{user}"
    security = container["securityContext"]
    assert security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert {"cpu", "memory"} == container["resources"]["requests"].keys()
    assert "memory" in container["resources"]["limits"]

    # What these paths say is tested in `test_app.py`.
    probes = {name: one["httpGet"]["path"] for name, one in container.items() if "Probe" in name}
    ready, alive = "/healthz", "/livez"
    assert probes == {"startupProbe": ready, "readinessProbe": ready, "livenessProbe": alive}
    assert ready in dockerfile["HEALTHCHECK"]

    # Requests may finish; those of gRPC take `max_seconds` after those of HTTP.
    waits = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    seconds = waits + GRACEFUL_SECONDS + Settings().max_seconds
    assert pod["spec"]["terminationGracePeriodSeconds"] >= seconds
