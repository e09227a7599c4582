import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import { assert } from "vitest"
import { leasesOut, stateOf } from "./support/cell.js"
import { prng } from "./support/prng.js"

const policy = Policy.consecutive({
  failureThreshold: 4,
  cooldown: { base: 8 },
  halfOpen: { maxProbes: 2, successThreshold: 2, probeTimeout: 40 }
})

/** One probe at a time, and a lease so long that one that is not given back holds everything up to the end. */
const unforgiving = Policy.consecutive({
  failureThreshold: 2,
  cooldown: { base: 4 },
  halfOpen: { maxProbes: 1, successThreshold: 1, probeTimeout: "1 hour" }
})

/** What a call saw of itself, in the order in which it happened. Nothing in it was told by the breaker. */
type Entry =
  | { readonly _tag: "Started"; readonly call: number; readonly at: number; readonly stream: boolean }
  | { readonly _tag: "Output"; readonly call: number; readonly at: number }
  | { readonly _tag: "Ended"; readonly call: number; readonly at: number; readonly outcome: Breaker.Outcome }
  | { readonly _tag: "Interrupted"; readonly call: number; readonly at: number }

interface Call {
  permit: Breaker.Permit | undefined
  readonly stream: boolean
  readonly startedAt: number
  latency: number | undefined
  tail: boolean
}

/** Makes the breaker's reports from what the calls saw (SEMANTICS R1, R7) and runs them through the pure machine. */
const replay = (trace: ReadonlyArray<Entry>) => {
  let state = Breaker.initial(policy, 0)
  let probes = 0
  const calls = new Map<number, Call>()
  const report = (call: Call, outcome: Breaker.Outcome, at: number) => {
    if (call.permit !== undefined) state = Breaker.report(policy, state, call.permit, outcome, at, 0)[1]
    call.permit = undefined
  }
  for (const entry of trace) {
    if (entry._tag === "Started") {
      const [admission, next] = Breaker.acquire(policy, state, entry.at)
      assert.strictEqual(admission._tag, "Admitted", `call ${entry.call} ran, so it was admitted`)
      state = next
      const permit = admission._tag === "Admitted" ? admission.permit : undefined
      if (permit?.probe !== undefined) probes++
      calls.set(entry.call, { permit, stream: entry.stream, startedAt: entry.at, latency: undefined, tail: false })
      continue
    }
    const call = calls.get(entry.call)
    assert.isDefined(call)
    if (call === undefined) continue
    switch (entry._tag) {
      case "Output":
        if (call.latency !== undefined) break
        call.latency = entry.at - call.startedAt
        if (call.permit?.probe !== undefined) {
          report(call, Breaker.success(call.latency), entry.at)
          call.permit = Breaker.tailPermit(state, entry.at)
          call.tail = true
        }
        break
      case "Ended": {
        const { outcome } = entry
        if (call.tail && outcome._tag !== "Failure") break
        const timed = outcome._tag === "Success" || outcome._tag === "Failure"
        report(call, timed && call.latency !== undefined ? { ...outcome, latency: call.latency } : outcome, entry.at)
        break
      }
      case "Interrupted":
        if (call.tail) break
        // An effect on a Closed breaker holds nothing and reports nothing.
        if (!call.stream && call.permit?.probe === undefined) break
        report(call, call.latency === undefined ? Breaker.released : Breaker.success(call.latency), entry.at)
        break
    }
  }
  return { state, probes }
}

const now = Clock.currentTimeMillis

/** Runs an effect and interrupts it between two of its steps, or when it waits. Tells whether it came to that step. */
const interruptedAt = (step: number, effect: Effect.Effect<unknown, unknown>) => {
  const clock = VirtualClock.make()
  let target: Fiber.RuntimeFiber<unknown, unknown> | undefined
  let steps = 0
  const scheduler: Scheduler.Scheduler = {
    // Asked before every step.
    shouldYield: (fiber) => {
      if (fiber === target && ++steps === step) fiber.unsafeInterruptAsFork(FiberId.none)
      return false
    },
    scheduleTask: (task, priority, fiber) => clock.scheduler.scheduleTask(task, priority, fiber)
  }
  return Effect.gen(function* () {
    target = yield* Effect.fork(effect)
    yield* Effect.sleep(1)
    const came = steps >= step
    yield* Fiber.interrupt(target)
    return came
  }).pipe(Effect.withScheduler(scheduler), VirtualClock.withClock(clock))
}

