/**
 * What answers mean, as data. Adding a vendor is adding rows; `Classifier` only walks them, in the order of PROVIDERS
 * "How to decide": signals, status, words.
 *
 * @since 0.1.0
 */
import { type Kind, scopes } from "./Failure.js"
import { rows } from "./internal/signalRows.js"
import type { SignalRow, WordRow } from "./internal/tableModel.js"
import { wordRows } from "./internal/wordRows.js"
import { all, type ProviderKind } from "./ProviderKind.js"

/**
 * @since 0.1.0
 * @category models
 */
export type { SignalRow, WordRow } from "./internal/tableModel.js"

/**
 * The rows of a vendor, tried before those all vendors share (`common`).
 *
 * @since 0.1.0
 * @category tables
 * @example
 * ```ts
 * import * as Tables from "@switchgear/failures/Tables"
 * import * as assert from "node:assert"
 *
 * const row = Tables.signals.groq?.find(({ signals }) => signals.includes("model_not_active"))
 * assert.strictEqual(row?.kind, "model_unavailable")
 * ```
 */
export const signals: { readonly [K in ProviderKind | "common"]?: ReadonlyArray<SignalRow> } = rows

/**
 * The words that refine a status, in the order in which they are tried. They never move a failure to what its status rules out.
 *
 * @since 0.1.0
 * @category tables
 * @example
 * ```ts
 * import * as Tables from "@switchgear/failures/Tables"
 * import * as assert from "node:assert"
 *
 * const quota = Tables.words.filter((row) => row.kind === "quota_exhausted")
 * assert.ok(quota.some((row) => row.words.test("Your credit balance is too low")))
 * ```
 */
export const words: ReadonlyArray<WordRow> = wordRows

/**
 * What a status means by itself. A status that is not listed is `client_fault` from 400 and `server_error` from 500 on;
 * a redirect is not an answer and counts as `server_error`; anything else is `unknown`.
 *
 * @since 0.1.0
 * @category tables
 * @example
 * ```ts
 * import * as Tables from "@switchgear/failures/Tables"
 * import * as assert from "node:assert"
 *
 * assert.ok(Tables.statuses.some(([status, kind]) => status === 429 && kind === "rate_limit"))
 * ```
 */
export const statuses: ReadonlyArray<readonly [status: number, kind: Kind, only?: ProviderKind]> = [
  [401, "auth"],
  [402, "quota_exhausted"],
  [403, "auth"],
  [404, "model_unavailable"],
  [407, "auth"],
  [408, "timeout"],
  [410, "model_unavailable"],
  [429, "rate_limit"],
  [498, "overloaded", "groq"],
  [504, "timeout"],
  [522, "timeout"],
  [524, "timeout"],
  [529, "overloaded"]
]

/**
 * The status a type stands for where there is none: inside a stream, inside a 200.
 *
 * @since 0.1.0
 * @category tables
 * @example
 * ```ts
 * import * as Tables from "@switchgear/failures/Tables"
 * import * as assert from "node:assert"
 *
 * const [status] = Tables.typeStatuses.find(([, types]) => types.includes("not_found_error")) ?? []
 * assert.strictEqual(status, 404)
 * ```
 */
export const typeStatuses: ReadonlyArray<readonly [status: number, types: ReadonlyArray<string>]> = [
  [
    400,
    [
      "invalid_request_error",
      "invalid_request",
      "badrequesterror",
      "invalid_argument",
      "failed_precondition",
      "out_of_range",
      "validationexception",
      "validation_error",
      "bad_request",
      "value_error"
    ]
  ],
  [401, ["authentication_error", "unauthenticated", "unauthorized"]],
  [403, ["permission_error", "permission_denied", "forbidden", "permissiondeniederror"]],
  [404, ["not_found_error", "notfounderror", "not_found"]],
  [413, ["request_too_large"]],
  [422, ["unprocessable_entity", "unprocessableentityerror"]],
  [429, ["tokens", "requests", "resource_exhausted"]],
  [500, ["server_error", "api_error", "internal_server_error", "internalservererror", "internal", "internal_error"]],
  [503, ["service_unavailable_error", "unavailable", "service_unavailable", "unavailable_error"]],
  [504, ["timeout_error", "deadline_exceeded", "gateway_timeout"]]
]

