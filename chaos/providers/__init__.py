"""Provider simulators: parties outside the service that keep a ledger of every effect and misbehave as they are told."""
