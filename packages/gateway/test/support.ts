import * as http from "node:http"
import { hashKey } from "@switchgear/routing/Access"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Config from "../src/Config.js"
import * as Gateway from "../src/Gateway.js"

/** Must never be seen anywhere but in the upstream's request headers. */
export const canary = "sk-canary-4f9c2b7a1e8d3650"

export interface Fixture {
  readonly url: string
  readonly port: number
  readonly primary: Upstream.Upstream
  readonly backup: Upstream.Upstream
  /** Every line of the log so far. */
  readonly logs: ReadonlyArray<string>
}

export interface Options {
  readonly primary?: Upstream.Script
  readonly backup?: Upstream.Script
  /** YAML of the primary's policy. */
  readonly policy?: string
  readonly server?: string
  readonly fallback?: string
  readonly timeouts?: string
  /** Default `openai-compatible`. */
  readonly kinds?: readonly [primary: string, backup: string]
  /** YAML; in place of `policy`. */
  readonly breakers?: string
  /** YAML: what else there is to say of the primary. */
  readonly also?: string
  /** YAML */
  readonly byo?: string
}

/** A gateway over two upstreams, all on real sockets: model `main` with `spare` behind it, and `single` with nothing. */
export const fixture = (options: Options = {}): Effect.Effect<Fixture, never, Scope.Scope> => {
  const timeouts = options.timeouts ?? "{ connect: 500, firstOutput: 150, idle: 150, total: 1000 }"
  const policy = options.policy ?? "{ trip: { _tag: Consecutive, failureThreshold: 1000 } }"
  const [one, two] = options.kinds ?? ["openai-compatible", "openai-compatible"]
  const breakers = options.breakers === undefined ? `breaker: { policy: ${policy} }` : `breakers: ${options.breakers}`
  const also = options.also === undefined ? "" : `, ${options.also}`
  const text = `server: { port: 0${options.server === undefined ? "" : `, ${options.server}`} }
providers:
  - { name: one, kind: ${one}, baseUrl: "\${ONE}", apiKey: "\${KEY}", timeouts: ${timeouts}, ${breakers}${also} }
  - { name: two, kind: ${two}, baseUrl: "\${TWO}", apiKey: "\${KEY}", timeouts: ${timeouts} }
models:
  - { name: main, provider: one, upstream: main-2024-08-06, fallbackChain: [spare] }
  - { name: spare, provider: two }
  - { name: single, provider: one }
fallback: ${options.fallback ?? "{ budget: 1 }"}
${options.byo === undefined ? "" : `byo: ${options.byo}\n`}`
  return serving(text, { one: options.primary, two: options.backup })
}

export interface Reply {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  /** false: the connection went before the answer's end. */
  readonly complete: boolean
}

export interface Send {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array
}

const agent = new http.Agent({ keepAlive: false })

/** One request to its end; interrupting it hangs up. */
export const send = (url: string, options: Send = {}): Effect.Effect<Reply> =>
  Effect.async((resume) => {
    const body = options.body
    const request = http.request(
      `${url}${options.path ?? "/v1/chat/completions"}`,
      {
        agent,
        method: options.method ?? (body === undefined ? "GET" : "POST"),
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(body === undefined || options.headers?.["transfer-encoding"] !== undefined
            ? {}
            : { "content-length": Buffer.byteLength(body) }),
          ...options.headers
        }
      },
      (response) => {
        let text = ""
        const done = () =>
          resume(
            Effect.succeed({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              complete: response.complete
            })
          )
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk
        })
        response.on("end", done).on("error", done)
      }
    )
    request.on("error", (cause) => resume(Effect.die(cause)))
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

export const chat = (
  model: string,
  options: { readonly stream?: boolean; readonly headers?: Record<string, string> } = {}
): Send => ({
  body: JSON.stringify({
    model,
    messages: [{ role: "user", content: "Hello" }],
    ...(options.stream === undefined ? {} : { stream: options.stream })
  }),
  ...(options.headers === undefined ? {} : { headers: options.headers })
})

export interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly code: string | null
    readonly param: string | null
  }
}

export const errorOf = (reply: Reply): ErrorBody["error"] => (JSON.parse(reply.text) as ErrorBody).error

/** The data of a stream's events, in order. */
export const events = (text: string): ReadonlyArray<string> =>
  text
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => block.slice("data: ".length))

/** What must stand in no answer and no log: the key, and where the upstreams are. */
export const secrets = (fixture: Fixture): ReadonlyArray<string> => [
  canary,
  `:${fixture.primary.port}`,
  `:${fixture.backup.port}`
]

/** What a test is about, and nothing else: a client's key and the hash a configuration has of it. */
export const clientKey = (name: string): { readonly key: string; readonly keyHash: string } => {
  const key = `sk-client-${name}-5d1e0c7b9a42`
  return { key, keyHash: hashKey(Redacted.make(key)) }
}

/** A gateway of a configuration whose `ONE`, `TWO` are the addresses of two upstreams. */
export const serving = (
  text: string,
  scripts: { readonly one?: Upstream.Script | undefined; readonly two?: Upstream.Script | undefined } = {}
): Effect.Effect<Fixture, never, Scope.Scope> =>
  Effect.gen(function* () {
    const primary = yield* Upstream.make(scripts.one ?? [Upstream.ok()])
    const backup = yield* Upstream.make(scripts.two ?? [Upstream.ok({ parts: ["from", " the spare"] })])
    const env = { KEY: canary, ONE: primary.baseUrl, TWO: backup.baseUrl }
    const config = Either.getOrThrowWith(Config.decode(text, { env }), (error) => error)
    const logs: Array<string> = []
    const logger = Logger.map(Logger.logfmtLogger, (line) => {
      logs.push(line)
    })
    const context = yield* Layer.build(
      Gateway.layerConfigured(config).pipe(Layer.provide(Logger.replace(Logger.defaultLogger, logger)))
    ).pipe(Effect.orDie)
    const { port, url } = yield* Effect.provide(Gateway.Gateway, context)
    return { url, port, primary, backup, logs }
  })
