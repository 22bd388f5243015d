/**
 * Guards inside the database, for rows that move its clock: they judge by the clock of that very moment, also where
 * it is set back later and the stored instants could not tell.
 */
import { violationText } from "../support/history/violation-text.ts"
import type { World } from "./world.ts"

export interface Guards {
  /** Sets the clock of the server, and remembers where it was set back to. */
  readonly setClock: (aheadMs: number) => void
  readonly complaints: () => Promise<string[]>
}

/** A process that had read the old clock a moment before may write a moment after it was set back. */
const MOMENT_MS = 2_500
const MOST = 8

export async function postGuards(world: World): Promise<Guards> {
  const s = `"${world.schema}"`
  const setBackTo: number[] = []
  await world.talk.ask(`
    create table ${s}.guarded (what text not null, subject text not null, due_at timestamptz, at timestamptz not null);
    create function ${s}.guard_run() returns trigger language plpgsql as $$
    begin
      -- It has just come to be due: what became due before stays so, whatever the clock says later.
      if new.stage <> 'waiting' and (tg_op = 'INSERT' or old.stage = 'waiting')
        and new.due_at > clock_timestamp() + interval '1 millisecond' then
        insert into ${s}.guarded values ('early', new.id::text, new.due_at, clock_timestamp());
      end if;
      return new;
    end $$;
    create trigger guard_run before insert or update of stage on ${s}.runs
      for each row execute function ${s}.guard_run();
    create function ${s}.guard_fire() returns trigger language plpgsql as $$
    begin
      if new.generation = 1 and coalesce(new.due_at, new.last) > clock_timestamp() + interval '1 millisecond' then
        insert into ${s}.guarded values ('decided early', new.schedule::text, new.last, clock_timestamp());
      end if;
      return new;
    end $$;
    create trigger guard_fire before insert on ${s}.fires for each row execute function ${s}.guard_fire();
    create function ${s}.guard_cursor() returns trigger language plpgsql as $$
    begin
      if new.cursor < old.cursor then
        insert into ${s}.guarded values ('went back', new.name, old.cursor, clock_timestamp());
      end if;
      return new;
    end $$;
    create trigger guard_cursor before update of cursor on ${s}.schedules
      for each row execute function ${s}.guard_cursor();
  `)

  return {
    setClock: (aheadMs) => {
      const isBack = aheadMs < (world.clock?.aheadMs() ?? 0)
      world.clock?.set(aheadMs)
      if (isBack) setBackTo.push(Date.now() + aheadMs)
    },
    complaints: async () => {
      const rows = await world.talk.ask(
        `select what, subject, due_at, at, extract(epoch from at) * 1000 as at_ms from ${s}.guarded order by at`,
      )
      const isForgiven = (atMs: number) =>
        setBackTo.some((backMs) => atMs >= backMs && atMs < backMs + MOMENT_MS)
      const said = rows.flatMap(({ what, subject, due_at: due, at, at_ms: atMs }) => {
        if (what === "went back")
          return [violationText("I12", `schedule ${subject} went back from ${iso(due)}.`)]
        if (isForgiven(Number(atMs))) return []
        return [violationText("I10", `${subject} was ${what}: at ${iso(at)}, due at ${iso(due)}.`)]
      })
      return said.length > MOST ? [...said.slice(0, MOST), `... and ${said.length - MOST} more.`] : said
    },
  }
}

function iso(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value)
}
