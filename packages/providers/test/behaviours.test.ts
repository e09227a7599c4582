import { describe, it } from "@effect/vitest"
import type * as HttpProvider from "@switchgear/providers/HttpProvider"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { assert } from "vitest"
import { canary, operations, outcome, request, setup } from "./harness.js"

/** What a call to an upstream that behaves so ends in: a kind, whether output had been passed on, and the failure's code. */
interface Row {
  readonly behaviour: Upstream.Behaviour
  readonly json: string
  readonly sse: string
  readonly code?: string
  readonly timeouts?: HttpProvider.Timeouts
}

const slow = 10_000
/** Short where the row waits for it, long where it must not come first. */
const firstOutput = { connect: slow, firstOutput: 60, idle: slow, total: slow }
const idle = { connect: slow, firstOutput: slow, idle: 60, total: slow }

const rows: ReadonlyArray<Row> = [
  { behaviour: Upstream.ok(), json: "ok", sse: "ok" },
  { behaviour: Upstream.drip(5), json: "ok", sse: "ok" },
  { behaviour: Upstream.slowHeaders(50), json: "ok", sse: "ok" },
  { behaviour: Upstream.status(500), json: "server_error", sse: "server_error" },
  { behaviour: Upstream.status(503), json: "overloaded", sse: "overloaded" },
  { behaviour: Upstream.status(529), json: "overloaded", sse: "overloaded" },
  { behaviour: Upstream.status(429), json: "rate_limit", sse: "rate_limit" },
  { behaviour: Upstream.status(401), json: "auth", sse: "auth" },
  { behaviour: Upstream.contextLength, json: "context_length", sse: "context_length" },
  { behaviour: Upstream.status(404), json: "model_unavailable", sse: "model_unavailable" },
  { behaviour: Upstream.status(422), json: "client_fault", sse: "client_fault" },
  {
    behaviour: Upstream.status(302, { headers: { location: "http://127.0.0.1:1/" } }),
    json: "server_error",
    sse: "server_error"
  },
  { behaviour: Upstream.html, json: "server_error", sse: "server_error" },
  { behaviour: Upstream.empty, json: "server_error", sse: "network_error" },
  { behaviour: Upstream.errorIn200(), json: "server_error", sse: "server_error" },
  { behaviour: Upstream.jsonForStream(), json: "ok", sse: "server_error" },
  {
    behaviour: Upstream.hangBeforeHeaders,
    json: "timeout",
    sse: "timeout",
    code: "firstOutput_timeout",
    timeouts: firstOutput
  },
  {
    behaviour: Upstream.hangAfterHeaders,
    json: "timeout",
    sse: "timeout",
    code: "firstOutput_timeout",
    timeouts: firstOutput
  },
  {
    behaviour: Upstream.pingsOnly(5),
    json: "timeout",
    sse: "timeout",
    code: "firstOutput_timeout",
    timeouts: firstOutput
  },
  {
    behaviour: Upstream.hangAfterOutput(1),
    json: "timeout",
    sse: "timeout after output",
    code: "idle_timeout",
    timeouts: idle
  },
  {
    behaviour: Upstream.hangAfterOutput(1, { pings: 5 }),
    code: "idle_timeout",
    json: "timeout",
    sse: "timeout after output",
    timeouts: idle
  },
  { behaviour: Upstream.resetBeforeHeaders, json: "network_error", sse: "network_error" },
  { behaviour: Upstream.resetAfterHeaders, json: "network_error", sse: "network_error" },
  { behaviour: Upstream.cut(1, "close"), json: "network_error", sse: "network_error after output" },
  { behaviour: Upstream.cut(1, "reset"), json: "network_error", sse: "network_error after output" },
  { behaviour: Upstream.cut(1, "end"), json: "server_error", sse: "network_error after output" },
  { behaviour: Upstream.cut(0, "end"), json: "server_error", sse: "network_error" },
  { behaviour: Upstream.cut(0, "close"), json: "network_error", sse: "network_error" },
  { behaviour: Upstream.failAfter(0), json: "overloaded", sse: "overloaded" },
  { behaviour: Upstream.failAfter(1), json: "overloaded", sse: "overloaded after output" }
]

describe("a call ends in what its upstream did", () => {
  for (const operation of operations) {
    for (const stream of [false, true]) {
      describe.concurrent(`${operation}, ${stream ? "SSE" : "JSON"}`, () => {
        rows.forEach((row, index) => {
          it.scopedLive(`${row.behaviour.name} (${index})`, () =>
            Effect.gen(function* () {
              const { provider, upstream } = yield* setup(operation, [row.behaviour], { timeouts: row.timeouts ?? {} })
              const result = yield* outcome(provider, request(operation, stream))
              const said =
                result.error === undefined
                  ? "ok"
                  : `${result.error.failure.kind}${result.committed ? " after output" : ""}`
              assert.strictEqual(said, stream ? row.sse : row.json, JSON.stringify(result.error))
              if (row.code !== undefined) assert.strictEqual(result.error?.failure.code, row.code)
              assert.notInclude(JSON.stringify(result.error ?? {}), canary)
              yield* upstream.quiet
            })
          )
        })
      })
    }
  }
})
