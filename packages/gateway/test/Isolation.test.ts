import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect } from "vitest"
import { chat, errorOf, fixture, send } from "./support.js"

interface Shown {
  readonly breakers: ReadonlyArray<{
    readonly name: string
    readonly state: string
    readonly why?: string
    readonly until?: string
    readonly retryAfter?: number
    readonly transitions: ReadonlyArray<{ readonly from: string; readonly to: string; readonly why: string }>
  }>
}

const shown = (url: string) =>
  Effect.map(send(url, { path: "/admin/breakers" }), (reply) => (JSON.parse(reply.text) as Shown).breakers)

const policy = (cooldown: number) =>
  `{ trip: { _tag: Consecutive, failureThreshold: 3 }, cooldown: { base: ${cooldown} } }`

describe("isolation", () => {
  it.scopedLive("after the trip the primary gets no call, and the breaker says why and until when", () =>
    Effect.gen(function* () {
      const { backup, primary, url } = yield* fixture({ primary: [Upstream.status(500)], policy: policy(60_000) })
      for (let i = 0; i < 10; i++) {
        const reply = yield* send(url, chat("main"))
        expect([reply.status, reply.headers["x-switchgear-attempts"]]).toEqual([200, i < 3 ? "2" : "1"])
      }
      expect([yield* primary.count, yield* backup.count]).toEqual([3, 10])
      const [one] = yield* shown(url)
      expect([one?.name, one?.state]).toEqual(["one", "Open"])
      expect(one?.why).toMatch(/3 failures in a row \(latest: server_error\) reached the threshold of 3/)
      expect(Date.parse(one?.until ?? "")).toBeGreaterThan(0)
      expect(one?.transitions.map(({ from, to }) => [from, to])).toEqual([["Closed", "Open"]])
    })
  )

  it.scopedLive("with nowhere to go: 503, Retry-After in whole seconds, and no provider's name (ROUTING W2)", () =>
    Effect.gen(function* () {
      const { primary, url } = yield* fixture({ primary: [Upstream.status(500)], policy: policy(60_000) })
      yield* Effect.replicateEffect(send(url, chat("single")), 3)
      for (const stream of [false, true]) {
        const reply = yield* send(url, chat("single", { stream }))
        expect([reply.status, errorOf(reply).code]).toEqual([503, "provider_circuit_open"])
        expect(errorOf(reply).message).toBe("LLM provider circuit breaker is open")
        expect(reply.headers["retry-after"]).toMatch(/^(5\d|60)$/)
        expect(reply.headers["x-switchgear-attempts"]).toBe("0")
      }
      expect(yield* primary.count).toBe(3)
    })
  )

  it.scopedLive("after the cooldown exactly one of 50 callers at once is the probe; it closes the breaker", () =>
    Effect.gen(function* () {
      let answered = false
      // The probe's answer waits until all others are served, however slow the machine.
      const probed: Upstream.Behaviour = {
        name: "held",
        *steps(call) {
          while (!answered) yield { _tag: "Wait", millis: 5 }
          yield* Upstream.ok().steps(call)
        }
      }
      const down = Upstream.status(500)
      const { backup, primary, url } = yield* fixture({
        primary: [down, down, down, probed],
        policy: policy(100),
        timeouts: "{ firstOutput: 20000, total: 20000 }"
      })
      yield* Effect.replicateEffect(send(url, chat("main")), 3)
      yield* Effect.sleep(120)
      const callers = yield* Effect.fork(
        Effect.all(Effect.replicate(send(url, chat("main")), 50), { concurrency: "unbounded" })
      )
      yield* Effect.repeat(Effect.zipRight(Effect.sleep(5), backup.count), { until: (count) => count === 52 })
      answered = true
      const replies = yield* Fiber.join(callers)
      expect(replies.map((reply) => reply.status)).toEqual(Array.from({ length: 50 }, () => 200))
      const substituted = replies.filter((reply) => reply.headers["x-switchgear-provider-fallback"] === "true")
      expect([yield* primary.count, substituted.length]).toEqual([4, 49])
      const [one] = yield* shown(url)
      expect(one?.transitions.map(({ to }) => to)).toEqual(["Open", "HalfOpen", "Closed"])
    })
  )

  it.scopedLive("a probe whose caller leaves gives its place to the next", () =>
    Effect.gen(function* () {
      const { primary, url } = yield* fixture({
        primary: [
          Upstream.status(500),
          Upstream.status(500),
          Upstream.status(500),
          Upstream.hangBeforeHeaders,
          Upstream.ok()
        ],
        policy: policy(50),
        timeouts: "{ firstOutput: 5000, total: 10000 }"
      })
      yield* Effect.replicateEffect(send(url, chat("main")), 3)
      yield* Effect.sleep(70)
      const probe = yield* Effect.fork(send(url, chat("main")))
      const call = yield* primary.call(3)
      expect((yield* send(url, chat("main"))).headers["x-switchgear-provider-used"]).toBe("spare")
      yield* Fiber.interrupt(probe)
      expect(yield* call.closed).toBe("left")
      yield* Effect.repeat(shown(url), { until: ([one]) => one?.retryAfter === 0 })
      expect((yield* send(url, chat("main"))).headers["x-switchgear-provider-used"]).toBeUndefined()
      expect((yield* shown(url))[0]?.state).toBe("Closed")
    })
  )
})
