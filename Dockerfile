# scrapyd with the crawler and its models: docs/how-to/deploy.md tells how to use it.
#   docker build -t bilingual-crawler .
#   docker build -t bilingual-crawler --build-arg CHROMIUM=1 .     (pages that need JavaScript)
ARG PYTHON=3.11

FROM python:${PYTHON}-slim-bookworm AS build
ARG CHROMIUM=0
WORKDIR /src
COPY pyproject.toml constraints.txt setup.py MANIFEST.in README.md LICENSE scrapy.cfg ./
COPY models ./models
COPY bilingual_crawler ./bilingual_crawler
# Every dependency has a wheel: nothing is compiled. What trains models (torch) stays out.
# The build tool is locked too, so it is installed first and no other one is fetched.
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONSTRAINT=/src/constraints.txt
RUN extras=concordance,cpu,deploy,metrics,parquet,plot,redis \
    && if [ "$CHROMIUM" = 1 ]; then extras="$extras,render"; fi \
    && python -m venv /venv \
    && /venv/bin/pip install setuptools \
    && /venv/bin/pip install --no-build-isolation ".[$extras]"

FROM python:${PYTHON}-slim-bookworm
ARG CHROMIUM=0
# Debian's newest Chromium: an older one has known holes.
# hadolint ignore=DL3008
RUN if [ "$CHROMIUM" = 1 ]; then \
        apt-get update \
        && apt-get install -y --no-install-recommends chromium \
        && rm -rf /var/lib/apt/lists/*; \
    fi
RUN useradd --uid 10001 --user-group --create-home --home-dir /data crawler
COPY --from=build /venv /venv
COPY deploy/scrapyd.conf /etc/scrapyd/scrapyd.conf
COPY deploy/image.conf /etc/scrapyd/conf.d/image.conf
COPY deploy/healthcheck.py /usr/local/lib/healthcheck.py
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    SCRAPY_SETTINGS_MODULE=bilingual_crawler.settings
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 6800
# Listens on loopback inside the container, unless SCRAPYD_BIND_ADDRESS says otherwise.
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s \
    CMD ["python", "/usr/local/lib/healthcheck.py"]
CMD ["scrapyd", "--pidfile="]
