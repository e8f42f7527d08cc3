-- The reservation control plane: every quantity, state, owner and stored answer.

CREATE FUNCTION refuse_illegal_move() RETURNS trigger LANGUAGE plpgsql AS $$
-- Arguments are the legal moves, 'FROM>TO'; a state that is no move's source is terminal, and its rows never change.
BEGIN
    IF OLD.state || '>' || NEW.state = ANY (TG_ARGV) THEN
        RETURN NEW;
    END IF;
    IF OLD.state = NEW.state AND EXISTS (SELECT FROM unnest(TG_ARGV) AS move WHERE move LIKE OLD.state || '>%') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% row %: % may not become %', TG_TABLE_NAME, OLD.id, OLD.state, NEW.state
        USING ERRCODE = 'check_violation';
END $$;

CREATE TABLE resources (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    code text NOT NULL,
    capacity bigint NOT NULL,
    occupied_count bigint NOT NULL DEFAULT 0,
    revision bigint NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'CLOSED')),
    policy_version bigint NOT NULL DEFAULT 1,
    hold_ttl interval NOT NULL CHECK (hold_ttl > interval '0'),
    offer_ttl interval NOT NULL CHECK (offer_ttl > interval '0'),
    per_owner_limit bigint CHECK (per_owner_limit > 0),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (tenant, code),
    CONSTRAINT resources_never_oversold CHECK (0 <= occupied_count AND occupied_count <= capacity)
) WITH (fillfactor = 50);

CREATE TABLE holds (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    resource_id bigint NOT NULL REFERENCES resources,
    owner_digest text NOT NULL,
    idempotency_key text NOT NULL,
    quantity bigint NOT NULL CHECK (quantity > 0),
    state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'CONFIRMED', 'CANCELLED', 'EXPIRED')),
    revision bigint NOT NULL DEFAULT 0,
    policy_version bigint NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    swept_by_term bigint,
    CHECK ((state = 'ACTIVE') = (ended_at IS NULL))
);
CREATE INDEX holds_due ON holds (expires_at, resource_id) WHERE state = 'ACTIVE';
CREATE INDEX holds_live ON holds (resource_id, owner_digest) WHERE state = 'ACTIVE';

CREATE SEQUENCE waitlist_seq;
CREATE TABLE waitlist_entries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    resource_id bigint NOT NULL REFERENCES resources,
    seq bigint NOT NULL,
    owner_digest text NOT NULL,
    idempotency_key text NOT NULL,
    state text NOT NULL DEFAULT 'WAITING'
        CHECK (state IN ('WAITING', 'OFFERED', 'ACCEPTED', 'DECLINED', 'EXPIRED', 'LEFT')),
    revision bigint NOT NULL DEFAULT 0,
    reason text CHECK (reason IN ('LEFT', 'CLOSED')),
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    UNIQUE (resource_id, seq),
    CHECK ((state IN ('WAITING', 'OFFERED')) = (ended_at IS NULL)),
    CHECK ((state = 'LEFT') = (reason IS NOT NULL))
);
CREATE INDEX waitlist_line ON waitlist_entries (resource_id, seq) WHERE state = 'WAITING';

CREATE TABLE offers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    resource_id bigint NOT NULL REFERENCES resources,
    entry_id bigint NOT NULL UNIQUE REFERENCES waitlist_entries,
    owner_digest text NOT NULL,
    state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ACCEPTED', 'DECLINED', 'EXPIRED')),
    revision bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    swept_by_term bigint,
    CHECK ((state = 'ACTIVE') = (ended_at IS NULL))
);
CREATE INDEX offers_due ON offers (expires_at, resource_id) WHERE state = 'ACTIVE';
CREATE INDEX offers_live ON offers (resource_id, owner_digest) WHERE state = 'ACTIVE';

CREATE TABLE reservations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    resource_id bigint NOT NULL REFERENCES resources,
    hold_id bigint UNIQUE REFERENCES holds,
    offer_id bigint UNIQUE REFERENCES offers,
    owner_digest text NOT NULL,
    quantity bigint NOT NULL CHECK (quantity > 0),
    state text NOT NULL DEFAULT 'CONFIRMED' CHECK (state IN ('CONFIRMED', 'CANCELLED')),
    revision bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    CHECK (num_nonnulls(hold_id, offer_id) = 1),
    CHECK ((state = 'CONFIRMED') = (ended_at IS NULL))
);
CREATE INDEX reservations_live ON reservations (resource_id, owner_digest) WHERE state = 'CONFIRMED';

