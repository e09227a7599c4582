import * as Classifier from "@switchgear/failures/Classifier"
import * as Failure from "@switchgear/failures/Failure"
import * as ProviderKind from "@switchgear/failures/ProviderKind"
import * as StreamClassifier from "@switchgear/failures/StreamClassifier"
import * as Tables from "@switchgear/failures/Tables"
import { describe, expect, it } from "vitest"

const classify = (provider: ProviderKind.ProviderKind, status: number, body: unknown) => {
  const verdict = Classifier.classify({
    provider,
    status,
    headers: { "content-type": "application/json" },
    body,
    now: 0
  })
  return verdict._tag === "Failure" ? verdict.failure : undefined
}

const vendors = [...ProviderKind.all, "common"] as const
const rows = vendors.flatMap((vendor) =>
  (Tables.signals[vendor] ?? []).flatMap((row) =>
    row.signals.map((signal) => ({
      provider: vendor === "common" ? ("openai-compatible" as const) : vendor,
      vendor,
      signal,
      code: signal.replace(/^\*/, "a").replace(/\*$/, "z"),
      row
    }))
  )
)

describe("each signal", () => {
  it.each(rows)(
    "$vendor: $signal is a $row.kind, as code, as type, in capitals, in a 200 and in a frame",
    ({ provider, code, row }) => {
      for (const name of [code, code.toUpperCase()]) {
        for (const body of [
          { error: { code: name, message: "m" } },
          { type: "error", error: { type: name, message: "m" } },
          { code: name, message: "m" }
        ]) {
          for (const status of [418, 500]) {
            expect(classify(provider, status, body)).toMatchObject({
              kind: row.kind,
              status,
              scope: row.scope ?? Failure.scopes[row.kind]
            })
          }
        }
        expect(classify(provider, 200, { error: { code: name, message: "m" } })).toMatchObject({ kind: row.kind })
        const step = StreamClassifier.step(
          StreamClassifier.initial(provider),
          undefined,
          JSON.stringify({ error: { code: name, message: "m" } }),
          0
        )
        expect(step.failure).toMatchObject({ kind: row.kind })
      }
    }
  )

  it("stands in one row of a vendor only", () => {
    for (const vendor of vendors) {
      const all = (Tables.signals[vendor] ?? []).flatMap((row) => row.signals)
      expect(new Set(all).size).toBe(all.length)
      expect(all.every((signal) => signal === signal.toLowerCase())).toBe(true)
    }
  })

  it("of no vendor's is left to the status", () => {
    expect(classify("openai", 418, { error: { code: "quite_new", message: "m" } })).toMatchObject({
      kind: "client_fault",
      code: "quite_new"
    })
  })

  it("of Bedrock's may be in x-amzn-errortype, with a URL behind it", () => {
    for (const suffix of ["", ":http://internal.amazon.com/coral/com.amazon.bedrock/"]) {
      const verdict = Classifier.classify({
        provider: "bedrock",
        status: 400,
        headers: { "X-Amzn-ErrorType": `ModelNotReadyException${suffix}` },
        body: "{}",
        now: 0
      })
      expect(verdict).toMatchObject({ failure: { kind: "model_unavailable", code: "ModelNotReadyException" } })
    }
  })
})

