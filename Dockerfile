# The reference service: one image for its nodes and for the migration.
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN python -m venv /opt/lastseat \
    && /opt/lastseat/bin/pip install --no-cache-dir --only-binary=:all: --constraint constraints.txt \
       --upgrade pip hatchling editables
COPY service service
COPY scenarios scenarios
COPY chaos chaos
COPY checker checker
COPY reports reports
COPY lastseat lastseat
RUN /opt/lastseat/bin/pip install --no-cache-dir --only-binary=:all: --constraint constraints.txt \
    --no-build-isolation .

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin lastseat
COPY --from=build /opt/lastseat /opt/lastseat
ENV PATH=/opt/lastseat/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /opt/lastseat
USER lastseat
EXPOSE 8080
CMD ["python", "-m", "service.node", "--host", "0.0.0.0", "--port", "8080"]
