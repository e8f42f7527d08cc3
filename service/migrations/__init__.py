"""The schema's versions, one .sql file each, applied in order by `service.migrate`."""
