import * as ModelName from "@switchgear/routing/ModelName"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
const replace = (text: string, name: string) => decode(ModelName.replace(encode(text), name))

const space = fc.stringOf(fc.constantFrom(" ", "\n", "\t", "\r"), { maxLength: 2 })

/** A string in quotes, some of its characters escaped without need. */
const written = (text: string): fc.Arbitrary<string> =>
  fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length }).map((escape) => {
    const characters = Array.from({ length: text.length }, (_, index) =>
      escape[index] === true
        ? `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`
        : JSON.stringify(text.charAt(index)).slice(1, -1)
    )
    return `"${characters.join("")}"`
  })

const text = fc.oneof(
  fc.fullUnicodeString({ maxLength: 6 }),
  fc.stringOf(fc.constantFrom('"', "\\", "{", "}", "é", ",", ":"), { maxLength: 8 })
)
const key = fc.oneof(fc.constantFrom("model", "models", "Model", "mode", ""), text)

const json = (depth: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom("0", "-1.5e3", "true", "null", "[]", "{}", '"model"'),
    text.chain(written),
    ...(depth === 0
      ? []
      : [
          fc.array(json(depth - 1), { maxLength: 3 }).map((items) => `[ ${items.join(" , ")}]`),
          object(depth - 1).map((members) => members.text)
        ])
  )

interface Member {
  readonly isModel: boolean
  readonly head: string
  readonly value: string
  readonly tail: string
}

const object = (depth: number): fc.Arbitrary<{ readonly text: string; readonly members: ReadonlyArray<Member> }> =>
  fc
    .array(
      key.chain((key) =>
        fc.tuple(written(key), space, space, json(depth), space).map(([name, before, after, value, tail]) => ({
          isModel: key === "model",
          head: `${before}${name}${after}:${before}`,
          value,
          tail
        }))
      ),
      { maxLength: 5 }
    )
    .map((members) => ({ members, text: `{${members.map((one) => one.head + one.value + one.tail).join(",")}}` }))

describe("ModelName", () => {
  it("W6: only the values of top-level model keys change, each of them, and no other byte", () => {
    fc.assert(
      fc.property(object(2), space, text, ({ members, text }, around, name) => {
        const value = JSON.stringify(name)
        const expected = members.map((one) => one.head + (one.isModel ? value : one.value) + one.tail).join(",")
        const found = members.some((one) => one.isModel)
        const got = ModelName.replace(encode(around + text + around), name)
        if (!found) return assert.strictEqual(got, undefined)
        assert(got !== undefined)
        assert.strictEqual(Buffer.compare(got, encode(`${around}{${expected}}${around}`)), 0)
        assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(got)), {
          ...JSON.parse(text),
          model: name
        })
      }),
      { numRuns: 2_000 }
    )
  })

  it("W6: replacing is idempotent, and a body that has the name already is the same array", () => {
    fc.assert(
      fc.property(object(1), text, ({ text }, name) => {
        const once = ModelName.replace(encode(text), name)
        if (once !== undefined) assert.strictEqual(ModelName.replace(once, name), once)
      })
    )
  })

  it("W6: agrees with JSON.parse on any JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const got = replace(JSON.stringify(value), "m")
        const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
        if (isObject && Object.hasOwn(value, "model"))
          assert.deepStrictEqual(JSON.parse(got ?? ""), { ...value, model: "m" })
        else assert.strictEqual(got, undefined)
      })
    )
  })

  it("W6: any bytes are read to an end without throwing", () => {
    const noise = fc.uint8Array({ maxLength: 60 })
    const almost = fc.stringOf(fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "model", " ", "1"), {
      maxLength: 30
    })
    fc.assert(
      fc.property(fc.oneof(noise, almost.map(encode)), (body) => {
        const before = body.slice()
        ModelName.replace(body, "m")
        assert.deepStrictEqual(body, before)
      }),
      { numRuns: 5_000 }
    )
  })

  it("a duplicate key is replaced as well, whichever of the two a reader takes", () => {
    assert.strictEqual(
      replace(`{"model":"cheap","a":1,"mod\\u0065l":["dear"]}`, "m"),
      `{"model":"m","a":1,"mod\\u0065l":"m"}`
    )
  })

  it("a name is written as JSON", () => {
    assert.strictEqual(replace(`{"model":"a"}`, `x"\n\\`), `{"model":"x\\"\\n\\\\"}`)
  })

  it("a byte order mark stays", () => {
    assert.strictEqual(replace(`\uFEFF{"model":"a"}`, "b"), `\uFEFF{"model":"b"}`)
  })

  it("a nesting of 100 000 needs no stack, and a string of megabytes no second look", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000)
    assert.strictEqual(replace(`{"x":${deep},"model":"a"}`, "b"), `{"x":${deep},"model":"b"}`)
    const long = '\\\\\\"'.repeat(500_000)
    assert.strictEqual(replace(`{"x":"${long}","model":"a"}`, "b")?.endsWith(`","model":"b"}`), true)
  })

  it("what is no object with a model has none", () => {
    for (const text of [
      "",
      "null",
      "[]",
      `"model"`,
      "{}",
      `{"a":{"model":"x"}}`,
      `{"model"}`,
      `{"model":`,
      `{"model":"a`
    ]) {
      assert.strictEqual(replace(text, "b"), undefined, text)
    }
  })
})
