import { describe, it } from "@effect/vitest"
import * as Byo from "@switchgear/providers/Byo"
import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"
import { assert } from "vitest"
import * as Ip from "../src/internal/byo/ip.js"
import { pinned } from "../src/internal/byo/pinned.js"
import { attempt, publicAddress } from "./byoAttempt.js"
import { canary, outcome, request } from "./harness.js"

describe("base URLs, without a list", () => {
  it.each([
    ["http://api.example.com/v1", "not_https"],
    ["ftp://api.example.com", "not_https"],
    ["file:///etc/passwd", "malformed"],
    ["javascript:alert(1)", "malformed"],
    ["//api.example.com", "malformed"],
    ["api.example.com", "malformed"],
    ["https://", "malformed"],
    ["https://user@api.example.com", "userinfo"],
    ["https://api.openai.com@127.0.0.1/", "userinfo"],
    ["https://:pass@api.example.com", "userinfo"],
    ["https://api.example.com:22", "port"],
    ["https://api.example.com:6379/", "port"],
    ["https://api.example.com:0", "port"],
    ["https://api.example.com/#", "ok"],
    ["https://api.example.com/#x", "malformed"],
    ["https://localhost/v1", "not_public"],
    ["https://LOCALHOST./v1", "not_public"],
    ["https://a.localhost", "not_public"],
    ["https://metadata.google.internal", "not_public"],
    ["https://printer.local", "not_public"],
    ["https://intranet", "not_public"],
    ["https://x.10.in-addr.arpa", "not_public"],
    ["https://%6c%6f%63alhost/", "not_public"],
    ["https://%31%32%37.0.0.1/", "not_public"],
    ["https://127%2e0%2e0%2e1/", "not_public"],
    ["https://①②⑦.⓪.⓪.①/", "not_public"],
    ["https://127。0。0。1/", "not_public"],
    ["https://ｌｏｃａｌｈｏｓｔ/", "not_public"],
    ["https://loc\u00adalhost/", "not_public"],
    ["ht\ntps://127.0.0.1", "not_public"],
    ["https://127.0.0.1\\@api.openai.com/", "not_public"],
    ["https:127.0.0.1", "not_public"],
    ["https:/\\/127.0.0.1", "not_public"],
    ["https://[::ffff:127.0.0.1]", "not_public"],
    ["https://[::1%25eth0]/", "malformed"],
    ["https://1.2.3.4.5/", "malformed"],
    ["https://256.256.256.256", "malformed"],
    ["https://api.example.com", "ok"],
    ["https://api.example.com:8443/v1?api-version=1", "ok"],
    ["https://api.example.com.", "ok"],
    ["https://xn--bcher-kva.example/", "ok"],
    ["https://bücher.example/", "ok"],
    [`https://api.example.com/${"x".repeat(3000)}`, "malformed"]
  ])("W7: %s is %s", async (url, reason) => {
    const { error, result } = await attempt(url)
    assert.strictEqual(result, reason)
    assert.notInclude(JSON.stringify(error ?? {}), canary)
    assert.notInclude(error?.message ?? "", "127")
  })

  it("names are resolved as the certificate will be checked: in ASCII, without a last dot", async () => {
    assert.deepStrictEqual((await attempt("https://BÜCHER.example./")).names, ["xn--bcher-kva.example"])
  })

  it.each([
    [[publicAddress, "10.0.0.5"]],
    [["10.0.0.5", publicAddress]],
    [["::ffff:10.0.0.5"]],
    [["2606:4700::1", "fe80::1%2"]],
    [["127.0.0.1"]],
    [["not an address"]],
    [[]]
  ])("W7: a name that resolves to %j is refused", async (addresses) => {
    assert.strictEqual((await attempt("https://two.example", {}, addresses)).result, "not_public")
  })

  it("a resolver that fails, or takes too long, leads nowhere", async () => {
    const fails = await attempt("https://x.example", { resolve: () => Effect.fail("SERVFAIL at 10.0.0.2") })
    assert.strictEqual(fails.result, "not_public")
    assert.notInclude(JSON.stringify(fails.error), "10.0.0.2")
    const hangs = await attempt("https://x.example", {
      resolve: () => Effect.never,
      http: { timeouts: { connect: "5 millis" } }
    })
    assert.strictEqual(hangs.result, "not_public")
  })

  it("any text with a private host in it is refused or leads to a name that was resolved and found public", async () => {
    const piece = fc.constantFrom(
      "https://",
      "127.0.0.1",
      "@",
      "[::1]",
      ":443",
      "/",
      "\\",
      "#",
      "?",
      "localhost",
      ".",
      "%2e",
      "a.example",
      "0x7f.1",
      "\t"
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 7 }), async (pieces) => {
        const { names, result } = await attempt(`https://${pieces.join("")}`)
        if (result === "ok") assert.deepStrictEqual(names.length, 1)
        for (const name of names) assert.isUndefined(Ip.parse(name))
      }),
      { numRuns: 300 }
    )
  })
})

