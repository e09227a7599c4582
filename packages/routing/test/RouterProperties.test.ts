import { assert, describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Fallback from "@switchgear/core/Fallback"
import * as Policy from "@switchgear/core/Policy"
import type { Kind } from "@switchgear/failures/Failure"
import { ProviderError } from "@switchgear/providers/Provider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as fc from "fast-check"
import { type Behaviour, FakeProvider, failing, readAll, request, setup } from "./helpers.js"

const kinds: ReadonlyArray<Kind> = ["server_error", "timeout", "rate_limit", "client_fault", "context_length", "auth"]

const failure: fc.Arbitrary<Behaviour> = fc
  .tuple(
    fc.constantFrom(...kinds),
    fc.nat(3),
    fc.constantFrom<{ scope: "provider" | "none" }>({ scope: "provider" }, { scope: "none" })
  )
  .map(([kind, yields, options]) => ({ does: "fail", yields, error: failing(kind, options) }))

const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  { arbitrary: failure, weight: 6 },
  { arbitrary: fc.nat(3).map((yields) => ({ does: "json", yields }) as const), weight: 2 },
  {
    arbitrary: fc
      .tuple(fc.nat(3), fc.nat(3), fc.constantFrom("ends" as const, "breaks" as const, "hangs" as const))
      .map(([yields, chunks, tail]) => ({ does: "stream", yields, chunks, tail }) as const),
    weight: 2
  },
  { arbitrary: fc.constantFrom<Behaviour>({ does: "hang" }, { does: "die" }), weight: 1 }
)

/** What a caller does: waits, or leaves after so many turns of the scheduler; reads the stream, or so much of it. */
const caller = fc.record({
  leavesAfter: fc.option(fc.nat(12), { nil: undefined }),
  reads: fc.nat(3),
  stream: fc.boolean()
})

const settings = fc
  .record({
    maxDepth: fc.integer({ min: 1, max: 3 }),
    depthCounts: fc.constantFrom("attempts" as const, "listed" as const),
    surface: fc.constantFrom("primary" as const, "last" as const, "exhausted" as const),
    preferHealthyState: fc.boolean()
  })
  .map((input) => Fallback.make({ ...input, budget: 1 }))

const policies = [
  Policy.consecutive({ failureThreshold: 1, cooldown: { base: "1 hour" } }),
  // its cooldown is over at once, so that probes are common
  Policy.consecutive({ failureThreshold: 1, cooldown: { base: 1 }, halfOpen: { maxProbes: 1, successThreshold: 2 } }),
  Policy.hosted
]

