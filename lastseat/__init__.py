"""The runner: starts the lab, plays a scenario, gathers the evidence and asks for the verdict."""
