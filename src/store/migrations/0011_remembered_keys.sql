-- For how long a key is remembered after the end of its run; null where that end frees it. What was taken so far was
-- promised to be free then.
alter table {keys} add column keep_ms bigint;

-- A dead run goes on holding its key, and has it when it is made live again.
alter table {dead_letters} add column key text;
