import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { type CommandFailed, refused } from "../commandFailed.js"
import { isRead, write } from "../output.js"

export interface Given {
  readonly url: string
  readonly watch: boolean
  readonly json: boolean
}

const Breaker = Schema.Struct({
  name: Schema.String,
  state: Schema.String,
  enforced: Schema.Boolean,
  forced: Schema.Boolean,
  streak: Schema.optional(Schema.Number),
  since: Schema.String,
  until: Schema.optional(Schema.String),
  retryAfter: Schema.optional(Schema.NullOr(Schema.Number)),
  why: Schema.optional(Schema.String),
  counters: Schema.Struct({ admitted: Schema.Number, rejected: Schema.Number, failed: Schema.Number })
})

const Answer = Schema.Struct({ now: Schema.String, breakers: Schema.Array(Breaker) })

type Breaker = typeof Breaker.Type

/** What a gateway says of its breakers; the token goes into a header and nowhere else. */
const ask = (url: string): Effect.Effect<typeof Answer.Type & { readonly text: string }, CommandFailed> =>
  Effect.gen(function* () {
    const token = process.env["SWITCHGEAR_ADMIN_TOKEN"]
    const headers = token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` }
    const [status, text] = yield* Effect.tryPromise({
      try: async (signal): Promise<[number, string]> => {
        const response = await fetch(new URL("/admin/breakers", url), { headers, signal })
        return [response.status, await response.text()]
      },
      catch: () => refused(`${url} does not answer; is the gateway running there? --url names another address`)
    })
    if (status === 401) return yield* refused("the gateway asks for its admin token: set SWITCHGEAR_ADMIN_TOKEN")
    if (status === 403)
      return yield* refused("the gateway answers only callers on its own machine: give it an adminToken")
    const answer = Schema.decodeUnknownEither(Schema.parseJson(Answer))(text)
    if (status !== 200 || answer._tag === "Left") {
      return yield* refused(`${url} is no switchgear gateway: it answered ${status} to /admin/breakers`)
    }
    return { ...answer.right, text }
  })

const colours: Readonly<Record<string, string>> = { Closed: "32", Degraded: "33", HalfOpen: "36", Open: "31" }

const ago = (from: string, to: string): string => {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from))
  if (ms < 1000) return "0s"
  const [first = "0s", second] = Duration.format(Duration.millis(Math.floor(ms / 1000) * 1000)).split(" ")
  return second === undefined ? first : `${first} ${second}`
}

const left = ({ retryAfter, state, until }: Breaker, now: string): string =>
  state === "Closed" || state === "Degraded"
    ? ""
    : until === undefined
      ? retryAfter === null || state === "Open"
        ? "until told"
        : ""
      : ago(now, until)

const heads = ["BREAKER", "STATE", "FOR", "LEFT", "STREAK", "ADMITTED", "REJECTED", "FAILED", "WHY"] as const

/** A table as wide as the terminal at most: only the last column is cut. */
export const table = (breakers: ReadonlyArray<Breaker>, now: string, width: number, coloured: boolean): string => {
  const rows = breakers.map((one) => [
    one.name,
    `${one.state}${one.forced ? " (forced)" : ""}${one.enforced ? "" : " (shadow)"}`,
    ago(one.since, now),
    left(one, now),
    String(one.streak ?? ""),
    String(one.counters.admitted),
    String(one.counters.rejected),
    String(one.counters.failed),
    one.why ?? ""
  ])
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => Math.min(40, (row[column] ?? "").length)))
  )
  const line = (cells: ReadonlyArray<string>, colour?: string): string => {
    const padded = cells.map((cell, column) => {
      const size = widths[column] ?? 0
      const short = column < heads.length - 1 && cell.length > size ? `${cell.slice(0, size - 1)}…` : cell
      return column === heads.length - 1 ? short : short.padEnd(size)
    })
    const text = padded.join("  ").trimEnd()
    const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text
    const state = padded[1]?.trimEnd() ?? ""
    return colour === undefined || state === "" ? cut : cut.replace(state, `\u001b[${colour}m${state}\u001b[0m`)
  }
  return [
    line([...heads]),
    ...rows.map((row, index) => line(row, coloured ? colours[breakers[index]?.state ?? ""] : undefined))
  ].join("\n")
}

const isPlain = (): boolean =>
  process.stdout.isTTY !== true || (process.env["NO_COLOR"] ?? "") !== "" || process.env["TERM"] === "dumb"

/** The breakers of a running gateway, once or until the reader has seen enough. */
export const breakers = ({ json, url, watch }: Given): Effect.Effect<void, CommandFailed> => {
  if (!URL.canParse(url)) return refused(`--url must be the gateway's address such as http://127.0.0.1:8787`)
  const show = Effect.flatMap(ask(url), ({ breakers, now, text }) => {
    if (json) return write(`${text}\n`)
    const plain = isPlain()
    const shown = table(breakers, now, plain ? 1000 : (process.stdout.columns ?? 120), !plain)
    // In place where that can be done; below each other in a pipe.
    return write(watch && !plain ? `\u001b[H\u001b[J${now}\n${shown}\n` : watch ? `${now}\n${shown}\n\n` : `${shown}\n`)
  })
  if (!watch) return show
  return Effect.repeat(show, Schedule.spaced("1 second").pipe(Schedule.whileInput(isRead))).pipe(Effect.asVoid)
}
