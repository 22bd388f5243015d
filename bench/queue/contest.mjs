/**
 * Runs a part: every variant of it with every contender, in turns and repeatedly, so that a slow moment of the machine
 * hits all of them. A contender that fails is named and the others go on.
 */
import { inTurn, median, percentile, round, spreadOf } from "../tools/measure.mjs"
import { nodeVersion } from "../tools/peers.mjs"
import { SHARE } from "../tools/quiet.mjs"
import { gather, versionsOf } from "./contenders.mjs"
import { openPlaces } from "./places.mjs"
import { judge, printContest } from "./print.mjs"
import { FULL, QUICK, SMALL } from "./sizes.mjs"

/** Digits of the figures that are kept. */
const DIGITS = 4

/**
 * With `quick` little is measured; with `untilMs` as well, only what has begun by then: the rest is named and left out.
 */
export async function contest(part, { quick = false, only, among = () => true, untilMs } = {}) {
  const sizes = !quick ? FULL : untilMs === undefined ? SMALL : QUICK
  const { present, missing } = await gather(only)
  // Within two minutes there is no time for settings.
  const isShort = untilMs !== undefined
  const invited = present.filter(among).filter(({ name }) => !(isShort && name === "carillon-default"))
  const contenders = invited.filter((contender) => takesPart(part, contender, sizes))
  const places = await openPlaces(
    contenders.map(({ on }) => on),
    part.server,
  )
  try {
    const variants = variantsOf(part, sizes)
    const about = {
      contenderNode: nodeVersion(),
      versions: versionsOf(contenders),
      missing,
      leftOut: leftOutOf(part, invited, variants),
      servers: places.settings,
      rounds: sizes[part.name]?.rounds ?? sizes.rounds,
      peerRounds: sizes[part.name]?.peerRounds ?? sizes[part.name]?.rounds ?? sizes.rounds,
      sizes: sizes[part.name],
      contenders: Object.fromEntries(
        contenders.map((contender) => [
          contender.name,
          {
            ...describe(part, contender, variants),
            // Where no number of jobs is given, each contender has as many as there is time for.
            share: sizes[part.name]?.count === undefined ? 1 : (contender.share ?? 1),
            rounds: roundsOf(part, sizes, contender),
          },
        ]),
      ),
    }
    console.log(`\n${part.title}`)
    describeAll(about)
    const measured = await measureAll({ part, places, contenders, variants, sizes, quick, untilMs })
    const figures = summarise(part, variants, measured)
    const verdicts = judge(part, { figures, contenders: about.contenders, missing })
    const isDisturbed = measured.some(({ result }) => result?.others > SHARE)
    const results = {
      isDisturbed,
      ...about,
      variants,
      figures,
      verdicts,
      measured: measured.map(withoutSamples),
    }
    printContest(part, results)
    if (isDisturbed) console.warn("\nDISTURBED: others used the machine meanwhile. Not to be published.")
    return results
  } finally {
    await places.stop()
  }
}

async function measureAll({ part, places, contenders, variants, sizes, quick, untilMs }) {
  const measured = []
  for (let round = 0; round < sizes.rounds; round += 1) {
    for (const [index, [variant, facts]] of Object.entries(variants).entries()) {
      for (const contender of inTurn(contenders, round + index)) {
        const settings = part.settingsOf(contender, facts)
        if (settings === undefined || round >= roundsOf(part, sizes, contender)) continue
        if (untilMs !== undefined && performance.now() > untilMs) {
          console.warn(`LEFT OUT for lack of time: ${facts.title}, ${contender.title}`)
          continue
        }
        const outcome = await attempt(() =>
          // A quick look does not wait for an idle machine.
          (quick ? places.withPlace : places.withQuietPlace)(contender, (place) =>
            part.measure({ contender, settings, place, mostMs: sizes.childMs }, facts, sizes),
          ),
        )
        measured.push({ round: round + 1, variant, contender: contender.name, ...outcome })
        say(part, { number: round + 1, variant: facts.title, contender, outcome })
      }
    }
  }
  return measured
}

/** All of them, unless the sizes choose some. */
function variantsOf({ name, variants }, sizes) {
  const all = variants(sizes)
  const chosen = sizes[name]?.variants ?? Object.keys(all)
  return Object.fromEntries(chosen.map((variant) => [variant, all[variant]]))
}

/** Who is not measured in which variants, where that needs an explanation. */
function leftOutOf({ settingsOf, whyNot }, invited, variants) {
  const found = invited.flatMap((contender) =>
    Object.values(variants)
      .filter((facts) => settingsOf(contender, facts) === undefined)
      .flatMap((facts) => {
        const because = whyNot?.(contender, facts)
        return because === undefined ? [] : [{ contender: contender.title, variant: facts.title, because }]
      }),
  )
  for (const { contender, variant, because } of found)
    console.warn(`LEFT OUT: ${variant}, ${contender}: ${because}`)
  return found
}

