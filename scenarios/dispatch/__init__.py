"""What runs inside a load process: gevent and httptools, yet no Locust, so that a test can drive it alone."""
