import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { pass, policy as plain } from "./manyKeys.js"

/** What a round did, and the heap after it, collected. */
export interface Report {
  readonly calls: number
  readonly rejected: number
  readonly opened: number
  readonly recovered: number
  readonly subscribers: number
  readonly used: number
}

interface Shape {
  readonly name: string
  /** The first report is of a round like the others: what a breaker remembers is in it, so later ones must add nothing. */
  readonly run: (collect: () => void) => Promise<ReadonlyArray<Report>>
}

const breakers = 10_000
/** A million in all. */
const callsPerRound = 125_000
const roundsInAll = 8

const policy = Policy.anyOf({
  consecutive: { failureThreshold: 3 },
  rolling: { window: 10_000, bucketPeriod: 1_000, minSamples: 8, failureRateThreshold: 0.5 },
  degradation: { threshold: 0.25 },
  cooldown: { base: "5 seconds", multiplier: 2, maxMultiplier: 4, honorRetryAfter: true },
  kindThresholds: { rate_limit: { threshold: 4, window: "10 seconds" }, quota_exhausted: { immediateOpen: true } }
})

/** ms between two calls of the same breaker. */
const pace = 700

const used = async (collect: () => void): Promise<number> => {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise<void>((resume) => setImmediate(() => resume()))
    collect()
  }
  return process.memoryUsage().heapUsed
}

