-- Which process holds a lease, as others on the same host can check: where its pid counts, and when it was started.
-- Null where that cannot be known.
alter table {workers}
  add column home text,
  add column born text;
