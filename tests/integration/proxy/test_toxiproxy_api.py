"""Toxiproxy 2.12's HTTP API, as the real server and the stand-in must both speak it."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from chaos.network import Link, Network

    class Api(Protocol):
        async def __call__(
            self, method: str, path: str, body: Any = None, **headers: str
        ) -> tuple[int, Any]: ...

    class Upstream(Protocol):
        address: str


async def test_the_version_is_told(network: Network) -> None:
    assert await network.version()


async def test_a_proxy_is_shown_as_it_was_made(api: Api, link: Link, upstream: Upstream) -> None:
    status, shown = await api("GET", f"/proxies/{link.name}")
    assert status == 200
    expected = {"name": link.name, "listen": link.address, "upstream": upstream.address, "enabled": True}
    assert expected.items() <= shown.items()
    assert shown["toxics"] == []


async def test_a_picked_port_is_told(link: Link) -> None:
    assert link.port > 0


async def test_a_proxy_may_start_disabled(api: Api) -> None:
    name = secrets.token_hex(4)
    status, shown = await api("POST", "/proxies", {"name": name, "upstream": "127.0.0.1:1", "enabled": False})
    assert (status, shown["enabled"]) == (201, False)
    assert (await api("DELETE", f"/proxies/{name}"))[0] == 204


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ("nonsense", 400, "bad request body"),
        ({"upstream": "127.0.0.1:1"}, 400, "missing required field: name"),
        ({"name": "x"}, 400, "missing required field: upstream"),
        ({"name": "x", "upstream": "127.0.0.1:1", "listen": "nonsense"}, 500, "missing port in address"),
    ],
)
async def test_a_bad_proxy_is_refused(api: Api, body: Any, status: int, error: str) -> None:
    answered, told = await api("POST", "/proxies", body)
    assert (answered, told["status"]) == (status, status)
    assert error in told["error"]


async def test_a_taken_name_is_refused(api: Api, link: Link) -> None:
    assert await api("POST", "/proxies", {"name": link.name, "upstream": "127.0.0.1:1"}) == (
        409,
        {"error": "proxy already exists", "status": 409},
    )


async def test_a_taken_port_is_refused(api: Api, link: Link) -> None:
    status, told = await api(
        "POST", "/proxies", {"name": "y", "upstream": "127.0.0.1:1", "listen": link.address}
    )
    assert status == 500
    assert "address already in use" in told["error"]


@pytest.mark.parametrize("path", ["/proxies/none", "/proxies/none/toxics"])
async def test_an_unknown_proxy_is_not_found(api: Api, path: str) -> None:
    assert await api("GET", path) == (404, {"error": "proxy not found", "status": 404})


@pytest.mark.parametrize("method", ["GET", "PATCH", "POST", "DELETE"])
async def test_an_unknown_toxic_is_not_found(api: Api, link: Link, method: str) -> None:
    body = None if method in {"GET", "DELETE"} else {}
    assert await api(method, f"/proxies/{link.name}/toxics/none", body) == (
        404,
        {"error": "toxic not found", "status": 404},
    )


async def test_a_toxic_has_defaults(api: Api, link: Link) -> None:
    status, shown = await api("POST", f"/proxies/{link.name}/toxics", {"type": "latency"})
    assert status == 200
    assert shown == {
        "attributes": {"latency": 0, "jitter": 0},
        "name": "latency_downstream",
        "type": "latency",
        "stream": "downstream",
        "toxicity": 1,
    }


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("latency", {"latency": 1, "jitter": 2}),
        ("bandwidth", {"rate": 3}),
        ("slow_close", {"delay": 4}),
        ("timeout", {"timeout": 5}),
        ("reset_peer", {"timeout": 6}),
        ("slicer", {"average_size": 7, "size_variation": 8, "delay": 9}),
        ("limit_data", {"bytes": 10}),
    ],
)
async def test_every_toxic_keeps_its_attributes(
    api: Api, link: Link, kind: str, attributes: dict[str, int]
) -> None:
    await api("POST", f"/proxies/{link.name}/toxics", {"type": kind, "name": "it", "attributes": attributes})
    _, shown = await api("GET", f"/proxies/{link.name}/toxics/it")
    assert shown["attributes"] == attributes


async def test_a_misspelt_attribute_is_taken_and_becomes_zero(api: Api, link: Link) -> None:
    body = {"type": "latency", "attributes": {"latancy": 100}}
    status, shown = await api("POST", f"/proxies/{link.name}/toxics", body)
    assert (status, shown["attributes"]["latency"]) == (200, 0)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"type": "lateness"}, "invalid toxic type"),
        ({"type": "latency", "stream": "sideways"}, "stream was invalid"),
        ({"type": "latency", "attributes": {"latency": "100"}}, "bad request body"),
        ("nonsense", "bad request body"),
    ],
)
async def test_a_bad_toxic_is_refused(api: Api, link: Link, body: Any, error: str) -> None:
    status, told = await api("POST", f"/proxies/{link.name}/toxics", body)
    assert (status, told["status"]) == (400, 400)
    assert error in told["error"]


async def test_a_taken_toxic_name_is_refused(api: Api, link: Link) -> None:
    await api("POST", f"/proxies/{link.name}/toxics", {"type": "latency"})
    assert await api("POST", f"/proxies/{link.name}/toxics", {"type": "latency"}) == (
        409,
        {"error": "toxic already exists", "status": 409},
    )


@pytest.mark.parametrize("method", ["PATCH", "POST"])
async def test_an_update_changes_only_what_it_names(api: Api, link: Link, method: str) -> None:
    body = {"type": "latency", "attributes": {"latency": 50, "jitter": 5}, "toxicity": 0.5}
    await api("POST", f"/proxies/{link.name}/toxics", body)
    path = f"/proxies/{link.name}/toxics/latency_downstream"
    status, shown = await api(method, path, {"attributes": {"jitter": 7}, "stream": "upstream"})
    assert status == 200
    assert shown["attributes"] == {"latency": 50, "jitter": 7}
    assert (shown["stream"], shown["toxicity"]) == ("downstream", 0.5)


async def test_upstream_toxics_are_listed_first(api: Api, link: Link) -> None:
    for stream in ("downstream", "upstream"):
        await api("POST", f"/proxies/{link.name}/toxics", {"type": "latency", "stream": stream})
    _, shown = await api("GET", f"/proxies/{link.name}/toxics")
    assert [toxic["stream"] for toxic in shown] == ["upstream", "downstream"]


@pytest.mark.parametrize("method", ["PATCH", "POST"])
async def test_a_proxy_keeps_its_port_and_toxics_while_disabled(api: Api, link: Link, method: str) -> None:
    await api("POST", f"/proxies/{link.name}/toxics", {"type": "latency"})
    await api(method, f"/proxies/{link.name}", {"enabled": False})
    status, shown = await api(method, f"/proxies/{link.name}", {"enabled": True})
    assert (status, shown["enabled"], shown["listen"]) == (200, True, link.address)
    assert len(shown["toxics"]) == 1


async def test_a_reset_enables_everything_and_removes_every_toxic(api: Api, link: Link) -> None:
    await api("POST", f"/proxies/{link.name}/toxics", {"type": "latency"})
    await api("PATCH", f"/proxies/{link.name}", {"enabled": False})
    assert await api("POST", "/reset") == (204, "")
    _, shown = await api("GET", f"/proxies/{link.name}")
    assert (shown["enabled"], shown["toxics"]) == (True, [])


async def test_populate_keeps_what_is_the_same_and_replaces_what_differs(api: Api, link: Link) -> None:
    same = {"name": link.name, "listen": link.address, "upstream": link.upstream}
    await api("POST", f"/proxies/{link.name}/toxics", {"type": "latency"})
    status, shown = await api("POST", "/populate", [same])
    assert (status, len(shown["proxies"][0]["toxics"])) == (201, 1)
    _, shown = await api("POST", "/populate", [same | {"upstream": "127.0.0.1:1"}])
    assert (shown["proxies"][0]["upstream"], shown["proxies"][0]["toxics"]) == ("127.0.0.1:1", [])


async def test_populate_refuses_all_when_one_lacks_a_field(api: Api) -> None:
    status, told = await api("POST", "/populate", [{"name": "a", "upstream": "127.0.0.1:1"}, {"name": "b"}])
    assert (status, told["error"]) == (400, "missing required field: upstream at proxy 2")
    assert (await api("GET", "/proxies/a"))[0] == 404


async def test_browsers_are_sent_away(api: Api) -> None:
    assert await api("GET", "/version", user_agent="Mozilla/5.0") == (403, "User agent not allowed")


async def test_unknown_paths_and_methods_are_refused(api: Api) -> None:
    assert (await api("GET", "/nowhere"))[0] == 404
    assert (await api("PUT", "/version"))[0] == 405
