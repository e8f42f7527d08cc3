-- Every change of a row of the reservation tables, in the order in which it was made: changes of one resource are made
-- under its lock, so that for one resource this order is the order of the commits.
CREATE TABLE witnessed (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    relation text NOT NULL,
    resource bigint NOT NULL,
    transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
    owner text,
    was jsonb,
    became jsonb
);
CREATE INDEX witnessed_of ON witnessed (resource, id);

CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    became jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    shown jsonb := coalesce(became, was);
BEGIN
    INSERT INTO witnessed (relation, resource, owner, was, became)
    VALUES (TG_TABLE_NAME, coalesce(shown->>'resource_id', shown->>'id')::bigint, shown->>'owner_digest', was, became);
    RETURN NULL;
END $$;

CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON resources FOR EACH ROW EXECUTE FUNCTION witness();
CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON holds FOR EACH ROW EXECUTE FUNCTION witness();
CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON reservations FOR EACH ROW EXECUTE FUNCTION witness();
CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON waitlist_entries FOR EACH ROW EXECUTE FUNCTION witness();
CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON offers FOR EACH ROW EXECUTE FUNCTION witness();