CREATE TABLE idempotency_records (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    owner_token text NOT NULL,
    lease_expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (tenant, operation, key)
);

-- A record with an answer is settled for ever: answers are inserted once and never updated.
CREATE TABLE idempotency_answers (
    record_id bigint PRIMARY KEY REFERENCES idempotency_records,
    status smallint NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE notification_outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    delivery_id text NOT NULL UNIQUE,
    kind text NOT NULL,
    payload text NOT NULL,
    state text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'CLAIMED', 'DELIVERED', 'EXHAUSTED')),
    attempt_count bigint NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    claim_token text,
    claim_expires_at timestamptz,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    CHECK ((state = 'PENDING') = (next_attempt_at IS NOT NULL)),
    CHECK ((state = 'CLAIMED') = (claim_token IS NOT NULL)),
    CHECK ((state = 'CLAIMED') = (claim_expires_at IS NOT NULL)),
    CHECK ((state IN ('DELIVERED', 'EXHAUSTED')) = (ended_at IS NOT NULL))
);
CREATE INDEX outbox_due ON notification_outbox (next_attempt_at, id) WHERE state = 'PENDING';
CREATE INDEX outbox_claimed ON notification_outbox (claim_expires_at, id) WHERE state = 'CLAIMED';

CREATE TABLE leader_leases (
    slot text PRIMARY KEY,
    holder text NOT NULL,
    term bigint NOT NULL CHECK (term > 0),
    expires_at timestamptz NOT NULL
);

CREATE TRIGGER resources_moves BEFORE UPDATE ON resources
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION refuse_illegal_move('OPEN>CLOSED');
CREATE TRIGGER holds_moves BEFORE UPDATE ON holds FOR EACH ROW
    EXECUTE FUNCTION refuse_illegal_move('ACTIVE>CONFIRMED', 'ACTIVE>CANCELLED', 'ACTIVE>EXPIRED');
CREATE TRIGGER reservations_moves BEFORE UPDATE ON reservations FOR EACH ROW
    EXECUTE FUNCTION refuse_illegal_move('CONFIRMED>CANCELLED');
CREATE TRIGGER waitlist_entries_moves BEFORE UPDATE ON waitlist_entries FOR EACH ROW
    EXECUTE FUNCTION refuse_illegal_move(
        'WAITING>OFFERED', 'WAITING>LEFT', 'OFFERED>ACCEPTED', 'OFFERED>DECLINED', 'OFFERED>EXPIRED');
CREATE TRIGGER offers_moves BEFORE UPDATE ON offers FOR EACH ROW
    EXECUTE FUNCTION refuse_illegal_move('ACTIVE>ACCEPTED', 'ACTIVE>DECLINED', 'ACTIVE>EXPIRED');
CREATE TRIGGER notification_outbox_moves BEFORE UPDATE ON notification_outbox FOR EACH ROW
    EXECUTE FUNCTION refuse_illegal_move(
        'PENDING>CLAIMED', 'CLAIMED>DELIVERED', 'CLAIMED>PENDING', 'CLAIMED>CLAIMED', 'CLAIMED>EXHAUSTED');

-- Old rows in full, so that the trail of changes can be read without a history of the readers' own.
ALTER TABLE resources REPLICA IDENTITY FULL;
ALTER TABLE holds REPLICA IDENTITY FULL;
ALTER TABLE waitlist_entries REPLICA IDENTITY FULL;
ALTER TABLE offers REPLICA IDENTITY FULL;
ALTER TABLE reservations REPLICA IDENTITY FULL;
ALTER TABLE idempotency_records REPLICA IDENTITY FULL;
ALTER TABLE idempotency_answers REPLICA IDENTITY FULL;
ALTER TABLE notification_outbox REPLICA IDENTITY FULL;
ALTER TABLE leader_leases REPLICA IDENTITY FULL;
