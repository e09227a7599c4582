import { describe, it } from "@effect/vitest"
import * as Byo from "@switchgear/providers/Byo"
import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"
import { assert } from "vitest"
import * as Ip from "../src/internal/byo/ip.js"
import { pinned } from "../src/internal/byo/pinned.js"
import { canary, outcome, request } from "./harness.js"

const publicAddress = "93.184.215.14"

/** What became of a base URL: `ok`, or why not; and what was asked of the resolver. */
const attempt = async (
  baseUrl: string,
  options: Byo.Options = {},
  answers: ReadonlyArray<string> = [publicAddress]
) => {
  const names: Array<string> = []
  const resolve: Byo.Resolver = (name) => {
    names.push(name)
    return Effect.succeed(answers)
  }
  const asked = { apiKey: Redacted.make(canary), baseUrl, dialect: "chat.completions" } as const
  const result = await Effect.runPromise(Effect.scoped(Effect.either(Byo.provider({ resolve, ...options }, asked))))
  return {
    result: Either.isRight(result) ? "ok" : result.left.reason,
    names,
    error: Either.isLeft(result) ? result.left : undefined
  }
}

describe("addresses", () => {
  const v4 = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))

  /** All the ways of writing one address that some system reads. */
  const spellings = (parts: readonly [number, number, number, number]): ReadonlyArray<string> => {
    const [a, b, c, d] = parts
    const bits = a * 2 ** 24 + b * 2 ** 16 + c * 256 + d
    const octal = (n: number) => `0${n.toString(8)}`
    const hex = (n: number) => `0x${n.toString(16)}`
    return [
      `${a}.${b}.${c}.${d}`,
      `${a}.${b}.${c}.${d}.`,
      `${bits}`,
      hex(bits),
      `0X${bits.toString(16).toUpperCase()}`,
      octal(bits),
      parts.map(octal).join("."),
      parts.map(hex).join("."),
      `${hex(a)}.${octal(b)}.${c * 256 + d}`,
      `${a}.${hex(b * 65536 + c * 256 + d)}`,
      `00${octal(a)}.${b}.${c}.${hex(d).replace("0x", "0x00")}`
    ]
  }

  it("W7: an IPv4 address is the same in every spelling: decimal, octal, hex, short", () => {
    fc.assert(
      fc.property(v4, (parts) => {
        const bits = parts.reduce((sum, part) => sum * 256 + part, 0)
        for (const text of spellings(parts)) assert.deepStrictEqual(Ip.parse(text), { _tag: "V4", bits }, text)
      })
    )
  })

  it("W7: a private address is refused in every spelling, as URL and inside IPv6", async () => {
    const privates = [
      "127.0.0.1",
      "10.0.0.1",
      "172.31.255.254",
      "192.168.1.1",
      "169.254.169.254",
      "100.100.100.200",
      "0.0.0.0",
      "168.63.129.16",
      "224.0.0.1",
      "255.255.255.255",
      "192.0.0.192",
      "198.19.0.1"
    ]
    for (const text of privates) {
      const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number)
      const high = (a * 256 + b).toString(16)
      const low = (c * 256 + d).toString(16)
      const six = [
        `::ffff:${text}`,
        `::ffff:${high}:${low}`,
        `::${text}`,
        `64:ff9b::${text}`,
        `64:ff9b:1::${text}`,
        `2002:${high}:${low}::1`,
        `2001:0:${high}:${low}::1`,
        `2606:4700::5efe:${high}:${low}`,
        `0:0:0:0:0:ffff:${high}:${low}`
      ]
      for (const host of [...spellings([a, b, c, d]), ...six.map((it) => `[${it}]`)]) {
        const { names, result } = await attempt(`https://${host}/v1`)
        assert.strictEqual(result, "not_public", host)
        assert.deepStrictEqual(names, [])
      }
    }
  })

  it.each([
    "::1",
    "::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "100::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "64:ff9b:1:2::808:808"
  ])("W7: %s is not public", async (text) => {
    assert.strictEqual((await attempt(`https://[${text}]/`)).result, "not_public")
    assert.strictEqual((await attempt("https://name.example/", {}, [text])).result, "not_public")
  })

  it.each([
    "8.8.8.8",
    "1.1.1.1",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::6810:84e5",
    "2a00:1450:4001::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8"
  ])("%s is public", async (text) => {
    assert.strictEqual((await attempt(`https://${text.includes(":") ? `[${text}]` : text}/v1`)).result, "ok")
    assert.strictEqual((await attempt("https://name.example/v1", {}, [text])).result, "ok")
  })

  it("an IPv6 address is what the URL parser says it is", () => {
    const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(groups, (groups) => {
        const full = groups.map((group) => group.toString(16)).join(":")
        const short = new URL(`http://[${full}]`).hostname
        assert.deepStrictEqual(Ip.parse(short), Ip.parse(full))
        assert.deepStrictEqual<unknown>(Ip.parse(full), { _tag: "V6", groups })
      })
    )
  })

  it("anything: an address or none, never a throw; what is none for the resolver is not public", () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-fx.:%[\]]{0,40}$/))
    fc.assert(fc.property(text, (text) => assert.doesNotThrow(() => Ip.parse(text))))
    for (const text of [
      "fe80::1%eth0",
      "2606:4700::1%1",
      "1.2.3.4.5",
      "256.1.1.1",
      "1:2:3",
      "1::2::3",
      "::1.2.3",
      "08.8.8.8",
      "",
      "0x",
      "a"
    ]) {
      const address = Ip.parse(text)
      assert.isTrue(address === undefined || !Ip.isPublic(address), text)
    }
  })
})

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
