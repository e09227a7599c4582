import { assert, describe, it } from "@effect/vitest"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Fallback from "@switchgear/core/Fallback"
import type * as Policy from "@switchgear/core/Policy"
import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
import * as Access from "@switchgear/routing/Access"
import * as Health from "@switchgear/routing/Health"
import * as Idempotency from "@switchgear/routing/Idempotency"
import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as Pipeline from "@switchgear/routing/Pipeline"
import * as Telemetry from "@switchgear/routing/Telemetry"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as Usage from "@switchgear/routing/Usage"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import { ask, build, down, fallback, read } from "./pipelineHelpers.js"

const { delay, ok, status } = ScriptedProvider
const scripted = (name: string, ...steps: readonly [ScriptedProvider.Step, ...Array<ScriptedProvider.Step>]) =>
  ScriptedProvider.make(name, steps)

const prices = { up0: { input: 1, output: 1 }, up1: { input: 2, output: 2 } }

const world = (
  providers: ReadonlyArray<ScriptedProvider.ScriptedProvider>,
  options: { readonly access?: Access.Access; readonly policy?: Policy.Policy } = {}
) =>
  Effect.gen(function* () {
    const store = yield* TelemetryStore.makeMemory()
    const telemetry = yield* Telemetry.make({ store })
    const idempotency = yield* Idempotency.make({ store: yield* IdempotencyStore.makeMemory() })
    const { breakers, pipeline } = yield* build(providers, {
      ...options,
      stages: [telemetry.stage, idempotency, fallback(), Usage.stage({ prices }), Pipeline.breaker()]
    })
    const rows = Effect.zipRight(telemetry.flush, store.recent(100))
    const last = Effect.map(rows, ([row]) => {
      assert(row !== undefined)
      return row
    })
    return { pipeline, rows, last, store, breakers }
  })

const virtual = <A, E>(effect: Effect.Effect<A, E, never>) => Effect.provide(effect, VirtualClock.layer)

const row = (kinds: ReadonlyArray<string>, latency: number | null, over: Partial<TelemetryStore.Row> = {}) => {
  const attempts = kinds.map((kind, index) => ({
    model: `m${index}`,
    provider: `p${index}`,
    kind,
    latency,
    state: null
  }))
  const served = kinds.includes("served")
  return {
    id: "x",
    at: 0,
    org: "o",
    requestedModel: "m0",
    servedModel: null,
    servedProvider: null,
    outcome: served ? "success" : (kinds[0] ?? ""),
    status: 200,
    attempts,
    latency: latency ?? 0,
    timeToFirstOutput: null,
    tokensIn: null,
    tokensOut: null,
    cost: null,
    originalModel: null,
    fallbackModel: null,
    fallbackReason: "",
    replayed: false,
    cached: false,
    byo: false,
    notes: [],
    ...over
  }
}

