import * as Config from "@switchgear/gateway/Config"
import * as Gateway from "@switchgear/gateway/Gateway"
import type { Scenario } from "@switchgear/simulator/Scenario"
import type { Answer, Script } from "@switchgear/simulator/Script"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"

/** What a live run left behind, as the gateway's own admin routes tell it. */
export interface Life {
  /** ms since 1970 */
  readonly startedAt: number
  readonly breakers: ReadonlyArray<{
    readonly name: string
    readonly transitions: ReadonlyArray<{
      readonly at: string
      readonly from: string
      readonly to: string
      readonly reason: { readonly rule: string }
    }>
  }>
  /** The answer of `/admin/telemetry`. */
  readonly telemetry: string
  /** The calls by the status their client got. */
  readonly statuses: ReadonlyMap<number, number>
}

const behaviourOf = (answer: Answer | undefined): Upstream.Behaviour => {
  const after = (millis: number, behaviour: Upstream.Behaviour): Upstream.Behaviour => ({
    name: behaviour.name,
    steps: function* (call) {
      yield { _tag: "Wait", millis }
      yield* behaviour.steps(call)
    }
  })
  switch (answer?._tag) {
    case "Ok":
      return after(answer.latency, Upstream.ok())
    case "Error":
      return after(
        answer.latency,
        Upstream.raw({ status: answer.status, headers: answer.headers, chunks: [answer.body] })
      )
    case "Reset":
      return after(answer.latency, Upstream.resetBeforeHeaders)
    case "Hang":
    case undefined:
      return Upstream.hangBeforeHeaders
  }
}

/** The gateway's file for a scenario: the same providers, models, policy and limits. */
const fileOf = (scenario: Scenario, urls: ReadonlyMap<string, string>): string =>
  JSON.stringify({
    server: { port: 0, drain: 100 },
    providers: scenario.providers.map(({ limits, name }) => ({
      name,
      kind: "openai-compatible",
      baseUrl: urls.get(name),
      apiKey: "none",
      breaker: { policy: scenario.breakers.policy },
      timeouts: { total: limits.total }
    })),
    models: scenario.models.map(({ fallbackChain, name, provider }) => ({ name, provider, fallbackChain })),
    fallback: scenario.fallback
  })

const numberOf = (json: unknown): number => {
  const user = typeof json === "object" && json !== null && "user" in json ? Number(json.user) : Number.NaN
  return Number.isSafeInteger(user) ? user : 0
}

const get = (url: string): Effect.Effect<string> => Effect.promise(async () => (await fetch(url)).text())

/** Plays a scenario in real time: the gateway on a socket, its upstreams on others, a client that keeps the arrivals. */
export const live = (scenario: Scenario, script: Script): Effect.Effect<Life, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    let startedAt = 0
    const clock = yield* Effect.clock
    const urls = new Map<string, string>()
    for (const { name } of scenario.providers) {
      const upstream = yield* Upstream.make((call) =>
        behaviourOf(script.answer(name, numberOf(call.json), call.model, clock.unsafeCurrentTimeMillis() - startedAt))
      )
      urls.set(name, upstream.baseUrl)
    }
    const config = yield* Config.decode(fileOf(scenario, urls))
    const context = yield* Layer.build(
      Gateway.layerConfigured(config).pipe(Layer.provide(Logger.remove(Logger.defaultLogger)))
    )
    const { url } = yield* Effect.provide(Gateway.Gateway, context)
    const statuses = new Map<number, number>()
    const [model] = scenario.models
    const ask = (index: number): Effect.Effect<void> =>
      Effect.promise(async () => {
        const signal = AbortSignal.timeout(scenario.clients.timeout)
        const body = JSON.stringify({
          model: model.name,
          user: String(index),
          messages: [{ role: "user", content: "?" }]
        })
        const status = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
          signal
        }).then(
          async (answer) => {
            await answer.arrayBuffer()
            return answer.status
          },
          () => 0
        )
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      })
    // connections are made and code is compiled before the first call that counts
    startedAt = yield* Clock.currentTimeMillis
    let index = 0
    for (const { at } of script.arrivals) {
      const wait = startedAt + at - (yield* Clock.currentTimeMillis)
      if (wait > 0) yield* Effect.sleep(wait)
      yield* Effect.forkScoped(ask(index++))
    }
    yield* Effect.sleep(Math.max(0, startedAt + scenario.duration - (yield* Clock.currentTimeMillis)))
    const { breakers } = JSON.parse(yield* get(`${url}/admin/breakers`)) as Pick<Life, "breakers">
    yield* Effect.sleep(2_500)
    return { startedAt, breakers, telemetry: yield* get(`${url}/admin/telemetry?limit=1000`), statuses }
  })
