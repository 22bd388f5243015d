/** Calendar: past and planned fires of all schedules on one axis, and how many fall together. */
import { withParams } from "../app/api.ts"
import { useDashboard } from "../app/dashboard.ts"
import { plural } from "../app/numbers.ts"
import type { CalendarEntry } from "../app/records.ts"
import { minuteText, weekdayText } from "../app/times.ts"
import { useQuery } from "../app/use-query.ts"
import { RankedBars } from "../parts/bars.tsx"
import { Button, IconButton } from "../parts/button.tsx"
import { LinkChoice } from "../parts/choice.tsx"
import { Loaded, Message, Panel } from "../parts/panel.tsx"
import { Lanes, LanesLegend } from "./calendar/lanes.tsx"
import { loadOf } from "./calendar/load.ts"

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const SPANS: Readonly<
  Record<string, { readonly text: string; readonly spanMs: number; readonly stepMs: number }>
> = {
  "6h": { text: "6 h", spanMs: 6 * HOUR_MS, stepMs: MINUTE_MS },
  day: { text: "Day", spanMs: 24 * HOUR_MS, stepMs: 5 * MINUTE_MS },
  week: { text: "Week", spanMs: 168 * HOUR_MS, stepMs: 30 * MINUTE_MS },
}
const DAY = { text: "Day", spanMs: 24 * HOUR_MS, stepMs: 5 * MINUTE_MS }
const BUSIEST = 5

export function CalendarPage() {
  const { router, nowMs, zone } = useDashboard()
  const { params } = router.place.value
  const key = params.get("span") ?? "day"
  const { spanMs, stepMs } = SPANS[key] ?? DAY
  const shift = Number(params.get("shift") ?? 0) || 0
  // A third of the window is past, so that what went wrong is still seen.
  const startMs =
    Math.floor((nowMs.value - spanMs / 3) / (10 * MINUTE_MS)) * 10 * MINUTE_MS + shift * (spanMs / 2)
  const endMs = startMs + spanMs
  const query = useQuery<{ readonly items: readonly CalendarEntry[]; readonly capped: boolean }>(
    withParams("/calendar", { from: new Date(startMs).toISOString(), to: new Date(endMs).toISOString() }),
    { everyMs: 15_000 },
  )
  const move = (by: number) => router.setParam("shift", shift + by === 0 ? undefined : String(shift + by))
  return (
    <div class="page">
      <div class="line wrap">
        <LinkChoice
          label="Span"
          options={Object.entries(SPANS).map(([name, { text }]) => ({
            to: "calendar",
            params: { span: name },
            text,
            current: name === key,
          }))}
        />
        <IconButton icon="left" label="Earlier" onPress={() => move(-1)} />
        <Button
          refusal={shift === 0 ? "This is now." : undefined}
          onPress={() => router.setParam("shift", undefined)}
        >
          Now
        </Button>
        <IconButton icon="right" label="Later" onPress={() => move(1)} />
        <span class="soft small">
          {query.data && plural(query.data.items.length, "schedule")}
          {query.data?.capped && ", the first by name"}
          {query.data?.items.some(({ capped }) => capped) &&
            " · of one that fires often, the first 500 fires count"}
        </span>
        <span class="end" />
        <LanesLegend />
      </div>
      <Loaded query={query} rows={10}>
        {({ items }) => {
          if (items.length === 0) {
            return (
              <Panel title="No schedules yet">
                <Message title="Nothing is planned">
                  <p>Schedules appear here with what they did and what they will do.</p>
                </Message>
              </Panel>
            )
          }
          const load = loadOf(items, startMs, endMs, stepMs)
          const busiest = load
            .filter(({ atMs, fires }) => atMs >= nowMs.value && fires > 1)
            .toSorted((a, b) => b.fires - a.fires)
            .slice(0, BUSIEST)
          const idle = items.filter(({ planned, fires }) => planned.length === 0 && fires.length === 0)
          return (
            <>
              <Lanes
                entries={items.filter((entry) => !idle.includes(entry))}
                load={load}
                fromMs={startMs}
                toMs={endMs}
                stepMs={stepMs}
              />
              <div class="two">
                <Panel
                  title={stepMs === MINUTE_MS ? "Busiest minutes" : `Busiest ${stepMs / MINUTE_MS} minutes`}
                  note="planned"
                >
                  {busiest.length === 0 ? (
                    <Message title="No two fires fall together" />
                  ) : (
                    <RankedBars
                      rows={busiest.map(({ atMs, fires, names }) => ({
                        key: String(atMs),
                        label: `${whenText(atMs, zone.value)} · ${names.slice(0, 3).join(", ")}`,
                        value: fires,
                        text: plural(fires, "fire"),
                      }))}
                    />
                  )}
                </Panel>
                <Panel title="Not in this window" note={String(idle.length)}>
                  <p class="soft">
                    {idle.length === 0
                      ? "Every schedule fires in this window."
                      : idle.map(({ name }) => name).join(", ")}
                  </p>
                </Panel>
              </div>
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

function whenText(ms: number, zone: string): string {
  return `${weekdayText(ms, zone)} ${minuteText(ms, zone)}`
}
