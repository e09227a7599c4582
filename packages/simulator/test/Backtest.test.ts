import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Policy from "@switchgear/core/Policy"
import * as Provider from "@switchgear/providers/Provider"
import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
import * as Pipeline from "@switchgear/routing/Pipeline"
import * as Telemetry from "@switchgear/routing/Telemetry"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Backtest from "../src/Backtest.js"

const decode = (text: string) => Either.getOrThrowWith(Backtest.decode(text), (error) => error)

const lines = (rows: ReadonlyArray<unknown>): string => rows.map((row) => JSON.stringify(row)).join("\n")

const three = { name: "three", policy: Policy.consecutive({ failureThreshold: 3 }) }

const call = (at: number, outcome = "success") => ({ at, target: "openai", outcome, latency: 50 })

describe("a log", () => {
  it("is JSON lines, a list, or what /admin/telemetry answers", () => {
    const rows = [call(0), call(9, "timeout")]
    const attempts = decode(lines(rows))
    expect(attempts.map(({ outcome }) => outcome)).toEqual(["success", "failure"])
    expect(decode(JSON.stringify(rows))).toEqual(attempts)
    expect(decode(JSON.stringify({ rows }))).toEqual(attempts)
  })

  it("of telemetry: each attempt by itself, one after the other", () => {
    const attempt = (provider: string, kind: string, latency: number | null) => ({
      model: "m",
      provider,
      kind,
      latency,
      state: null
    })
    const row = {
      at: "1970-01-01T00:00:10.000Z",
      outcome: "success",
      latency: 800,
      byo: false,
      attempts: [
        attempt("a", "timeout", 700),
        attempt("b", "circuit_open", null),
        attempt("", "denied", null),
        attempt("c", "served", 90)
      ]
    }
    expect(decode(lines([row, { ...row, byo: true }]))).toEqual([
      { at: 10_010, target: "a", slack: 12, outcome: "failure", kind: "timeout", latency: 700 },
      { at: 10_710, target: "b", slack: 12, outcome: "refused", latency: null },
      { at: 10_710, target: "c", slack: 12, outcome: "success", latency: 90 }
    ])
  })

  it("names the lines it cannot read, and what they lack", () => {
    const wrong = Backtest.decode(`{"at":1}\nnonsense\n{"target":"a","outcome":"success"}\n{"at":1,"target":"a"}`, {
      source: "my.jsonl"
    })
    expect(Either.isLeft(wrong) && wrong.left.message).toMatch(
      /^my.jsonl cannot be replayed:.*line 2: is not JSON.*line 1: target is missing.*line 3: at is missing.*line 4: outcome is missing/s
    )
    expect(Either.isLeft(Backtest.decode(""))).toBe(true)
  })
})

