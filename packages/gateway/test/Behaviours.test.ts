import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { chat, type Fixture, fixture, type Reply, secrets, send } from "./support.js"

/** Which of the target's breakers count it: of the provider, the model, the host (DESIGN 6). */
type Counted = "none" | "provider" | "provider model" | "provider host"

interface Row {
  readonly upstream: Upstream.Behaviour
  /** What a client gets without a fallback: status and code; a 200 is the answer itself. */
  readonly gets: readonly [status: number, code?: string]
  readonly retryAfter?: string
  /** Whether the fallback answers where there is one; otherwise the client gets the same as without. */
  readonly fallback: boolean
  readonly counted: Counted
}

type Table = Readonly<Record<string, Row>>

const echo = { echoKey: true } as const
const row = (
  upstream: Upstream.Behaviour,
  gets: Row["gets"],
  fallback: boolean,
  counted: Counted,
  retryAfter?: string
): Row => ({ upstream, gets, fallback, counted, ...(retryAfter === undefined ? {} : { retryAfter }) })

const limited = (headers: Record<string, string>, retryAfter: string): Row =>
  row(Upstream.status(429, { headers }), [429, "rate_limit_exceeded"], true, "provider model", retryAfter)

const timedOut = (upstream: Upstream.Behaviour): Row => row(upstream, [504, "provider_timeout"], true, "provider")
const broken = (upstream: Upstream.Behaviour): Row =>
  row(upstream, [502, "provider_unreachable"], true, "provider host")
const wrong = (upstream: Upstream.Behaviour): Row => row(upstream, [502, "provider_error"], true, "provider")

/** The same for JSON and streams, and for clients of either dialect. */
const common: Table = {
  "500": row(Upstream.status(500, echo), [500, "provider_error"], true, "provider"),
  "503": row(Upstream.status(503, echo), [503, "provider_overloaded"], true, "provider model"),
  "529": row(Upstream.status(529, echo), [503, "provider_overloaded"], true, "provider model"),
  "429, no Retry-After": row(Upstream.status(429), [429, "rate_limit_exceeded"], true, "provider model"),
  "429, seconds": limited({ "retry-after": "7" }, "7"),
  "429, decimal seconds": limited({ "retry-after": "6.2" }, "7"),
  "429, milliseconds": limited({ "retry-after-ms": "6200" }, "7"),
  "429, with a unit": limited({ "retry-after": "2m" }, "120"),
  "429, a date": limited({ "retry-after": "Fri, 31 Dec 2100 23:59:59 GMT" }, "3600"),
  "429, epoch seconds": limited({ "retry-after": "4133980799" }, "3600"),
  "429, in words": row(
    Upstream.status(429, { message: "Rate limit reached. Please try again in 6.2s." }),
    [429, "rate_limit_exceeded"],
    true,
    "provider model",
    "7"
  ),
  "429, no number": row(
    Upstream.status(429, { headers: { "retry-after": "soon" } }),
    [429, "rate_limit_exceeded"],
    true,
    "provider model"
  ),
  "401 of our key": row(Upstream.status(401, echo), [503, "provider_unavailable"], true, "provider"),
  "400, too long": row(Upstream.contextLength, [400, "context_length_exceeded"], false, "none"),
  "404, no such model": row(Upstream.status(404, echo), [404, "model_not_found"], true, "none"),
  "200 with a page": wrong(Upstream.html),
  "200 with an error": wrong(Upstream.errorIn200(500, echo)),
  "a hang before the headers": timedOut(Upstream.hangBeforeHeaders),
  "a hang after the headers": timedOut(Upstream.hangAfterHeaders),
  "a role, then pings": timedOut(Upstream.pingsOnly(20)),
  "a reset before the headers": broken(Upstream.resetBeforeHeaders),
  "a reset after the headers": broken(Upstream.resetAfterHeaders),
  "an error frame before output": row(
    Upstream.failAfter(0, 529, echo),
    [503, "provider_overloaded"],
    true,
    "provider model"
  ),
  "a drip": row(Upstream.drip(10), [200], false, "none")
}

const json: Table = {
  ...common,
  "200 with nothing": wrong(Upstream.empty),
  "cut in the middle": broken(Upstream.cut(1)),
  "an error frame after output": wrong(Upstream.failAfter(1, 500, echo))
}

const streams: Table = {
  ...common,
  "200 with nothing": broken(Upstream.empty),
  // After output nothing is mended: the client gets what came, and the error as the last frame (ROUTING F7).
  "cut in the middle": row(Upstream.cut(1), [200, "provider_unreachable"], false, "provider host"),
  "an error frame after output": row(Upstream.failAfter(1, 500, echo), [200, "provider_error"], false, "provider")
}