describe("Telemetry", () => {
  it.live("T1: a substitution, with both models, the reason, each attempt, and usage of the model that served", () =>
    virtual(
      Effect.gen(function* () {
        const { last, pipeline } = yield* world([delay2(status(503)), scripted("p1", delay(ok("hello"), "2 seconds"))])
        yield* pipeline.run(ask({ id: "req-1", org: "acme" }))
        const { at, tokensIn, tokensOut, cost, ...row } = yield* last
        assert.strictEqual(at, 0)
        assert(tokensIn !== null && tokensOut !== null && cost !== null)
        assert.closeTo(cost, ((tokensIn + tokensOut) * 2) / 1_000_000, 1e-12)
        assert.deepStrictEqual(row, {
          id: "req-1",
          org: "acme",
          requestedModel: "m0",
          servedModel: "m1",
          servedProvider: "p1",
          outcome: "success",
          status: 200,
          attempts: [
            { model: "m0", provider: "p0", kind: "server_error", latency: 1_000, state: "Closed" },
            { model: "m1", provider: "p1", kind: "served", latency: 2_000, state: "Closed" }
          ],
          latency: 3_000,
          timeToFirstOutput: 3_000,
          originalModel: "m0",
          fallbackModel: "m1",
          fallbackReason: "server_error",
          replayed: false,
          cached: false,
          byo: false,
          notes: []
        })
      }).pipe(Effect.scoped)
    )
  )

  it.live("T1: one row a call, whatever happens", () =>
    virtual(
      Effect.gen(function* () {
        const policies = yield* ModelPolicies.makeMemory({ rules: [{ org: "default", model: "m0" }] })
        const { pipeline, rows } = yield* world(
          [scripted("p0", ok(), status(400), ScriptedProvider.hang, ok("own"), ScriptedProvider.cut(["a", "b"]))],
          { access: Access.policies(policies) }
        )
        yield* pipeline.run(ask({ idempotencyKey: "k" }))
        yield* pipeline.run(ask({ idempotencyKey: "k" }))
        yield* Effect.flip(pipeline.run(ask()))
        const gone = yield* Effect.fork(pipeline.run(ask()))
        yield* Effect.sleep(5)
        yield* Fiber.interrupt(gone)
        yield* pipeline.run(ask({ apiKey: Redacted.make("sk") }))
        const { answer } = yield* pipeline.run(ask({ stream: true }))
        assert(answer._tag === "Stream")
        yield* Effect.ignore(Effect.tryPromise(() => read(answer.body)))
        yield* Effect.flip(pipeline.run(ask({ org: "other" })))
        const all = [...(yield* rows)].reverse()
        assert.deepStrictEqual(
          all.map(({ byo, outcome, replayed, status }) => [outcome, status, replayed, byo]),
          [
            ["success", 200, false, false],
            ["success", 200, true, false],
            ["client_fault", 400, false, false],
            ["cancelled", 499, false, false],
            ["success", 200, false, true],
            ["network_error", 200, false, false],
            ["model_not_allowed", 403, false, false]
          ]
        )
        assert.deepStrictEqual(all[1]?.attempts, [])
        assert.strictEqual(all[1]?.tokensIn, null)
        assert.strictEqual(new Set(all.map(({ id }) => id)).size, all.length)
        assert.isTrue(all.every(({ fallbackModel, fallbackReason }) => fallbackModel === null && fallbackReason === ""))
      }).pipe(Effect.scoped)
    )
  )

  it.live("T1: a stream's latency runs to its last byte, its first output is earlier", () =>
    virtual(
      Effect.gen(function* () {
        const { last, pipeline } = yield* world([scripted("p0", ScriptedProvider.drip(["a", "b", "c"], "1 second"))])
        const { answer } = yield* pipeline.run(ask({ stream: true }))
        assert(answer._tag === "Stream")
        const iterator = answer.body[Symbol.asyncIterator]()
        yield* Effect.iterate(false, {
          while: (done) => !done,
          body: () =>
            Effect.raceFirst(
              Effect.map(
                Effect.promise(() => iterator.next()),
                ({ done }) => done === true
              ),
              Effect.as(Effect.sleep("1 minute"), false)
            )
        })
        const row = yield* last
        assert.isAtMost(row.timeToFirstOutput ?? Number.NaN, row.latency)
        assert(row.tokensOut !== null && row.tokensOut > 0)
      }).pipe(Effect.scoped)
    )
  )

  it.live("T2: rows are written in batches; when the store does not keep up the oldest go and are counted", () =>
    virtual(
      Effect.gen(function* () {
        const batches: Array<number> = []
        let isDown = true
        const memory = yield* TelemetryStore.makeMemory()
        const store: TelemetryStore.Service = {
          ...memory,
          append: (rows) => {
            if (isDown) return down("telemetry")
            batches.push(rows.length)
            return memory.append(rows)
          }
        }
        const telemetry = yield* Telemetry.make({ store, batchSize: 10, capacity: 50 })
        const { pipeline } = yield* build([scripted("p0", ok())], { stages: [telemetry.stage, fallback()] })
        const before = (yield* Metric.value(Telemetry.metrics.dropped)).count
        for (let call = 0; call < 80; call++) yield* pipeline.run(ask({ id: `${call}` }))
        yield* Effect.sleep("5 seconds")
        assert.strictEqual(yield* telemetry.dropped, 30)
        assert.strictEqual((yield* Metric.value(Telemetry.metrics.dropped)).count - before, 30)
        isDown = false
        yield* Effect.sleep("5 seconds")
        assert.deepStrictEqual(batches, [10, 10, 10, 10, 10])
        const kept = (yield* memory.recent(100)).map(({ id }) => Number(id)).reverse()
        assert.deepStrictEqual(
          kept,
          Array.from({ length: 50 }, (_, index) => index + 30)
        )
      }).pipe(Effect.scoped)
    )
  )

  it.live("T2: what waits is written when the scope closes", () =>
    Effect.gen(function* () {
      const store = yield* TelemetryStore.makeMemory()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const telemetry = yield* Telemetry.make({ store, interval: "1 hour" })
          const { pipeline } = yield* build([scripted("p0", ok())], { stages: [telemetry.stage, fallback()] })
          yield* pipeline.run(ask())
        })
      )
      assert.strictEqual((yield* store.recent(10)).length, 1)
    })
  )

  it.live("what is older than `retention` is purged, at the start and every hour", () =>
    virtual(
      Effect.gen(function* () {
        const store = yield* TelemetryStore.makeMemory()
        const at = (minutes: number) => row(["served"], 1, { at: minutes * 60_000 })
        const kept = Effect.map(store.recent(100), (rows) => rows.map((each) => each.at / 60_000))
        yield* store.append([at(-100), at(-50), at(5), at(70)])
        yield* Telemetry.make({ store, retention: "1 hour" })
        yield* Effect.sleep(1)
        assert.deepStrictEqual(yield* kept, [70, 5, -50])
        yield* Effect.sleep("61 minutes")
        assert.deepStrictEqual(yield* kept, [70, 5])
        yield* Effect.sleep("1 hour")
        assert.deepStrictEqual(yield* kept, [70])
      }).pipe(Effect.scoped)
    )
  )

  it.live("T3: a span by the GenAI conventions, the parent of what happens inside; none without a tracer", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.Span> = []
      const native = yield* Effect.tracer
      const tracer = Tracer.make({
        span: (...args) => {
          const span = native.span(...args)
          spans.push(span)
          return span
        },
        context: native.context
      })
      const { pipeline } = yield* world([scripted("p0", status(503)), scripted("p1", ok())])
      yield* pipeline.run(ask())
      assert.strictEqual(spans.length, 0)
      yield* Effect.withSpan(Effect.withTracer(pipeline.run(ask()), tracer), "outer")
      const [span] = spans
      assert(span !== undefined)
      assert.strictEqual(span.name, "chat m0")
      assert.strictEqual(span.kind, "client")
      assert.strictEqual(span.status._tag, "Ended")
      assert.strictEqual(
        Option.isSome(span.parent) && span.parent.value._tag === "Span" && span.parent.value.name,
        "outer"
      )
      const found = Object.fromEntries(span.attributes)
      assert.deepInclude(found, {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m0",
        "gen_ai.response.model": "m1",
        "switchgear.fallback.reason": "server_error",
        "switchgear.attempts": 2
      })
      assert.isNumber(found["gen_ai.usage.input_tokens"])
      assert("events" in span && Array.isArray(span.events))
      assert.deepStrictEqual(
        span.events.map(([name, , attributes]) => [name, attributes?.["switchgear.failure.kind"]]),
        [
          ["switchgear.attempt", "server_error"],
          ["switchgear.attempt", ""]
        ]
      )
    }).pipe(Effect.scoped)
  )
})

