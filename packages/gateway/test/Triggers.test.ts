import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { expect } from "vitest"
import * as Config from "../src/Config.js"
import * as Gateway from "../src/Gateway.js"
import { chat, type Reply, send } from "./support.js"

// Every kind of failure, at the primary and at the first hop, as JSON and as a stream, under each trigger set: which
// targets are called, what the client gets, what telemetry says, what the breakers count. Written from ROUTING F4, F6, W3,
// T1 and SEMANTICS P4, not from what the gateway does. `unknown` is what no answer over HTTP is.

type Trigger = "recommended" | "ibex" | "nrLlm"

interface Case {
  /** undefined: the target's circuit was opened by hand. */
  readonly upstream: Upstream.Behaviour | undefined
  readonly moves: ReadonlyArray<Trigger>
  /** What the client gets if nobody else serves: status and code. */
  readonly gets: readonly [status: number, code: string]
  readonly counts: boolean
}

const all: ReadonlyArray<Trigger> = ["recommended", "ibex", "nrLlm"]
const none: ReadonlyArray<Trigger> = []

const cases: Readonly<Record<string, Case>> = {
  rate_limit: {
    upstream: Upstream.status(429),
    moves: ["recommended", "nrLlm"],
    gets: [429, "rate_limit_exceeded"],
    counts: true
  },
  quota_exhausted: {
    upstream: Upstream.status(429, {
      type: "insufficient_quota",
      code: "insufficient_quota",
      message: "You exceeded it."
    }),
    moves: ["recommended"],
    gets: [429, "insufficient_quota"],
    counts: true
  },
  overloaded: { upstream: Upstream.status(529), moves: all, gets: [503, "provider_overloaded"], counts: true },
  server_error: { upstream: Upstream.status(500), moves: all, gets: [500, "provider_error"], counts: true },
  timeout: { upstream: Upstream.hangBeforeHeaders, moves: all, gets: [504, "provider_timeout"], counts: true },
  network_error: {
    upstream: Upstream.resetBeforeHeaders,
    // ADR-0077 moves on by status, and a broken connection has none
    moves: ["recommended", "nrLlm"],
    gets: [502, "provider_unreachable"],
    counts: true
  },
  auth: { upstream: Upstream.status(401), moves: ["recommended"], gets: [503, "provider_unavailable"], counts: false },
  model_unavailable: {
    upstream: Upstream.status(404),
    moves: ["recommended"],
    gets: [404, "model_not_found"],
    counts: false
  },
  context_length: {
    upstream: Upstream.contextLength,
    // no target is said to have a larger window
    moves: none,
    gets: [400, "context_length_exceeded"],
    counts: false
  },
  content_filter: {
    upstream: Upstream.status(400, { type: "invalid_request_error", code: "content_filter", message: "Filtered." }),
    moves: none,
    gets: [400, "content_filter"],
    counts: false
  },
  client_fault: { upstream: Upstream.status(422), moves: none, gets: [422, "invalid_request"], counts: false },
  circuit_open: { upstream: undefined, moves: all, gets: [503, "provider_circuit_open"], counts: false }
}

interface AttemptRow {
  readonly model: string
  readonly provider: string
  readonly kind: string
}

interface TelemetryRow {
  readonly id: string
  readonly status: number
  readonly outcome: string
  readonly requestedModel: string
  readonly servedModel: string | null
  readonly originalModel: string | null
  readonly fallbackModel: string | null
  readonly fallbackReason: string
  readonly attempts: ReadonlyArray<AttemptRow>
}

const field = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

const codeOf = ({ text }: Reply): unknown => {
  try {
    return field(field(JSON.parse(text), "error"), "code")
  } catch {
    return undefined
  }
}

const quiet = Logger.replace(Logger.defaultLogger, Logger.none)

/** Models `main`, `spare`, `last`, each on an upstream of its own, each next in the chain of the first. */
const world = (trigger: Trigger) =>
  Effect.gen(function* () {
    const upstreams = [
      yield* Upstream.make([Upstream.ok()]),
      yield* Upstream.make([Upstream.ok()]),
      yield* Upstream.make([Upstream.ok()])
    ]
    const policy = "{ trip: { _tag: Consecutive, failureThreshold: 100000 } }"
    const provider = ({ baseUrl }: Upstream.Upstream, index: number) =>
      `  - { name: p${index}, kind: openai-compatible, baseUrl: "${baseUrl}", breaker: { policy: ${policy} }, timeouts: { connect: 500, firstOutput: 150, idle: 150, total: 250 } }`
    const config = yield* Config.decode(`server: { port: 0 }
providers:
${upstreams.map(provider).join("\n")}
models:
  - { name: main, provider: p0, fallbackChain: [spare, last] }
  - { name: spare, provider: p1 }
  - { name: last, provider: p2 }
fallback: { preset: ${trigger}, maxDepth: 2, budget: 1 }
`)
    const context = yield* Layer.build(Gateway.layerConfigured(config).pipe(Layer.provide(quiet)))
    const { url } = yield* Effect.provide(Gateway.Gateway, context)
    return { url, upstreams }
  })

