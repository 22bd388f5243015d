/** What the statements that end pauses share: the entries of the pauses in `removed` in the audit record. */
export const recordEnds = `recorded as (
    insert into {audit} (at, actor, action, subject, reason, before)
    select {now}, @actor, kind || '.resumed', kind || case when name = '' then '' else ':' || name end, @reason,
      to_json(removed)
    from removed
  )`