/** Fibers give way between any two steps, with this chance: giving way takes a dozen steps itself, so it must be small. */
const yielding = (clock: VirtualClock.Service, chance: () => boolean): Scheduler.Scheduler => ({
  shouldYield: () => (chance() ? 0 : false),
  scheduleTask: (task, priority, fiber) => clock.scheduler.scheduleTask(task, priority, fiber)
})

const run = (seed: number, calls: number, yieldShare: number, policy: Policy.Policy) => {
  const clock = VirtualClock.make()
  const yields = prng(seed)
  const scheduler = yielding(clock, () => yields.chance(yieldShare))
  return Effect.gen(function* () {
    const random = prng(seed)
    const trace: Array<Entry> = []
    const seen = { rejected: 0, interrupted: 0 }
    const breaker = yield* CircuitBreaker.make({ name: "upstream", policy })

    const note = (make: (at: number) => Entry) => Effect.map(now, (at) => void trace.push(make(at)))
    const unlessInterrupted = (call: number) => (exit: Exit.Exit<unknown, unknown>) =>
      Exit.isFailure(exit) && Exit.isInterrupted(exit) ? note((at) => ({ _tag: "Interrupted", call, at })) : Effect.void
    const outcomes: ReadonlyArray<Breaker.Outcome> = [
      Breaker.success(),
      Breaker.success(),
      Breaker.failure("timeout"),
      Breaker.failure("server_error"),
      Breaker.ignored
    ]

    const guarded = (call: number): Effect.Effect<unknown, unknown> => {
      const stream = random.chance(0.4)
      const outcome = outcomes[random.int(outcomes.length)] ?? Breaker.ignored
      const chunks = random.int(4)
      const pauses = Array.from({ length: chunks + 1 }, () => random.int(12))
      const last = { at: 0 }
      const read = Effect.map(now, (at) => {
        last.at = at
      })
      // Asked right before the report, in the same step.
      const classify = () => {
        trace.push({ _tag: "Ended", call, at: last.at, outcome })
        return outcome
      }
      const end = outcome._tag === "Failure" ? Effect.zipRight(read, Effect.fail("broken")) : read
      const start = note((at) => ({ _tag: "Started", call, at, stream }))
      if (!stream) {
        return start.pipe(
          Effect.zipRight(Effect.forEach(pauses, (ms) => Effect.sleep(ms))),
          Effect.zipRight(end),
          Effect.onExit(unlessInterrupted(call)),
          CircuitBreaker.guard(breaker, { classify })
        )
      }
      return Stream.fromEffect(Effect.as(start, "start")).pipe(
        Stream.concat(
          Stream.fromIterable(pauses.slice(1)).pipe(
            Stream.mapEffect((ms) => Effect.zipRight(Effect.sleep(ms), Effect.as(read, "output")))
          )
        ),
        Stream.concat(Stream.fromEffect(Effect.zipRight(Effect.sleep(pauses[0] ?? 0), Effect.as(end, "end")))),
        Stream.rechunk(1),
        Stream.ensuringWith(unlessInterrupted(call)),
        CircuitBreaker.guardStream(breaker, {
          isOutput: (element) => {
            if (element === "output") trace.push({ _tag: "Output", call, at: last.at })
            return element === "output"
          },
          classify
        }),
        Stream.runDrain
      )
    }

    yield* Effect.forEach(
      Array.from({ length: calls }, (_, call) => call),
      (call) => {
        const delay = random.int(calls / 2)
        const interruptAfter = random.chance(0.5) ? random.int(30) : undefined
        const yields = random.int(6)
        return Effect.gen(function* () {
          yield* Effect.sleep(delay)
          const fiber = yield* Effect.fork(guarded(call))
          if (interruptAfter !== undefined) {
            if (interruptAfter > 0) yield* Effect.sleep(interruptAfter)
            yield* Effect.repeatN(Effect.yieldNow(), yields)
            yield* Fiber.interrupt(fiber)
          }
          const exit = yield* Fiber.await(fiber)
          if (Exit.isFailure(exit)) {
            if (Exit.isInterrupted(exit)) seen.interrupted++
            else if (exit.cause._tag === "Fail" && CircuitBreaker.isCircuitOpen(exit.cause.error)) seen.rejected++
          }
        })
      },
      { concurrency: "unbounded", discard: true }
    )
    return { breaker, trace, seen }
  }).pipe(Effect.withScheduler(scheduler), VirtualClock.withClock(clock))
}