describe("base URLs, with a list", () => {
  const options = {
    allowedBaseUrls: ["https://api.openai.com", "http://10.0.0.5:8000/v1/", new URL("https://a.example/x")]
  }
  it.each([
    ["https://api.openai.com", "ok"],
    ["https://api.openai.com/v1", "ok"],
    ["HTTPS://API.OPENAI.COM:443/v1", "ok"],
    ["http://10.0.0.5:8000/v1", "ok"],
    ["http://10.0.0.5:8000/v1/sub", "ok"],
    ["http://10.0.0.5:8000/", "not_allowed"],
    ["http://10.0.0.5:8000/v10", "not_allowed"],
    ["http://10.0.0.5:8000/v1/../admin", "not_allowed"],
    ["http://10.0.0.5:8000/v1/%2e%2e/admin", "not_allowed"],
    ["http://10.0.0.5:8000/v1/..%2fadmin", "not_allowed"],
    ["http://10.0.0.5:8000/v1/%252e%252e/admin", "ok"],
    ["http://10.0.0.5:8001/v1", "not_allowed"],
    ["http://api.openai.com/v1", "not_allowed"],
    ["https://api.openai.com.evil.example", "not_allowed"],
    ["https://api.openai.com@evil.example", "not_allowed"],
    ["https://evil@api.openai.com/", "not_allowed"],
    ["https://api.openai.com./", "not_allowed"],
    ["https://a.example/xy", "not_allowed"],
    ["https://example.com", "not_allowed"],
    ["nonsense", "malformed"]
  ])("W7: %s is %s", async (url, reason) => {
    const { names, result } = await attempt(url, options)
    assert.strictEqual(result, reason)
    assert.deepStrictEqual(names, [])
  })

  it("an empty list allows nothing", async () => {
    assert.strictEqual((await attempt("https://api.openai.com", { allowedBaseUrls: [] })).result, "not_allowed")
  })
})

describe("the call itself", () => {
  const lookedUp = (name: string, lookup: ReturnType<typeof pinned>, options: { all?: boolean; family?: number }) => {
    let found: unknown
    lookup(name, options, (error, address) => {
      found = error ?? address
    })
    return found
  }

  it("W7: a pinned name has the addresses that were checked; every other name has none", () => {
    const lookup = pinned("a.example", ["93.184.215.14", "2606:4700::1"])
    assert.strictEqual(lookedUp("a.example", lookup, {}), "93.184.215.14")
    assert.strictEqual(lookedUp("a.example", lookup, { family: 6 }), "2606:4700::1")
    assert.deepStrictEqual(lookedUp("a.example", lookup, { all: true }), [
      { address: "93.184.215.14", family: 4 },
      { address: "2606:4700::1", family: 6 }
    ])
    assert.instanceOf(lookedUp("b.example", lookup, { all: true }), Error)
  })

  it.scopedLive("W7: what was checked is what is connected to: a name that changes in between changes nothing", () =>
    Effect.gen(function* () {
      const upstream = yield* Upstream.make([Upstream.ok()])
      const { port } = new URL(upstream.baseUrl)
      // nobody but the lookup knows this name
      const baseUrl = `http://rebound.example:${port}/v1`
      const provider = yield* OpenAiCompatible.make({
        name: "p",
        baseUrl,
        lookup: pinned("rebound.example", ["127.0.0.1"])
      })
      const { error, answer } = yield* outcome(provider, request("chat.completions", false))
      assert.isUndefined(error)
      assert.strictEqual(answer?._tag, "Json")
      const other = yield* OpenAiCompatible.make({ name: "p", baseUrl, lookup: pinned("other.example", ["127.0.0.1"]) })
      const refused = yield* outcome(other, request("chat.completions", false))
      assert.strictEqual(refused.error?.failure.kind, "network_error")
    })
  )

  it("W7: a name is resolved once, however often it is called", async () => {
    const { names, result } = await attempt("https://once.example/v1")
    assert.deepStrictEqual([result, names], ["ok", ["once.example"]])
  })

  it.scopedLive(
    "W7: redirects are not followed, and say nothing of where they lead; the caller's key is in no error",
    () =>
      Effect.gen(function* () {
        const trap = yield* Upstream.make([Upstream.ok()])
        const headers = { location: trap.baseUrl }
        const upstream = yield* Upstream.make([Upstream.raw({ status: 307, headers, chunks: [`see ${canary}`] })])
        const options = { allowedBaseUrls: [upstream.baseUrl] }
        const asked = {
          apiKey: Redacted.make(canary),
          baseUrl: `${upstream.baseUrl}`,
          dialect: "chat.completions"
        } as const
        const provider = yield* Byo.provider(options, asked)
        const { error } = yield* outcome(provider, request("chat.completions", false))
        assert.isDefined(error)
        assert.notInclude(
          JSON.stringify({ ...error, body: Buffer.from(error?.response?.body ?? []).toString() }),
          canary
        )
        assert.notProperty(error?.response?.headers ?? {}, "location")
        assert.strictEqual(yield* trap.count, 0)
        const call = yield* upstream.call(0)
        assert.strictEqual(call.headers["authorization"], `Bearer ${canary}`)
      })
  )

  it.scopedLive("without a key of the caller's no credential is sent, whatever the request's headers hold", () =>
    Effect.gen(function* () {
      const upstream = yield* Upstream.make([Upstream.ok()])
      const options = { allowedBaseUrls: [upstream.baseUrl] }
      const provider = yield* Byo.provider(options, { baseUrl: upstream.baseUrl, dialect: "messages" })
      const headers = { authorization: "Bearer x", "x-api-key": "y", cookie: "z" }
      const { error } = yield* outcome(provider, request("messages", false, { headers }))
      assert.isUndefined(error)
      const call = yield* upstream.call(0)
      for (const name of Object.keys(headers)) assert.notProperty(call.headers, name)
    })
  )
})