interface Client {
  readonly name: string
  readonly kind: string
  readonly path: string
  readonly code: (body: unknown) => unknown
  /** The sign of a stream's good end. */
  readonly end: string
}

const at = (value: unknown, ...keys: ReadonlyArray<string>): unknown =>
  keys.reduce<unknown>((it, key) => (typeof it === "object" && it !== null ? Reflect.get(it, key) : undefined), value)

const clients: ReadonlyArray<Client> = [
  {
    name: "OpenAI",
    kind: "openai",
    path: "/v1/chat/completions",
    code: (body) => at(body, "error", "code"),
    end: "[DONE]"
  },
  {
    name: "Anthropic",
    kind: "anthropic",
    path: "/v1/messages",
    code: (body) => (at(body, "type") === "error" ? at(body, "error", "details", "error_code") : undefined),
    end: "message_stop"
  }
]

/** The code of the error a client got: the body's, or that of the stream's last frame. */
const codeOf = (client: Client, reply: Reply): unknown => {
  if (reply.headers["content-type"]?.startsWith("text/event-stream") !== true)
    return client.code(JSON.parse(reply.text))
  const last = reply.text.trimEnd().split("\n").at(-1) ?? ""
  if (reply.text.includes(client.end)) return undefined
  return client.code(JSON.parse(last.slice("data: ".length)))
}

/** What every breaker has counted in a row. Rows that succeed take it back to 0. */
const streaks = (gateway: Fixture) =>
  Effect.map(send(gateway.url, { path: "/admin/breakers" }), ({ text }) => {
    const { breakers } = JSON.parse(text) as { breakers: ReadonlyArray<{ name: string; streak: number }> }
    return new Map(breakers.map(({ name, streak }) => [name, streak]))
  })

const levels: ReadonlyArray<[name: string, level: string]> = [
  ["one", "provider"],
  ["one:main-2024-08-06", "model"],
  ["one (host)", "host"]
]

const played = (gateway: Fixture, client: Client, stream: boolean, { upstream }: Row) =>
  Effect.gen(function* () {
    yield* gateway.primary.setScript([upstream])
    const before = yield* streaks(gateway)
    const ask = (headers: Record<string, string>) =>
      send(gateway.url, { ...chat("main", { stream, headers }), path: client.path })
    const alone = yield* ask({ "x-switchgear-no-fallback": "true" })
    const helped = yield* ask({})
    const after = yield* streaks(gateway)
    const rise = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
    const counted = levels.filter(([name]) => rise(name) === 2).map(([, level]) => level)
    const shown = [alone, helped].map((reply) => JSON.stringify(reply)).join("\n")
    for (const secret of secrets(gateway)) expect(shown).not.toContain(secret)
    return {
      gets: [alone.status, codeOf(client, alone)].filter((each) => each !== undefined),
      ...(alone.headers["retry-after"] === undefined ? {} : { retryAfter: alone.headers["retry-after"] }),
      fallback: helped.headers["x-switchgear-provider-used"] === "spare" && helped.text.includes("from"),
      same: helped.status === alone.status && codeOf(client, helped) === codeOf(client, alone),
      counted: counted.length === 0 ? "none" : counted.join(" ")
    }
  })

const outcomes = "{ trip: { _tag: Consecutive, failureThreshold: 100000 }, outcomes: { auth: failure } }"
const breakers = `[{ key: provider, policy: ${outcomes} }, { key: "provider:model", policy: ${outcomes} }, { key: "provider:host", policy: ${outcomes} }]`

describe("what a client gets, whether the fallback answers, what each breaker counts", () => {
  for (const client of clients) {
    for (const [form, table] of [
      ["JSON", json],
      ["a stream", streams]
    ] as const) {
      it.scopedLive(
        `a client of ${client.name}, ${form}`,
        () =>
          Effect.gen(function* () {
            const gateway = yield* fixture({ kinds: [client.kind, client.kind], breakers })
            const found: Record<string, unknown> = {}
            const expected: Record<string, unknown> = {}
            for (const [name, row] of Object.entries(table)) {
              found[name] = yield* played(gateway, client, form !== "JSON", row)
              const { counted, fallback, gets, retryAfter } = row
              expected[name] = {
                gets,
                ...(retryAfter === undefined ? {} : { retryAfter }),
                fallback,
                same: !fallback,
                counted
              }
            }
            expect(found).toEqual(expected)
            for (const secret of secrets(gateway)) expect(gateway.logs.join("\n")).not.toContain(secret)
          }),
        60_000
      )
    }
  }
})
