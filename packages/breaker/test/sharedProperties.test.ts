import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import type { Transition } from "@switchgear/breaker/Transition"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as fc from "effect/FastCheck"
import * as Stream from "effect/Stream"
import { assert } from "vitest"
import { controlled, now, type Replica, replicas, under } from "./support/fleet.js"
import { prng } from "./support/prng.js"

const maxProbes = 2
const probeTimeout = 400

const policy = Policy.consecutive({
  failureThreshold: 2,
  cooldown: { base: 200, multiplier: 2, maxMultiplier: 4, jitter: 0.3 },
  halfOpen: { maxProbes, successThreshold: 2, probeTimeout }
})

type Step =
  | { readonly do: "call"; readonly by: number; readonly lasts: number; readonly ends: "ok" | "fails" | "interrupted" }
  | { readonly do: "command"; readonly by: number; readonly command: Breaker.Command }
  | { readonly do: "kill"; readonly by: number }
  | { readonly do: "deafen"; readonly deaf: boolean }

const size = 4
const by = fc.nat(size - 1)

const call: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("call" as const),
  by,
  lasts: fc.constantFrom(0, 5, 30, 150, 600),
  ends: fc.constantFrom("ok", "fails", "fails", "interrupted")
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: call },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("command" as const),
      by,
      command: fc.constantFrom<Breaker.Command>(
        Breaker.forceOpen(),
        Breaker.forceOpen(300),
        Breaker.forceClosed,
        Breaker.auto,
        Breaker.reset
      )
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("kill" as const), by }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deafen" as const), deaf: fc.boolean() }) }
)

const history = fc.array(fc.tuple(step, fc.constantFrom(0, 0, 1, 10, 60, 250)), { minLength: 10, maxLength: 70 })

interface Probe {
  readonly era: number
  readonly from: number
  ended: number | undefined
}

/** The most probes of one era that are out at one time: until they are reported, or their lease ends. */
const mostOut = (probes: ReadonlyArray<Probe>): number => {
  let most = 0
  for (const { era, from } of probes) {
    const out = probes.filter(
      (other) =>
        other.era === era &&
        other.from <= from &&
        from < Math.min(other.ended ?? Number.POSITIVE_INFINITY, other.from + probeTimeout)
    )
    most = Math.max(most, out.length)
  }
  return most
}

const assertChain = (transitions: ReadonlyArray<Transition>): void => {
  for (const [index, { era, from }] of transitions.entries()) {
    const before = transitions[index - 1]
    if (before === undefined) continue
    assert.strictEqual(from, before.to)
    assert.isAtLeast(era, before.era)
  }
}

/** Takes the steps, some at once, over a store whose exchanges take up to so many ms, each a different time. */
const run = (steps: ReadonlyArray<readonly [Step, number]>, latency: number, seed: number) =>
  Effect.gen(function* () {
    const { next: random } = prng(seed)
    const { control, memory, store } = yield* controlled
    const made = yield* replicas(store, policy, size, { apart: 1_250, pollInterval: 100 })
    const alive = new Set<Replica>(made)
    const probes: Array<Probe> = []
    const heard = new Map<Replica, Array<Transition>>()
    for (const replica of made) {
      const all: Array<Transition> = []
      heard.set(replica, all)
      yield* Effect.forkScoped(
        Stream.runForEach(replica.changes, (transition) => Effect.sync(() => all.push(transition)))
      )
      yield* replica.get("a")
    }
    yield* Effect.sleep(1)
    control.latency = () => Math.floor(random() * (latency + 1))

    const one = (replica: Replica, { ends, lasts }: Extract<Step, { readonly do: "call" }>) =>
      Effect.gen(function* () {
        const breaker = yield* replica.get("a")
        const permit = yield* CircuitBreaker.unsafeAcquire(breaker)
        if (permit.isProbe) {
          const { era } = yield* CircuitBreaker.view(breaker)
          const probe: Probe = { era, from: yield* now, ended: undefined }
          probes.push(probe)
          yield* Effect.sleep(lasts)
          probe.ended = yield* now
        } else {
          yield* Effect.sleep(lasts)
        }
        const outcome =
          ends === "ok" ? Breaker.success() : ends === "fails" ? Breaker.failure("timeout") : Breaker.released
        if (alive.has(replica)) yield* CircuitBreaker.report(permit, outcome)
      }).pipe(Effect.ignore)

    for (const [step, wait] of steps) {
      if (step.do === "deafen") {
        control.deaf = step.deaf
      } else {
        const replica = made[step.by] ?? assert.fail()
        if (!alive.has(replica)) continue
        if (step.do === "call") yield* Effect.forkDaemon(one(replica, step))
        else if (step.do === "command")
          yield* Effect.forkDaemon(Effect.flatMap(replica.get("a"), CircuitBreaker.command(step.command)))
        else if (alive.size > 1) {
          alive.delete(replica)
          yield* replica.kill
        }
      }
      yield* Effect.sleep(wait)
    }
    // All that was begun has ended, and everybody has polled.
    yield* Effect.sleep(2_000)
    return { control, memory, probes, heard, alive: [...alive] }
  })

describe("a shared breaker in any interleaving", () => {
  it.live(
    "never has more than maxProbes out, loses no Open, raises eras only, and comes to one state",
    () =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(history, fc.constantFrom(0, 3, 40), fc.integer(), (steps, latency, seed) =>
            Effect.runPromise(
              under(
                Effect.gen(function* () {
                  const { alive, control, heard, memory, probes } = yield* run(steps, latency, seed)
                  assert.isAtMost(mostOut(probes), maxProbes)
                  for (const [index, era] of control.eras.entries()) {
                    assert.isAtLeast(era, control.eras[index - 1] ?? 0)
                  }
                  for (const transitions of heard.values()) assertChain(transitions)
                  // What the store holds is what each of them says, and every Open that one announced was written.
                  const [entry] = yield* memory.entries
                  const views = yield* Effect.forEach(alive, (replica) =>
                    Effect.flatMap(replica.get("a"), CircuitBreaker.view)
                  )
                  for (const [index, view] of views.entries()) {
                    assert.strictEqual(view.era, entry?.[1].snapshot.era ?? 0)
                    const first = views[0]
                    if (first?.state !== "Closed" && first?.state !== "Degraded") {
                      assert.strictEqual(view.state, first?.state)
                    }
                    for (const { era, to } of heard.get(alive[index] ?? assert.fail()) ?? []) {
                      if (to === "Open") assert.isTrue(control.opens.has(era))
                    }
                  }
                })
              )
            )
          ),
          { numRuns: 60 }
        )
      ),
    120_000
  )
})
