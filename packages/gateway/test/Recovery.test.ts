import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect } from "vitest"
import { chat, events, fixture, send } from "./support.js"

interface Shown {
  readonly breakers: ReadonlyArray<{
    readonly state: string
    readonly transitions: ReadonlyArray<{ readonly to: string }>
  }>
}

const first = (url: string) =>
  Effect.map(send(url, { path: "/admin/breakers" }), ({ text }) => (JSON.parse(text) as Shown).breakers[0])

describe("recovery (SEMANTICS R7)", () => {
  it.scopedLive("a provider whose healthy streams last longer than a probe's lease recovers from HalfOpen", () =>
    Effect.gen(function* () {
      const lease = 1000
      let last = false
      /** A part at once, the rest when it is told: however slow the machine, the stream is longer than the lease. */
      const long: Upstream.Behaviour = {
        name: "long",
        *steps(call) {
          const steps = [...Upstream.drip(20, { parts: ["a", "b", "c"] }).steps(call)]
          yield* steps.slice(0, 6)
          yield { _tag: "Wait", millis: 2 * lease }
          while (!last) yield { _tag: "Wait", millis: 5 }
          yield* steps.slice(6)
        }
      }
      const { primary, url } = yield* fixture({
        primary: [Upstream.status(500), Upstream.status(500), long, Upstream.ok()],
        policy: `{ trip: { _tag: Consecutive, failureThreshold: 2 }, cooldown: { base: 50 }, halfOpen: { probeTimeout: ${lease} } }`,
        timeouts: "{ firstOutput: 20000, idle: 20000, total: 60000 }"
      })
      yield* Effect.replicateEffect(send(url, chat("single")), 2)
      yield* Effect.sleep(70)
      const probe = yield* Effect.fork(send(url, chat("single", { stream: true })))
      yield* primary.call(2)
      yield* Effect.repeat(first(url), { until: (breaker) => breaker?.state === "Closed" })
      yield* Effect.sleep(1.2 * lease)
      // It is still under way, and others are served.
      expect((yield* send(url, chat("single"))).status).toBe(200)
      last = true
      const reply = yield* Fiber.join(probe)
      expect(events(reply.text).at(-1)).toBe("[DONE]")
      const breaker = yield* first(url)
      expect([breaker?.state, breaker?.transitions.map(({ to }) => to)]).toEqual([
        "Closed",
        ["Open", "HalfOpen", "Closed"]
      ])
    })
  )
})
