from prometheus_client.parser import text_string_to_metric_families

from keras_attn.serving.metrics import Metrics


def samples(metrics):
    families = text_string_to_metric_families(metrics.page().decode())
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_requests_are_counted_by_kind_and_status_and_their_seconds_summed():
    metrics = Metrics()
    for status, seconds in ((200, 0.5), (200, 1.5), (400, 0.25)):
        metrics.answered("/v1/", status, seconds)
    found = samples(metrics)
    assert found["keras_attn_requests_total", "/v1/", "200"] == 2
    assert found["keras_attn_requests_total", "/v1/", "400"] == 1
    assert found["keras_attn_request_seconds_sum", "/v1/"] == 2.25


def test_two_servers_in_a_process_count_apart():
    one, other = Metrics(), Metrics()
    one.answered("/v1/", 200, 0.1)
    assert ("keras_attn_requests_total", "/v1/", "200") not in samples(other)
