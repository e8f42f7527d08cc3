"""Text from a run made fit to be shown: no control characters, no credentials, nothing that reads backwards."""

from __future__ import annotations

import re

# What XML 1.0 cannot carry, what a terminal would obey, and what turns the order of letters round.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_USERINFO = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@]+@")
# A token of seven characters or fewer is a fencing number, which a reader needs.
_NAMED = re.compile(
    r"(?i)(\b[\w-]*(?:password|passwd|secret)[\w-]*\s*[=:]\s*(?=[^\s,;&'\"])"
    r"|\b[\w-]*token[\w-]*\s*[=:]\s*(?=[^\s,;&'\"]{8}))[^\s,;&'\"]+"
)
_BEARER = re.compile(r"(?i)\bbearer\s+[\w.~+/-]+=*")
REDACTED = "[redacted]"


def clean(text: str) -> str:
    """Return `text` with control and direction characters replaced and credentials redacted.

    A second line of defence: the evidence is redacted where it is written.
    """
    text = _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))
    if "://" in text:
        text = _USERINFO.sub(rf"\g<scheme>{REDACTED}@", text)
    text = _BEARER.sub(f"Bearer {REDACTED}", text)
    return _NAMED.sub(rf"\g<1>{REDACTED}", text)


def one_line(text: str) -> str:
    """Return cleaned `text` with every run of white space made one blank."""
    return " ".join(clean(text).split())


def shorten(text: str, characters_max: int) -> str:
    """Return `text` cut to `characters_max`, the last one an ellipsis where something was cut."""
    return text if len(text) <= characters_max else text[: characters_max - 1] + "…"
