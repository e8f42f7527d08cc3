"""The reservation control plane: resources, holds, the waitlist and its offers, reservations."""