describe("each status", () => {
  it.each(Tables.statuses.map(([status, kind, only]) => ({ status, kind, only })))(
    "$status is a $kind",
    ({ status, kind, only }) => {
      for (const provider of ProviderKind.all) {
        const expected = only === undefined || only === provider ? kind : "client_fault"
        for (const body of [undefined, "", {}, "<html></html>", { error: { message: "" } }]) {
          expect(classify(provider, status, body)).toMatchObject({ kind: expected, status })
        }
      }
    }
  )

  it("that is not listed has its class's kind", () => {
    const listed = new Set(Tables.statuses.map(([status]) => status))
    for (let status = 300; status < 600; status++) {
      if (listed.has(status)) continue
      expect(classify("openai", status, "")?.kind).toBe(status >= 400 && status < 500 ? "client_fault" : "server_error")
    }
    for (const status of [-1, 0, 100, 199, 600, 999, 429.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      const kind = classify("openai", status, "")?.kind
      expect(kind === "unknown" || (status === 429.5 && kind === "client_fault")).toBe(true)
    }
  })

  it("may be a type where there is none", () => {
    for (const [status, types] of Tables.typeStatuses) {
      for (const type of types) {
        const row = Tables.rowOf("scripted", [type])
        const failure = classify("scripted", 200, { error: { type, message: "m" } })
        expect(failure?.kind).toBe(row?.kind ?? Tables.kindOfStatus("scripted", status))
      }
    }
  })

  it("inside a 5xx is the true one, inside a 4xx it is not asked", () => {
    expect(classify("openrouter", 502, { error: { code: 429, message: "m" } })).toMatchObject({
      kind: "rate_limit",
      status: 502
    })
    expect(classify("openrouter", 400, { error: { code: 500, message: "m" } })).toMatchObject({ kind: "client_fault" })
  })
})

/** One sentence and more for every row of words, in the table's order. */
const sentences: ReadonlyArray<ReadonlyArray<string>> = [
  ["Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 60000."],
  [
    "Your credit balance is too low to access the API.",
    "You are out of credits",
    "Your credits are exhausted",
    "You hit your billing hard limit",
    "Monthly spending limit",
    "Insufficient credits"
  ],
  [
    "Rate limit exceeded: free-models-per-day",
    "on requests per day (RPD)",
    "daily limit reached",
    "limited to 1000 API calls / month",
    "Too many tokens per day",
    "monthly usage quota",
    "weekly limit"
  ],
  [
    "You have reached your plan limit",
    "Individual quota reached. Resets in 92h27m28s",
    "You have reached your specified API usage limits."
  ],
  ["You exceeded your current quota, please check your plan and billing details."],
  ["API key not valid. Please pass a valid API key.", "Incorrect API key provided", "Missing API key"],
  [
    "prompt is too long: 210000 tokens > 200000 maximum",
    "maximum context length is 4096 tokens",
    "The input token count (12) exceeds the maximum number of tokens allowed (10)",
    "Please reduce the length of the messages",
    "too many tokens: 5"
  ],
  [
    "Output blocked by content filtering policy",
    "your input was flagged",
    "rejected as a result of our safety system",
    "Content violates usage guidelines."
  ],
  ["x/y is not a valid model ID", "The provided model identifier is invalid.", "The model `x` does not exist"],
  ["Item with id 'rs_1' not found.", "Invalid URL (POST /v1/chat)"],
  [
    "This model is currently experiencing high demand.",
    "Overloaded",
    "Service tier capacity exceeded for this model.",
    "server busy, please try again"
  ],
  ["Too many connections, please wait before trying again."],
  ["Loading model", "Model x/y is currently loading"]
]

describe("words", () => {
  it("have sentences for every row", () => {
    expect(sentences.length).toBe(Tables.words.length)
  })

  it.each(Tables.words.map((row, index) => ({ says: row.says, row, index })))("$says", ({ row, index }) => {
    for (const sentence of sentences[index] ?? []) {
      for (const listed of row.on) {
        expect(
          classify("scripted", listed === "5xx" ? 500 : listed, { error: { message: sentence } })?.kind,
          `${listed} ${sentence}`
        ).toBe(row.kind)
      }
    }
  })

  it("decide nothing on a status that does not allow it", () => {
    for (const status of [401, 405, 408, 409, 418, 504, 529]) {
      const plain = Tables.kindOfStatus("scripted", status)
      for (const sentence of sentences.flat())
        expect(classify("scripted", status, { error: { message: sentence } })?.kind, `${status} ${sentence}`).toBe(
          plain
        )
    }
  })

  it("about quota beside a minute, concurrency or seconds are a rate limit", () => {
    for (const sentence of [
      "Quota for concurrent requests exceeded",
      "You exceeded your current quota of tokens per minute",
      "You exceeded your current quota. Please retry in 12.5s.",
      "Quota exceeded for quota metric 'requests' per minute",
      "20 requests per minute exceeded; there are 200 requests per day"
    ]) {
      expect(classify("openai-compatible", 429, { error: { message: sentence } })?.kind, sentence).toBe("rate_limit")
    }
  })

  it("of a 429 whose request is larger than the limit are context_length, whatever code it has", () => {
    const message = (requested: number) =>
      `Rate limit reached on tokens per min (TPM): Limit 30,000, Used 0, Requested ${requested}.`
    expect(classify("openai", 429, { error: { message: message(30_001), code: "rate_limit_exceeded" } })?.kind).toBe(
      "context_length"
    )
    expect(classify("openai", 429, { error: { message: message(30_000), code: "rate_limit_exceeded" } })?.kind).toBe(
      "rate_limit"
    )
  })
})

describe("the page of the tables", () => {
  const page = Tables.markdown()
  it("names every signal, kind, status and row of words, in well-formed tables", () => {
    for (const { signal } of rows) expect(page).toContain(`\`${signal}\``)
    for (const kind of Failure.kinds) expect(page).toContain(`\`${kind}\``)
    for (const [status] of Tables.statuses) expect(page).toContain(`| ${status}`)
    for (const row of Tables.words) expect(page).toContain(row.says)
    const widths = page
      .split("\n\n")
      .filter((block) => block.startsWith("|"))
      .map((block) => new Set(block.split("\n").map((line) => line.split(" | ").length)).size)
    expect(widths.every((width) => width === 1)).toBe(true)
  })
})
