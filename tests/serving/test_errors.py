from keras_attn.serving.errors import RequestError


def test_a_request_is_wrong_unless_something_else_is_said():
    error = RequestError("no")
    assert (error.status, error.headers, str(error)) == (400, {}, "no")


def test_when_to_try_again_is_a_header():
    assert RequestError("busy", retry_after=3).headers == {"Retry-After": "3"}
