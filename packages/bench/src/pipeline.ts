import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Fallback from "@switchgear/core/Fallback"
import * as Policy from "@switchgear/core/Policy"
import { type Answer, type Provider, ProviderError } from "@switchgear/providers/Provider"
import * as Access from "@switchgear/routing/Access"
import * as Budget from "@switchgear/routing/Budget"
import * as Cache from "@switchgear/routing/Cache"
import * as Idempotency from "@switchgear/routing/Idempotency"
import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as Pipeline from "@switchgear/routing/Pipeline"
import type { Stage } from "@switchgear/routing/Stage"
import * as Telemetry from "@switchgear/routing/Telemetry"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as Usage from "@switchgear/routing/Usage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionPlan from "effect/ExecutionPlan"
import { type Contestant, figure, measure } from "./measure.js"
import { type Aim, nanos, ratio, type Subject } from "./report.js"

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

const answer: Answer = {
  _tag: "Json",
  status: 200,
  headers: { "content-type": "application/json" },
  body: encode({
    id: "chatcmpl-1",
    object: "chat.completion",
    model: "gpt-4o",
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 }
  })
}

const down = new ProviderError({
  provider: "primary",
  failure: { kind: "server_error", scope: "provider", status: 503, message: "down" }
})

const serving: Effect.Effect<Answer, ProviderError> = Effect.succeed(answer)
const failing: Effect.Effect<Answer, ProviderError> = Effect.fail(down)

const providerOf = (name: string, does: Effect.Effect<Answer, ProviderError>): Provider => ({ name, call: () => does })

const body = encode({ model: "gpt-4o", messages: [{ role: "user", content: "say hello" }] })

/** Never trips, so that every call takes the same way. */
const policy = Policy.consecutive({ failureThreshold: 1_000_000_000 })

const looped = (name: string, call: () => Effect.Effect<unknown, unknown>): Contestant => {
  const body = Effect.orDie(Effect.suspend(call))
  return {
    name,
    run: async (calls) => {
      let left = calls
      await Effect.runPromise(
        Effect.whileLoop({
          while: () => left > 0,
          body: () => body,
          step: () => {
            left--
          }
        })
      )
    }
  }
}

class Target extends Context.Tag("bench/Target")<Target, Effect.Effect<Answer, ProviderError>>() {}

/** Effect's own, in its fast form: contexts instead of layers. */
const plan = (name: string, primary: Effect.Effect<Answer, ProviderError>): Contestant => {
  const steps = ExecutionPlan.make(
    { provide: Context.make(Target, primary), attempts: 1 },
    { provide: Context.make(Target, serving), attempts: 1 }
  )
  const call = Effect.withExecutionPlan(Effect.flatten(Target), steps)
  return looped(name, () => call)
}

const settings = Fallback.make({ budget: 1 })

const ours = (
  name: string,
  primary: Effect.Effect<Answer, ProviderError>,
  stages: ReadonlyArray<Stage>,
  access?: Access.Access
): Effect.Effect<Contestant> =>
  Effect.gen(function* () {
    const breaker = (of: string) => CircuitBreaker.make({ name: of, policy })
    const pipeline = yield* Pipeline.make({
      providers: [
        { provider: providerOf("primary", primary), breaker: yield* breaker("primary") },
        { provider: providerOf("backup", serving), breaker: yield* breaker("backup") }
      ],
      models: [
        { name: "gpt-4o", provider: "primary", fallbackChain: ["backup"] },
        { name: "backup", provider: "backup", upstream: "gpt-4o" }
      ],
      stages,
      access
    })
    let calls = 0
    return looped(name, () => {
      const idempotencyKey = `key-${calls++}`
      const request = { model: "gpt-4o", operation: "chat.completions", body, stream: false, headers: {} } as const
      return pipeline.runUnscoped({ ...request, idempotencyKey })
    })
  }).pipe(Effect.orDie)

const all = Effect.gen(function* () {
  const telemetry = yield* Telemetry.make({ store: yield* TelemetryStore.makeMemory() })
  const idempotency = yield* Idempotency.make({ store: yield* IdempotencyStore.makeMemory() })
  const budgets = yield* Budget.makeMemory
  return [
    telemetry.stage,
    idempotency,
    // every call is another, as to the cache: it is asked, and kept what it is given
    Cache.stage({ store: yield* Cache.makeMemory(), ttl: 0 }),
    Budget.stage({ store: budgets, limits: [{ org: "*", window: "1 day", usd: 1_000_000_000 }] }),
    Pipeline.fallback({ settings }),
    Usage.stage(),
    Pipeline.breaker()
  ]
})

const names = {
  plan: "Effect's ExecutionPlan",
  fallback: "fallback alone",
  breakers: "fallback, usage, breakers",
  all: "all stages, policies"
}

/**
 * What a call costs in the pipeline, beside Effect's `ExecutionPlan` over the same two targets doing nothing but
 * fallback: once the primary serves, once it fails and the backup serves.
 */
export const pipeline: Subject = {
  name: "pipeline",
  run: () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const policies = yield* ModelPolicies.makeMemory({
            rules: [{ org: "*", model: "*", fallbackChain: ["backup"] }]
          })
          const tables = []
          const aims: Array<Aim> = []
          for (const [title, primary] of [
            ["the primary serves", serving],
            ["the primary fails, the backup serves", failing]
          ] as const) {
            const contestants = [
              plan(names.plan, primary),
              yield* ours(names.fallback, primary, [Pipeline.fallback({ settings })]),
              yield* ours(names.breakers, primary, [
                Pipeline.fallback({ settings }),
                Usage.stage(),
                Pipeline.breaker()
              ]),
              yield* ours(names.all, primary, yield* all, Access.policies(policies))
            ]
            const figures = yield* Effect.promise(() => measure(contestants))
            const base = figure(figures, names.plan)
            tables.push({
              title: `Pipeline: ${title}`,
              columns: ["", "ns/call", "to ExecutionPlan"],
              rows: figures.map(({ name, nanos: value }) => [name, nanos(value), ratio(value, base)])
            })
            const aim = (name: string, atMost: number): Aim => ({
              what: `pipeline, ${title}: ${name}, to ExecutionPlan`,
              value: figure(figures, name) / base,
              atMost,
              unit: "x"
            })
            aims.push(aim(names.fallback, 1), aim(names.all, 4))
          }
          return { tables, aims }
        }).pipe(Effect.orDie)
      )
    )
}