describe("a backtest", () => {
  it("counts what a policy would have refused", () => {
    const log = decode(
      lines([
        call(0, "timeout"),
        call(100, "timeout"),
        call(200, "timeout"),
        call(300),
        call(400, "timeout"),
        call(30_250)
      ])
    )
    const [openai] = Backtest.run(log, three).targets
    expect(openai?.best).toMatchObject({
      openings: 1,
      refused: 2,
      refusedGood: 1,
      refusedBad: 1,
      admittedBad: 3,
      probes: 1,
      openFor: 30_050
    })
    expect(openai?.best).toEqual(openai?.worst)
    expect(openai?.best.changes.map(({ at, to }) => [at, to])).toEqual([
      [250, "Open"],
      [30_250, "HalfOpen"],
      [30_300, "Closed"]
    ])
  })

  it("brackets what life refused between all good and all bad, and says so", () => {
    const log = decode(
      lines([call(0, "timeout"), call(100, "timeout"), ...[200, 300, 400, 500].map((at) => call(at, "circuit_open"))])
    )
    const report = Backtest.run(log, three)
    const [openai] = report.targets
    expect(openai).toMatchObject({
      refusedInLife: 4,
      best: { openings: 0, guessed: 4 },
      worst: { openings: 1, guessed: 1 }
    })
    expect(openai?.worst.changes[0]?.reason).toMatchObject({ kind: "timeout" })
    expect(report.unknown[0]).toMatch(/^4 of 6 calls were refused in life/)
  })

  it("says what else a log cannot know, where it matters", () => {
    const log = decode(lines([call(0)]))
    const said = (name: keyof typeof Policy.presets) =>
      Backtest.run(log, { name, policy: Policy.presets[name] }).unknown.join(" ")
    expect(said("hosted")).toMatch(/Retry-After/)
    expect(said("hosted")).toMatch(/jitter/)
    expect(said("ibex.cloud")).toMatch(/bucket/)
    expect(said("nrLlm")).not.toMatch(/Retry-After|jitter|bucket|refused in life/)
  })

  it("keeps its counts together, and best opens no more often than worst where only refusals are unknown", () => {
    const outcome = fc.constantFrom("success", "timeout", "server_error", "circuit_open", "auth")
    const rows = fc.array(fc.record({ gap: fc.nat(20_000), outcome }), { minLength: 1, maxLength: 80 })
    fc.assert(
      fc.property(rows, fc.constantFrom(...Object.values(Policy.presets)), (gaps, policy) => {
        let at = 0
        const timed = gaps.map(({ gap, outcome }) => {
          at += gap
          return call(at, outcome)
        })
        const log = decode(lines(timed))
        for (const { best, calls, worst } of Backtest.run(log, { name: "p", policy }).targets) {
          for (const one of [best, worst]) {
            expect(one.admitted + one.refused).toBe(calls)
            expect(one.refusedGood + one.refusedBad).toBeLessThanOrEqual(one.refused)
            expect(one.changes.filter(({ to }) => to === "Open")).toHaveLength(one.openings)
          }
        }
      })
    )
  })

  it("of telemetry that the pipeline wrote, under the same policy, makes the transitions that were made", async () => {
    const step = fc.constantFrom("ok", "ok", "down", "auth") // calls one after the other, as fast or slow as they come
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ step, pause: fc.integer({ min: 0, max: 20_000 }), latency: fc.nat(900) }), {
          minLength: 5,
          maxLength: 60
        }),
        async (steps) => {
          const policy = Policy.consecutive({ failureThreshold: 2 })
          const program = Effect.gen(function* () {
            const breaker = yield* CircuitBreaker.make({ name: "openai", policy })
            let index = 0
            const provider = ScriptedProvider.make("openai", () => {
              const { latency = 0, step = "ok" } = steps[index] ?? {}
              const answers: Readonly<Record<string, ScriptedProvider.Step>> = {
                ok: ScriptedProvider.ok(),
                down: ScriptedProvider.status(503),
                auth: ScriptedProvider.status(401)
              }
              return ScriptedProvider.delay(answers[step] ?? ScriptedProvider.ok(), latency)
            })
            const store = yield* TelemetryStore.makeMemory()
            const telemetry = yield* Telemetry.make({ store })
            const pipeline = yield* Pipeline.make({
              providers: [{ provider, breaker }],
              models: [{ name: "m", provider: "openai" }],
              stages: [telemetry.stage, Pipeline.fallback(), Pipeline.breaker()]
            })
            const { body } = Provider.request("chat.completions", { model: "m", messages: [] })
            for (const { pause } of steps) {
              yield* Effect.sleep(pause)
              yield* Effect.either(
                pipeline.runUnscoped({ model: "m", operation: "chat.completions", body, stream: false, headers: {} })
              )
              index++
            }
            yield* Effect.sleep("1 minute")
            const rows = yield* store.recent(1_000)
            return { rows, transitions: (yield* CircuitBreaker.status(breaker)).transitions }
          })
          const { rows, transitions } = await Effect.runPromise(
            program.pipe(Effect.scoped, VirtualClock.withClock(VirtualClock.make()))
          )
          const report = Backtest.run(decode(JSON.stringify({ rows })), { name: "same", policy })
          for (const replayed of [report.targets[0]?.best, report.targets[0]?.worst]) {
            const changes = replayed?.changes.slice(-20) ?? []
            expect(changes.map(({ at, from, reason, to }) => ({ at, from, to, reason }))).toEqual(
              transitions.map(({ at, from, reason, to }) => ({ at, from, to, reason }))
            )
          }
        }
      ),
      { numRuns: 40 }
    )
  })
})