const delay2 = (step: ScriptedProvider.Step) => scripted("p0", delay(step, "1 second"))

describe("Health", () => {
  const times = <A>(count: number, value: A): ReadonlyArray<A> => Array.from({ length: count }, () => value)

  it.live("H1: the documented scores, from rows", () =>
    virtual(
      Effect.gen(function* () {
        for (const [rows, score] of [
          [[...times(9, row(["served"], 200)), row(["timeout"], 200)], 0.912],
          [times(4, row(["server_error"], 1_000)), 0.16],
          [times(2, row(["served"], 50_000)), 0.8],
          [times(4, row(["circuit_open", "served"], null)), 0.2],
          [[], undefined]
        ] as const) {
          const store = yield* TelemetryStore.makeMemory()
          yield* store.append(rows)
          const found = (yield* Health.make({ store }).scores)("p0")
          if (score === undefined || found === undefined) assert.strictEqual(found, score)
          else assert.closeTo(found, score, 1e-9)
        }
      })
    )
  )

  it.live("H1, F8: replays, callers' own keys and mistakes, and what is out of the window, say nothing", () =>
    virtual(
      Effect.gen(function* () {
        const store = yield* TelemetryStore.makeMemory()
        yield* store.append([
          row(["served"], 1, { replayed: true }),
          row(["served"], 1, { byo: true }),
          row(["served"], 1, { cached: true }),
          row(["client_fault"], 1),
          row(["served"], 1, { outcome: "cancelled" }),
          row(["served"], 1, { at: -900_000 })
        ])
        assert.deepStrictEqual(yield* store.aggregate(900_000), [])
      })
    )
  )

  it.live("H3: an answer is used again for 60 s, and a store that is down changes nothing", () =>
    virtual(
      Effect.gen(function* () {
        let asked = 0
        let isDown = false
        const memory = yield* TelemetryStore.makeMemory()
        yield* memory.append([row(["served"], 0)])
        const store: TelemetryStore.Service = {
          ...memory,
          aggregate: (window) => {
            asked++
            return isDown ? down("telemetry") : memory.aggregate(window)
          }
        }
        const health = Health.make({ store })
        const score = Effect.map(health.scores, (of) => of("p0"))
        yield* score
        yield* Effect.sleep("59 seconds")
        yield* score
        assert.strictEqual(asked, 1)
        isDown = true
        yield* Effect.sleep("1 second")
        assert.strictEqual(yield* score, 1)
        assert.strictEqual(asked, 2)
      })
    )
  )

  it.live("H2: on, the chain is sorted by score; off, nothing is asked", () =>
    virtual(
      Effect.gen(function* () {
        for (const [reorderByHealth, model] of [
          [true, "m2"],
          [false, "m1"]
        ] as const) {
          let asked = 0
          const memory = yield* TelemetryStore.makeMemory()
          yield* memory.append(
            times(
              5,
              row(["timeout"], 100, {
                attempts: [{ model: "m1", provider: "p1", kind: "timeout", latency: 100, state: null }]
              })
            )
          )
          const store: TelemetryStore.Service = {
            ...memory,
            aggregate: (window) => {
              asked++
              return memory.aggregate(window)
            }
          }
          const settings = Fallback.make({ reorderByHealth, budget: 1 })
          const { pipeline } = yield* build([scripted("p0", status(503)), scripted("p1", ok()), scripted("p2", ok())], {
            stages: [Pipeline.fallback({ settings, health: Health.make({ store }).scores })]
          })
          assert.strictEqual((yield* pipeline.runUnscoped(ask())).model, model)
          assert.strictEqual(asked, reorderByHealth ? 1 : 0)
        }
      })
    )
  )
})
