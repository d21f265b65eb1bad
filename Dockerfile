# Image of the server, without a model:
#   docker build -t keras-attn .
#   docker run --read-only --tmpfs /tmp -p 8501:8501 -v "$PWD/saved_models:/models:ro" keras-attn
# It runs as a user without rights and writes to /tmp only.
FROM python:3.12-slim AS build
WORKDIR /source
COPY setup.cfg pyproject.toml README.md LICENSE ./
COPY keras_attn keras_attn
COPY data data
RUN python -m venv /server && /server/bin/pip install --no-cache-dir ".[serving]"

FROM python:3.12-slim
COPY --from=build /server /server
ENV PATH=/server/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    KERAS_ATTN_HOST=0.0.0.0 \
    KERAS_ATTN_PORT=8501 \
    KERAS_ATTN_GRPC_PORT=8500
USER 65532:65532
EXPOSE 8501 8500
# Healthy once the models are warm, which takes up to a minute each. No proxy is asked.
HEALTHCHECK --interval=10s --timeout=5s --start-period=300s \
    CMD ["python", "-c", "import http.client as h, os; \
         c = h.HTTPConnection('127.0.0.1', int(os.environ['KERAS_ATTN_PORT']), timeout=4); \
         c.request('GET', '/healthz'); exit(c.getresponse().status != 200)"]
ENTRYPOINT ["python", "-m", "keras_attn.serving"]
CMD ["/models"]