describe("guarded calls that are interrupted at random points", () => {
  it.live(
    "10 000 of them, effects and streams, leave no lease out and the state that the trace of their reports gives",
    () =>
      Effect.gen(function* () {
        const { breaker, seen, trace } = yield* run(1, 10_000, 0, policy)
        const { probes, state } = replay(trace)
        assert.deepStrictEqual(stateOf(breaker), state)
        assert.strictEqual(leasesOut(breaker), 0)
        const status = yield* CircuitBreaker.status(breaker)
        const started = trace.filter((entry) => entry._tag === "Started").length
        assert.strictEqual(status.counters.admitted, started)
        // It has been through everything.
        assert.isAbove(seen.interrupted, 1_000)
        assert.isAbove(seen.rejected, 1_000)
        assert.isAbove(probes, 100)
        assert.isAbove(status.counters.transitions, 100)
        assert.isAbove(status.counters.released, 100)
      }),
    120_000
  )

  it.live("any 200 of them do", () =>
    Effect.forEach(
      Array.from({ length: 10 }, (_, seed) => seed + 100),
      (seed) =>
        Effect.map(run(seed, 200, 0, policy), ({ breaker, trace }) => {
          assert.deepStrictEqual(stateOf(breaker), replay(trace).state, `seed ${seed}`)
          assert.strictEqual(leasesOut(breaker), 0, `seed ${seed}`)
        }),
      { discard: true }
    )
  )

  it.live("leave no lease out when fibers may give way, and be interrupted, between any two steps", () =>
    Effect.forEach(
      [0.01, 0.03, 0.05],
      (share, seed) =>
        Effect.map(run(seed, 800, share, unforgiving), ({ breaker, seen }) => {
          assert.strictEqual(leasesOut(breaker), 0)
          assert.isAbove(seen.interrupted, 30)
        }),
      { discard: true }
    )
  )

  it.live("a probe leaves no lease out at whichever of its steps it is interrupted", () =>
    Effect.gen(function* () {
      const endless = {
        effect: (breaker: CircuitBreaker.CircuitBreaker): Effect.Effect<unknown, unknown> =>
          CircuitBreaker.guard(Effect.never, breaker),
        stream: (breaker: CircuitBreaker.CircuitBreaker): Effect.Effect<unknown, unknown> =>
          Stream.runDrain(CircuitBreaker.guardStream(Stream.never, breaker)),
        "stream with output": (breaker: CircuitBreaker.CircuitBreaker): Effect.Effect<unknown, unknown> =>
          Stream.runDrain(CircuitBreaker.guardStream(Stream.concat(Stream.make(1), Stream.never), breaker)),
        permit: (breaker: CircuitBreaker.CircuitBreaker): Effect.Effect<unknown, unknown> =>
          Effect.scoped(Effect.zipRight(CircuitBreaker.acquire(breaker), Effect.never))
      }
      for (const [name, run] of Object.entries(endless)) {
        let step = 0
        let came = true
        let admitted = 0
        while (came) {
          step++
          const breaker = yield* CircuitBreaker.make({ name, policy: unforgiving })
          yield* CircuitBreaker.forceOpen(breaker)
          yield* CircuitBreaker.auto(breaker)
          came = yield* interruptedAt(step, run(breaker))
          admitted += (yield* CircuitBreaker.status(breaker)).counters.admitted
          assert.strictEqual(leasesOut(breaker), 0, `${name}, step ${step}`)
        }
        assert.isAbove(step, 3, name)
        assert.isAbove(admitted, 0, name)
      }
    })
  )
})
