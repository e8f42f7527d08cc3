-- name: of_owner
-- Counts what an owner has of a resource or may yet be given: holds, offers, reservations and places in the line.
-- Asked in a statement after the lock on the resource, or of two holds at once each would miss the other.
SELECT coalesce((SELECT sum(quantity) FROM holds
                 WHERE resource_id = :resource AND owner_digest = :owner AND state = 'ACTIVE'), 0)::bigint
     + coalesce((SELECT sum(quantity) FROM reservations
                 WHERE resource_id = :resource AND owner_digest = :owner AND state = 'CONFIRMED'), 0)::bigint
     + (SELECT count(*) FROM offers WHERE resource_id = :resource AND owner_digest = :owner AND state = 'ACTIVE')
     + (SELECT count(*) FROM waitlist_entries
        WHERE resource_id = :resource AND owner_digest = :owner AND state = 'WAITING')
