# The web server and the workers of Twentyfold: one image, two commands (compose.yaml).
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_PYTHON_DOWNLOADS=never \
    TWENTYFOLD_DATA_DIR=/data

RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin twentyfold \
    && install --directory --owner=twentyfold --group=twentyfold --mode=0700 /data \
    && pip install --no-cache-dir uv

WORKDIR /app
# The pinned packages first: they change less often than the code.
COPY pyproject.toml ./
RUN uv sync --no-dev --no-cache
COPY manage.py ./
COPY runs ./runs
COPY inspector ./inspector
COPY templates ./templates
COPY static ./static

ENV PATH="/app/.venv/bin:$PATH"
USER twentyfold
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["uvicorn", "inspector.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--lifespan", "off", "--ws", "none", "--no-server-header", "--no-access-log"]
