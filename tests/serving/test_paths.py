import pytest

from keras_attn.serving.errors import RequestError
from keras_attn.serving.paths import allowed, parse


@pytest.mark.parametrize(
    ("method", "path", "verb", "version"),
    [
        ("GET", "/v1/models/ja-en", "status", None),
        ("HEAD", "/v1/models/ja-en", "status", None),
        ("GET", "/v1/models/ja-en/versions/12", "status", 12),
        ("GET", "/v1/models/ja-en/metadata", "metadata", None),
        ("GET", "/v1/models/ja-en/versions/1/metadata", "metadata", 1),
        ("POST", "/v1/models/ja-en:predict", "predict", None),
        ("POST", "/V1/Models/ja%2Den/Versions/3:Predict", "predict", 3),
        ("POST", "/v1/models/ja-en:classify", "classify", None),
    ],
)
def test_paths_of_the_api(method, path, verb, version):
    assert parse(method, path, {"de-en", "ja-en"}) == (verb, "ja-en", version)


@pytest.mark.parametrize(
    ("method", "path", "status", "says"),
    [
        ("GET", "/v1/models", 400, "Malformed request: GET /v1/models"),
        ("GET", "/v1/models/ja-en:predict", 400, "Malformed request"),
        ("POST", "/v1/models/ja-en", 400, "Malformed request: POST /v1/models/ja-en"),
        ("POST", "/v1/models/ja-en:predict/", 400, "Malformed request"),
        ("POST", "/v1/models/../ja-en:predict", 400, "Malformed request"),
        ("POST", "/v1/models/ja-en/versions/-1:predict", 400, "Malformed request"),
        ("PUT", "/v1/models/ja-en", 400, "Malformed request: PUT"),
        ("POST", f"/v1/models/ja-en/versions/{2**63}:predict", 400, "Failed to convert version"),
        ("POST", "/v1/models/half:predict", 404, "Servable not found for request: Latest(half)"),
        (
            "POST",
            "/v1/models/..%2F..%2Fetc/versions/3:predict",
            404,
            "Servable not found for request: Specific(../../etc, 3)",
        ),
        ("GET", "/v1/models/half", 404, "Could not find any versions of model half"),
        ("GET", "/v1/models/half/metadata", 404, "Servable not found for request: Latest(half)"),
        (
            "POST",
            "/v1/models/ja-en/labels/stable:predict",
            400,
            "Unrecognized servable version label: stable",
        ),
    ],
)
def test_other_paths_are_refused(method, path, status, says):
    with pytest.raises(RequestError) as caught:
        parse(method, path, {"ja-en"})
    assert caught.value.status == status
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/models/ja-en:predict", "POST, OPTIONS"),
        ("/v1/models/ja-en/versions/1:predict", "POST, OPTIONS"),
        ("/v1/models/ja-en", "GET, HEAD, OPTIONS"),
        ("/v1/models/ja-en/metadata", "GET, HEAD, OPTIONS"),
    ],
)
def test_the_methods_of_a_path(path, methods):
    assert allowed(path) == methods