/** Who has settings for none of the variants is not meant to. */
function takesPart(part, contender, sizes) {
  return Object.values(variantsOf(part, sizes)).some(
    (facts) => part.settingsOf(contender, facts) !== undefined,
  )
}

/** Long parts have fewer rounds for contenders without a target, and one for contenders that are far behind. */
function roundsOf({ name }, sizes, contender) {
  const { rounds = sizes.rounds, peerRounds = rounds } = sizes[name] ?? {}
  if (contender.name === "carillon") return rounds
  return contender.farBehindIn?.includes(name) ? Math.min(1, peerRounds) : peerRounds
}

async function attempt(measure) {
  try {
    return { result: await measure() }
  } catch (error) {
    return { failure: error.message }
  }
}

/** For each variant and contender the medians of all that was counted, with the least and the most of the figures. */
function summarise(part, variants, measured) {
  return Object.fromEntries(
    Object.keys(variants).map((variant) => {
      const here = measured.filter((each) => each.variant === variant)
      const names = [...new Set(here.map(({ contender }) => contender))]
      return [variant, Object.fromEntries(names.map((name) => [name, figuresOf(part, here, name)]))]
    }),
  )
}

function figuresOf(part, here, name) {
  const mine = here.filter(({ contender }) => contender === name)
  const results = mine.flatMap(({ result }) => result ?? [])
  const failures = mine.flatMap(({ failure }) => failure ?? [])
  if (results.length === 0) return { failure: failures[0] }
  const costs = Object.fromEntries(
    Object.keys(results[0].costs ?? {}).map((key) => [key, middle(results.map((each) => each.costs[key]))]),
  )
  const figures = part.figures
    .filter(({ key }) => results[0][key] !== undefined)
    .map(({ key, share }) => {
      const each = spreadOf(
        results.map((result) => result[key]),
        DIGITS,
      )
      if (share === undefined) return [key, each]
      const all = results.flatMap(({ samples }) => samples)
      return [key, { ...each, median: round(percentile(all, share), DIGITS) }]
    })
  return {
    ...Object.fromEntries(figures),
    costs,
    ...(failures.length > 0 && { failures: failures.length, failure: failures[0] }),
  }
}

/** There are thousands of them, and their summary is kept. */
function withoutSamples({ result: { samples: _, ...result } = {}, ...measured }) {
  return measured.failure === undefined ? { ...measured, result } : measured
}

function middle(values) {
  const known = values.filter((value) => typeof value === "number")
  return known.length === 0 ? undefined : round(median(known), DIGITS)
}

function describe(part, contender, variants) {
  const settings = Object.entries(variants).flatMap(([name, facts]) => {
    const used = part.settingsOf(contender, facts)
    return used === undefined ? [] : [[name, used]]
  })
  return {
    title: contender.title,
    on: contender.on,
    isOurs: contender.isOurs ?? false,
    keepsHistory: settings.length === 0 ? undefined : contender.keepsHistory(settings[0][1]),
    settings: Object.fromEntries(settings),
  }
}

function describeAll({ contenderNode, versions, servers, rounds, peerRounds, contenders }) {
  const inWords = (facts) =>
    Object.entries(facts)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")
  console.log(
    `Node ${contenderNode} for all; ${inWords(versions)}; ${rounds} interleaved rounds, ${peerRounds} of the peers`,
  )
  for (const [kind, { version = "", settings }] of Object.entries(servers)) {
    console.log(`${kind} ${version}: ${inWords(settings)}`)
  }
  for (const { title, settings, share } of Object.values(contenders)) {
    const distinct = [...new Set(Object.values(settings).map((each) => JSON.stringify(each)))]
    console.log(`${title}: ${distinct.join(" or ")}${share === 1 ? "" : `, ${share * 100} % of the jobs`}`)
  }
}

function say(part, { number, variant, contender, outcome: { result, failure } }) {
  const words = failure
    ? `FAILED: ${failure}`
    : [
        ...part.figures.flatMap(({ key, title }) =>
          result[key] === undefined ? [] : [`${round(result[key], DIGITS)} ${title}`],
        ),
        JSON.stringify(compact(result.costs)),
      ].join(", ")
  console.log(`round ${number}, ${variant}, ${contender.title}: ${words}`)
}

function compact(costs = {}) {
  return Object.fromEntries(
    Object.entries(costs)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, Number(value.toPrecision(3))]),
  )
}