/**
 * What a status means to a vendor before anything else was read.
 *
 * @example
 * ```ts
 * import * as Tables from "@switchgear/failures/Tables"
 * import * as assert from "node:assert"
 *
 * assert.strictEqual(Tables.kindOfStatus("openai", 503), "server_error")
 * assert.strictEqual(Tables.kindOfStatus("groq", 498), "overloaded")
 * assert.strictEqual(Tables.kindOfStatus("openai", 498), "client_fault")
 * ```
 *
 * @since 0.1.0
 * @category tables
 */
export const kindOfStatus = (provider: ProviderKind, status: number): Kind => {
  for (const [listed, kind, only] of statuses) {
    if (listed === status && (only === undefined || only === provider)) return kind
  }
  if (status >= 500 && status < 600) return "server_error"
  if (status >= 400 && status < 500) return "client_fault"
  return status >= 300 && status < 400 ? "server_error" : "unknown"
}

const matches = (pattern: string, signal: string): boolean => {
  if (!pattern.includes("*")) return pattern === signal
  const inner = pattern.replace(/^\*|\*$/g, "")
  if (!pattern.endsWith("*")) return signal.endsWith(inner)
  return pattern.startsWith("*") ? signal.includes(inner) : signal.startsWith(inner)
}

const find = (table: ReadonlyArray<SignalRow> | undefined, signal: string): SignalRow | undefined =>
  table?.find((row) => row.signals.some((pattern) => matches(pattern, signal)))

/**
 * The row for the most telling of the signals: the first one whose row needs no refining, else the first with a row.
 * A vendor's own row replaces the common one.
 *
 * @example
 * ```ts
 * import * as Tables from "@switchgear/failures/Tables"
 * import * as assert from "node:assert"
 *
 * const row = Tables.rowOf("openai", ["rate_limit_exceeded", "insufficient_quota"])
 * assert.strictEqual(row?.kind, "quota_exhausted")
 * ```
 *
 * @since 0.1.0
 * @category tables
 */
export const rowOf = (provider: ProviderKind, names: ReadonlyArray<string>): SignalRow | undefined => {
  let first: SignalRow | undefined
  for (const name of names) {
    const row = find(signals[provider], name) ?? find(signals.common, name)
    if (row !== undefined && row.refine !== true) return row
    first ??= row
  }
  return first
}

/**
 * The tables as a page of documentation.
 *
 * @example
 * ```ts
 * import * as Tables from "@switchgear/failures/Tables"
 * import * as assert from "node:assert"
 *
 * assert.ok(Tables.markdown().includes("`insufficient_quota`"))
 * ```
 *
 * @since 0.1.0
 * @category documentation
 */
export const markdown = (): string => {
  const table = (head: ReadonlyArray<string>, body: ReadonlyArray<ReadonlyArray<string>>): string =>
    [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n")
  const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``
  const sections = (["common", ...all] as const).flatMap((vendor) => {
    const list = signals[vendor]
    if (list === undefined) return []
    const body = list.map((row) => [
      row.signals.map(code).join(", "),
      `${code(row.kind)}${row.refine === true ? ", unless its words say more" : ""}`,
      row.scope ?? scopes[row.kind]
    ])
    return [`### ${vendor === "common" ? "All vendors" : vendor}`, table(["signal", "kind", "scope"], body)]
  })
  return [
    "# Failures",
    "What an answer means is decided by its signals (codes, types, reasons), then by its status, and last by its words, which only refine what the status allows. This page is generated from the tables that decide.",
    "## Scopes",
    table(
      ["kind", "scope unless the answer says more"],
      Object.entries(scopes).map(([kind, scope]) => [code(kind), scope])
    ),
    "## Signals",
    "Compared without case; `*` stands for any text. A vendor's own rows come first.",
    ...sections,
    "## Statuses",
    table(
      ["status", "kind"],
      [
        ...statuses.map(([status, kind, only]) => [`${status}${only === undefined ? "" : ` (${only})`}`, code(kind)]),
        ["any other 4xx", code("client_fault")],
        ["any other 5xx, a redirect, a 2xx that is no answer", code("server_error")],
        ["anything else", code("unknown")]
      ]
    ),
    "Inside a stream or a 200, the error's type stands for a status:",
    table(
      ["status", "types"],
      typeStatuses.map(([status, types]) => [String(status), types.map(code).join(", ")])
    ),
    "## Words",
    "Tried in order on the statuses named; the first row that matches decides.",
    table(
      ["on", "says", "kind"],
      words.map((row) => [row.on.join(", "), row.says, code(row.kind)])
    )
  ].join("\n\n")
}
