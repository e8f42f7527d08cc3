"""The stand-in proxy: speaks Toxiproxy 2.12's HTTP API where the real server cannot be had.

Both pass one conformance suite, tests/integration/proxy/test_toxiproxy_conformance.py. What the stand-in leaves out:
metrics, the configuration file, and the hang of an API call whose removal blocks.
"""
