-- Operations under a key that was sent more than once: few, and the only ones of which answers can be compared.
CREATE TABLE resent AS
WITH many AS (
    SELECT tenant, kind, key FROM operations WHERE key IS NOT NULL GROUP BY tenant, kind, key HAVING count(*) > 1
)
SELECT o.* FROM operations o SEMI JOIN many m ON m.key = o.key AND m.kind = o.kind AND m.tenant IS NOT DISTINCT FROM o.tenant;
