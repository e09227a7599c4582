import { describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { assert } from "vitest"
import * as Ip from "../src/internal/byo/ip.js"
import { attempt } from "./byoAttempt.js"

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