const world = fc.record({
  scripts: fc.array(fc.array(behaviour, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
  callers: fc.array(caller, { minLength: 1, maxLength: 12 }),
  settings,
  policy: fc.constantFrom(...policies),
  concurrent: fc.boolean()
})

const turns = (count: number) => Effect.replicateEffect(Effect.yieldNow(), count, { discard: true })

/** Plays a world and checks what must hold whatever happens in it. */
const play = ({
  callers,
  concurrent,
  policy,
  scripts,
  settings
}: typeof world extends fc.Arbitrary<infer A> ? A : never) =>
  Effect.gen(function* () {
    const fakes = scripts.map(
      (script, index) => new FakeProvider(`p${index}`, (_, call) => script[call % script.length] ?? { does: "die" })
    )
    const { breakers, router } = yield* setup(fakes, { fallback: settings, policy, maxConcurrent: 50 })

    /** Calls by caller, in order; a caller is known by a header of its own. */
    const calls = new Map<string, Array<string>>()
    const refusedCalls: Array<string> = []
    for (const [index, fake] of fakes.entries()) {
      fake.onCall = (sent) => {
        const id = sent.headers["id"] ?? ""
        calls.set(id, [...(calls.get(id) ?? []), fake.name])
        const breaker = breakers[index]
        if (breaker !== undefined && Effect.runSync(CircuitBreaker.view(breaker)).state === "Open")
          refusedCalls.push(fake.name)
      }
    }

    const visit = (id: string, { reads, stream }: (typeof callers)[number]) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { answer, attempts, model, substituted } = yield* router.route(request({ stream, headers: { id } }))
          assert.strictEqual(substituted, model !== "m0")
          assert.strictEqual(attempts.at(-1)?.model, model)
          assert.strictEqual(attempts.filter((one) => one._tag === "Served").length, 1)
          if (answer._tag === "Json") return
          const before = calls.get(id)?.length
          const iterator = answer.body[Symbol.asyncIterator]()
          for (let read = 0; read < reads; read++) {
            const next = yield* Effect.tryPromise({ try: () => iterator.next(), catch: (error) => error }).pipe(
              Effect.timeoutOption(1),
              Effect.catchAll((error) => {
                assert(error instanceof ProviderError)
                return Effect.succeed({ _tag: "None" } as const)
              })
            )
            assert.strictEqual(calls.get(id)?.length, before, "F7: after output nobody else is called")
            if (next._tag === "None" || next.value.done === true) break
          }
        })
      )

    const run = (one: (typeof callers)[number], index: number) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(Effect.exit(visit(String(index), one)))
        // one that hangs is waited for by nobody
        yield* turns(one.leavesAfter ?? 40)
        yield* Fiber.interrupt(fiber)
        const exit = yield* Fiber.await(fiber)
        if (Exit.isSuccess(exit) && Exit.isFailure(exit.value) && exit.value.cause._tag === "Fail") {
          const { error } = exit.value.cause
          if (error.reason._tag === "Failed") {
            const { reason } = error
            assert(
              error.attempts.some((attempt) => attempt._tag === "Failed" && attempt.error === reason.error),
              "F6"
            )
          }
        }
      })
    yield* Effect.forEach(callers, run, { concurrency: concurrent ? "unbounded" : 1, discard: true })
    yield* turns(5)

    for (const called of calls.values()) {
      assert.strictEqual(new Set(called).size, called.length, "F12: no target twice")
      assert(called.length <= 1 + settings.maxDepth, "F12: at most 1 + maxDepth calls")
    }
    assert.deepStrictEqual(refusedCalls, [], "an open breaker gets no call")
    for (const fake of fakes) {
      assert.deepStrictEqual([fake.running, fake.openBodies], [0, 0], "nothing upstream is left open")
    }
    for (const breaker of breakers) {
      assert.strictEqual((yield* CircuitBreaker.view(breaker)).leases ?? 0, 0, "no lease is out")
    }
    return calls
  })

describe("Router: properties under random scripts and interruption", () => {
  it.live("F6, F7, F9, F12, A2, A4: whatever providers do and whenever callers leave", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(world, async (one) => {
          await Effect.runPromise(play(one))
        }),
        { numRuns: 400 }
      )
    )
  )

  it.live("10 000 callers who leave at random points leave no lease out and no stream open", () =>
    Effect.promise(async () => {
      const worlds = fc.sample(fc.tuple(world, fc.array(caller, { minLength: 500, maxLength: 500 })), 20)
      for (const [one, callers] of worlds) await Effect.runPromise(play({ ...one, callers, concurrent: true }))
    })
  )

  it.live("a slot of maxConcurrent is given back by every ending", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(behaviour, caller), { maxLength: 15 }), (list) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const fake = new FakeProvider("p", (_, index) => list[index]?.[0] ?? { does: "json", yields: 0 })
              const { router } = yield* setup([fake], { maxConcurrent: 1 })
              for (const [, { leavesAfter, stream }] of list) {
                const visit = Effect.scoped(
                  Effect.flatMap(router.route(request({ stream })), ({ answer }) =>
                    leavesAfter === undefined ? Effect.ignore(Effect.tryPromise(() => readAll(answer))) : Effect.void
                  )
                )
                const fiber = yield* Effect.fork(Effect.exit(visit))
                yield* turns(leavesAfter ?? 20)
                yield* Fiber.interrupt(fiber)
              }
              const calls = fake.requests.length
              const last = yield* Effect.fork(Effect.scoped(router.route(request())))
              yield* turns(20)
              yield* Fiber.interrupt(last)
              assert.strictEqual(fake.requests.length, calls + 1)
            })
          )
        ),
        { numRuns: 200 }
      )
    )
  )
})
