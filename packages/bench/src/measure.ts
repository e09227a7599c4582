/** Something whose calls are timed. It makes so many of them, one after the other. */
export interface Contestant {
  readonly name: string
  readonly run: (calls: number) => void | Promise<void>
}

/** What was measured of a contestant. */
export interface Figure {
  readonly name: string
  /** Median over the rounds, ns of processor time a call. */
  readonly nanos: number
}

/** How long it is measured. */
export interface Plan {
  /** Default 41: many short rounds, so that a median has seen the machine undisturbed. */
  readonly rounds?: number
  /** ms a round and contestant takes, about. Default 6. */
  readonly length?: number
}

/** ns of processor time, of all threads: what the collector and the compiler do for a contestant is its cost too. */
const timed = async ({ run }: Contestant, calls: number): Promise<number> => {
  const start = process.cpuUsage()
  await run(calls)
  const { system, user } = process.cpuUsage(start)
  return (user + system) * 1_000
}

const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

/** Enough for the compiler to have made up its mind. */
const warmUp = 30_000

/** How many calls fill a round. Finding out is the warm-up. */
const calibrate = async (contestant: Contestant, length: number): Promise<number> => {
  await contestant.run(warmUp)
  let calls = 1_000
  for (;;) {
    const elapsed = await timed(contestant, calls)
    if (elapsed >= length * 1e6) return Math.max(1, Math.round((calls * length * 1e6) / elapsed))
    calls *= 2
  }
}

/**
 * Times contestants against each other in one process: each is warmed up, then they take turns, so that what disturbs the
 * machine disturbs all of them, and the median of a contestant's rounds counts. Processor time, not time on the wall: what
 * else the machine does is left out.
 */
export const measure = async (
  contestants: ReadonlyArray<Contestant>,
  { length = 6, rounds = 41 }: Plan = {}
): Promise<ReadonlyArray<Figure>> => {
  const runs: Array<{ readonly contestant: Contestant; readonly calls: number; readonly times: Array<number> }> = []
  for (const contestant of contestants) {
    runs.push({ contestant, calls: await calibrate(contestant, length), times: [] })
  }
  for (let round = 0; round < rounds; round++) {
    for (const { calls, contestant, times } of round % 2 === 0 ? runs : [...runs].reverse()) {
      times.push((await timed(contestant, calls)) / calls)
    }
  }
  return runs.map(({ contestant, times }) => ({ name: contestant.name, nanos: median(times) }))
}

/** The figure of a contestant. */
export const figure = (figures: ReadonlyArray<Figure>, name: string): number => {
  const found = figures.find((each) => each.name === name)
  if (found === undefined) throw new Error(`${name} was not measured`)
  return found.nanos
}