/** The same numbers each time (a linear congruence), so that each round is like the one before. */
const luck = (seed: number) => {
  let state = seed
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

const kinds = ["timeout", "server_error", "rate_limit", "network_error", "quota_exhausted"]

/** A breaker is in trouble for a fifth of its calls; then most of them fail. */
const failureAt = (call: number, chance: number): string | undefined => {
  const troubled = Math.floor(call / breakers) % 5 === 4 || call % 7 === 3
  return chance < (troubled ? 0.8 : 0.02) ? kinds[Math.floor(chance * 1_000) % kinds.length] : undefined
}

const machine: Shape = {
  name: `the machine: ${breakers} states in an array`,
  run: async (collect) => {
    const states = Array.from({ length: breakers }, () => Breaker.initial(policy, 0))
    const reports: Array<Report> = []
    let call = 0
    for (let round = 0; round < roundsInAll; round++) {
      const random = luck(round)
      let [rejected, opened, recovered] = [0, 0, 0]
      for (let each = 0; each < callsPerRound; each++, call++) {
        const index = call % breakers
        const state = states[index]
        if (state === undefined) throw new Error(`no breaker ${index}`)
        const now = Math.floor(call / breakers) * pace
        const [admission, admitted] = Breaker.acquire(policy, state, now)
        if (admission._tag === "Rejected") {
          rejected++
          continue
        }
        const kind = failureAt(call, random())
        const outcome = kind === undefined ? Breaker.success() : Breaker.failure(kind, { retryAfter: 2_000 })
        const [, next, events] = Breaker.report(policy, admitted, admission.permit, outcome, now + 10, 0)
        for (const { from, to } of events) {
          if (to === "Open") opened++
          if (from === "HalfOpen" && to === "Closed") recovered++
        }
        states[index] = next
      }
      reports.push({ calls: callsPerRound, rejected, opened, recovered, subscribers: 0, used: await used(collect) })
    }
    if (states.length !== breakers) throw new Error("the states are kept until here")
    return reports
  }
}

/** A clock that the round sets. */
const settable = () => {
  let millis = 0
  const live = Clock.make()
  const clock: Clock.Clock = {
    ...live,
    unsafeCurrentTimeMillis: () => millis,
    unsafeCurrentTimeNanos: () => BigInt(millis) * 1_000_000n,
    currentTimeMillis: Effect.sync(() => millis),
    currentTimeNanos: Effect.sync(() => BigInt(millis) * 1_000_000n)
  }
  return {
    clock,
    set: (to: number): void => {
      millis = to
    }
  }
}

/**
 * Opens and closes each of them seven times: a breaker remembers its last 20 transitions, and all of them are to be there
 * from the start.
 */
const fillHistories = (
  all: ReadonlyArray<CircuitBreaker.CircuitBreaker>,
  set: (millis: number) => void
): Effect.Effect<number> =>
  Effect.gen(function* () {
    let now = 0
    for (let cycle = 0; cycle < 7; cycle++, now += 60_000) {
      for (const [index, breaker] of all.entries()) {
        const failing = { kind: kinds[(index + cycle) % kinds.length], retryAfter: 2_000 }
        set(now)
        for (let failure = 0; failure < 3; failure++) {
          yield* Effect.ignore(CircuitBreaker.guard(Effect.fail(failing), breaker))
        }
        set(now + 30_000)
        yield* Effect.ignore(CircuitBreaker.guard(Effect.void, breaker))
      }
    }
    return now
  })

const registry: Shape = {
  name: `the registry: ${breakers} breakers, subscribers coming and going`,
  run: (collect) => {
    const time = settable()
    const program = Effect.gen(function* () {
      // Who has so many breakers that all count gives them room; the round below is about a bound that is passed.
      const made = yield* CircuitBreakerRegistry.make({ policy, bound: breakers, hardLimit: 2 * breakers })
      const all = yield* Effect.forEach(
        Array.from({ length: breakers }, (_, index) => `provider-${index}`),
        made.get
      )
      const started = yield* fillHistories(all, time.set)
      const reports: Array<Report> = []
      let call = 0
      for (let round = 0; round < roundsInAll; round++) {
        const random = luck(round)
        let [rejected, opened, recovered, subscribers] = [0, 0, 0, 0]
        const counting = yield* Effect.fork(
          Stream.runForEach(made.changes, ({ from, to }) =>
            Effect.sync(() => {
              if (to === "Open") opened++
              if (from === "HalfOpen" && to === "Closed") recovered++
            })
          )
        )
        for (let each = 0; each < callsPerRound; each++, call++) {
          const breaker = all[call % breakers]
          if (breaker === undefined) throw new Error(`no breaker ${call % breakers}`)
          time.set(started + Math.floor(call / breakers) * pace)
          if (call % 500 === 0) {
            // one reads, one never does, one reads a single breaker's
            const readers = [
              Stream.runDrain(made.changes),
              Stream.runForEach(made.changes, () => Effect.never),
              Stream.runDrain(CircuitBreaker.transitions(breaker))
            ]
            const reading = yield* Effect.forEach(readers, (reader) => Effect.fork(reader))
            subscribers += reading.length
            yield* Effect.yieldNow()
            yield* Fiber.interruptAll(reading)
          }
          const kind = failureAt(call, random())
          const served = kind === undefined ? Effect.void : Effect.fail({ kind, retryAfter: 2_000 })
          yield* CircuitBreaker.guard(served, breaker).pipe(
            Effect.catchAll((error) =>
              Effect.sync(() => {
                if (CircuitBreaker.isCircuitOpen(error)) rejected++
              })
            )
          )
          // whoever counts gets to read before its mailbox forgets
          if (call % 100 === 0) yield* Effect.yieldNow()
        }
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(counting)
        const heap = yield* Effect.promise(() => used(collect))
        reports.push({ calls: callsPerRound, rejected, opened, recovered, subscribers, used: heap })
      }
      return reports
    })
    return Effect.runPromise(Effect.withClock(Effect.scoped(program), time.clock))
  }
}

const bound = 500

const keys: Shape = {
  name: `the registry: ${(roundsInAll * callsPerRound) / 10} names through a bound of ${bound}`,
  run: (collect) => {
    const time = settable()
    const program = Effect.gen(function* () {
      const made = yield* CircuitBreakerRegistry.make({ policy: plain, bound })
      const reports: Array<Report> = []
      const perRound = callsPerRound / 10
      let now = 0
      const later = (millis: number) =>
        Effect.sync(() => {
          now += millis
          time.set(now)
        })
      for (let round = 0; round < roundsInAll; round++) {
        const passed = yield* pass(made, round * perRound, (round + 1) * perRound, later)
        const kept = (yield* made.statuses).length
        if (kept > bound) throw new Error(`${kept} breakers are kept, more than ${bound}`)
        if (passed.recovered !== passed.opened)
          throw new Error(`${passed.opened} opened, ${passed.recovered} recovered`)
        const heap = yield* Effect.promise(() => used(collect))
        reports.push({ calls: perRound, subscribers: 0, used: heap, ...passed })
      }
      return reports
    })
    return Effect.runPromise(Effect.withClock(Effect.scoped(program), time.clock))
  }
}

export const rounds: ReadonlyArray<Shape> = [machine, registry, keys]