const streak = (url: string, name: string) =>
  Effect.map(send(url, { path: `/admin/breakers/${name}` }), ({ text }) => Number(field(JSON.parse(text), "streak")))

/** Rows reach the store in batches; asked for until all are there. */
const rowsOf = (url: string, count: number): Effect.Effect<ReadonlyMap<string, TelemetryRow>> =>
  Effect.gen(function* () {
    while (true) {
      const { text } = yield* send(url, { path: "/admin/telemetry?limit=1000" })
      const { rows } = JSON.parse(text) as { readonly rows: ReadonlyArray<TelemetryRow> }
      if (rows.length >= count) return new Map(rows.map((row) => [row.id, row]))
      yield* Effect.sleep("50 millis")
    }
  })

describe.each(all)("the trigger set %s", (trigger) => {
  it.scopedLive.each(["JSON", "stream"])(
    "%s: every kind of failure, at the primary and at a hop",
    (form) =>
      Effect.gen(function* () {
        const { upstreams, url } = yield* world(trigger)
        const shown: Record<string, unknown> = {}
        const expected: Record<string, unknown> = {}
        const places = ["primary", "hop"] as const
        for (const [kind, { counts, gets, moves, upstream }] of Object.entries(cases)) {
          for (const [index, place] of places.entries()) {
            const name = `${kind} at the ${place}`
            const id = name.replaceAll(" ", "-")
            yield* Effect.forEach(upstreams, (each) => each.setScript([Upstream.ok()]))
            if (place === "hop") yield* upstreams[0]?.setScript([Upstream.status(500)]) ?? Effect.void
            if (upstream !== undefined) yield* upstreams[index]?.setScript([upstream]) ?? Effect.void
            else yield* send(url, { method: "POST", path: `/admin/breakers/p${index}/open`, body: "{}" })
            const before = yield* streak(url, `p${index}`)
            const reply = yield* send(url, chat("main", { stream: form === "stream", headers: { "x-request-id": id } }))
            const counted = (yield* streak(url, `p${index}`)) - before
            const called = yield* Effect.forEach(upstreams, ({ count }) => count)
            if (upstream === undefined) {
              yield* send(url, { method: "POST", path: `/admin/breakers/p${index}/reset`, body: "{}" })
            }
            shown[name] = {
              called,
              counted: upstream === undefined ? "refused" : counted,
              status: reply.status,
              code: codeOf(reply) ?? null,
              attempts: reply.headers["x-switchgear-attempts"],
              fallback: reply.headers["x-switchgear-provider-fallback"] ?? null,
              used: reply.headers["x-switchgear-provider-used"] ?? null
            }

            const went = moves.includes(trigger)
            const reached = upstream === undefined ? 0 : 1
            const served = went ? (place === "primary" ? "spare" : "last") : null
            // F6: `surface: primary` answers the primary's error; nrLlm lists all, under the first one's code
            const [status, code] = place === "primary" ? gets : [500, "provider_error"]
            expected[name] = {
              called: place === "primary" ? [reached, went ? 1 : 0, 0] : [1, reached, went ? 1 : 0],
              counted: upstream === undefined ? "refused" : counts ? 1 : 0,
              status: served === null ? status : 200,
              code: served === null ? code : null,
              attempts: String(reached + (place === "hop" ? 1 : 0) + (went ? 1 : 0)),
              fallback: served === null ? null : "true",
              used: served
            }
          }
        }
        expect(shown).toEqual(expected)

        const rows = yield* rowsOf(url, Object.keys(expected).length)
        const told: Record<string, unknown> = {}
        const wanted: Record<string, unknown> = {}
        for (const [kind, { gets, moves, upstream }] of Object.entries(cases)) {
          for (const place of places) {
            const name = `${kind} at the ${place}`
            const row = rows.get(name.replaceAll(" ", "-"))
            told[name] = row && {
              status: row.status,
              outcome: row.outcome,
              requested: row.requestedModel,
              served: row.servedModel,
              original: row.originalModel,
              fallback: row.fallbackModel,
              reason: row.fallbackReason,
              attempts: row.attempts.map((each) => `${each.model}@${each.provider} ${each.kind}`)
            }
            const went = moves.includes(trigger)
            const served = went ? (place === "primary" ? "spare" : "last") : null
            const first = place === "primary" ? kind : "server_error"
            const attempts = [`main@p0 ${first}`]
            // H4: the recommended settings try the healthy one of two first
            const passed = upstream === undefined && trigger === "recommended"
            if (place === "hop" && !passed) attempts.push(`spare@p1 ${kind}`)
            if (went) attempts.push(place === "primary" ? "spare@p1 served" : "last@p2 served")
            wanted[name] = {
              status: served === null ? (place === "primary" ? gets[0] : 500) : 200,
              outcome: served === null ? first : "success",
              requested: "main",
              served,
              original: served === null ? null : "main",
              fallback: served,
              reason: served === null ? "" : first,
              attempts
            }
          }
        }
        expect(told).toEqual(wanted)
      }).pipe(Effect.orDie),
    60_000
  )
})
