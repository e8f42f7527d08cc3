"""compose.yaml and the Dockerfile hold together without a Docker engine to try them on."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.settings import Settings

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
JOBS = {"migrate"}
OURS = sorted(name for name, service in SERVICES.items() if "build" in service)
LOOPBACK_PORT = re.compile(r"127\.0\.0\.1:(\$\{[A-Z_]+:-\d+\}|\d+):\d+")
DEFAULTED = re.compile(r"\$\{[A-Z_]+:-([^}]*)\}")


def settled(text: str) -> str:
    """Fill in what Compose fills in where the environment says nothing."""
    return DEFAULTED.sub(r"\1", text)


def environment(service: str) -> dict[str, str]:
    return {name: settled(value) for name, value in SERVICES[service]["environment"].items()}


def test_the_parts_are_the_versions_that_the_bench_speaks_of() -> None:
    assert {name: service["image"] for name, service in SERVICES.items() if "build" not in service} == {
        "postgres": "postgres:18",
        "redis": "redis:8",
        "toxiproxy": "ghcr.io/shopify/toxiproxy:2.12.0",
    }


@pytest.mark.parametrize("name", SERVICES)
def test_every_port_is_bound_to_loopback(name: str) -> None:
    service = SERVICES[name]
    for port in service.get("ports", []):
        assert LOOPBACK_PORT.fullmatch(port), port
    if service.get("network_mode") == "host":
        assert "-host=127.0.0.1" in service["command"]


@pytest.mark.parametrize("name", sorted(set(SERVICES) - JOBS))
def test_everything_that_stays_up_says_whether_it_is_well(name: str) -> None:
    health = SERVICES[name]["healthcheck"]
    assert health["test"][0] in {"CMD", "CMD-SHELL"}
    assert health["retries"] > 0


@pytest.mark.parametrize("name", SERVICES)
def test_a_part_waits_for_parts_that_exist_and_can_meet_the_condition(name: str) -> None:
    for other, wait in SERVICES[name].get("depends_on", {}).items():
        assert other in SERVICES
        if wait["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[other]
        if wait["condition"] == "service_completed_successfully":
            assert other in JOBS


def test_postgres_keeps_its_data_where_the_image_of_18_has_it() -> None:
    mounts = [mount.split(":") for mount in SERVICES["postgres"]["volumes"]]
    assert [target for _, target in mounts] == ["/var/lib/postgresql"]
    assert {volume for volume, _ in mounts} == set(COMPOSE["volumes"])


def test_postgres_writes_a_trail() -> None:
    assert {"wal_level=logical", "track_commit_timestamp=on"} <= set(SERVICES["postgres"]["command"])


@pytest.mark.parametrize("name", OURS)
def test_a_command_names_a_module_that_exists(name: str) -> None:
    program, flag, module, *_ = SERVICES[name]["command"]
    assert (program, flag) == ("python", "-m")
    assert importlib.util.find_spec(module)


@pytest.mark.parametrize("name", OURS)
def test_the_service_takes_the_environment_as_its_settings(name: str) -> None:
    settings = Settings.from_env(environment(name))
    password = settled(SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD"])
    assert f":{password}@postgres:5432/" in settings.database_url


def test_every_secret_can_be_set_from_outside_and_its_default_says_that_it_is_local() -> None:
    secrets = [
        value
        for service in SERVICES.values()
        for name, value in service.get("environment", {}).items()
        if name.endswith(("PASSWORD", "SECRET", "DATABASE_URL"))
    ]
    assert secrets
    for secret in secrets:
        assert any("local-only" in default for default in DEFAULTED.findall(secret)), secret


def test_the_image_holds_every_package_of_the_wheel_and_runs_as_nobody_special() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    copied = {line.split()[1] for line in lines if re.fullmatch(r"COPY \w+ \w+", line)}
    assert copied == set(packages["packages"])
    assert "USER lastseat" in lines
    sent = set((ROOT / ".dockerignore").read_text().splitlines())
    assert {f"!{package}" for package in copied} <= sent
