import { inspect } from "node:util"
import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { assert } from "vitest"
import { Mask } from "../src/internal/mask.js"
import { canary, operations, outcome, request, setup } from "./harness.js"

const echo = { echoKey: true, message: `Incorrect API key provided: ${canary}` }

const leaky: ReadonlyArray<Upstream.Behaviour> = [
  Upstream.status(401, echo),
  Upstream.status(400, { ...echo, code: canary, type: canary }),
  Upstream.status(500, { body: `<html>upstream said ${canary}</html>`, headers: { "x-debug": `Bearer ${canary}` } }),
  Upstream.errorIn200(500, echo),
  Upstream.failAfter(0, 529, echo),
  Upstream.failAfter(1, 529, echo),
  Upstream.ok({ parts: ["your key is ", canary], headers: { "x-echo": canary } }),
  Upstream.raw({ chunks: [`data: ${canary}\n\n`, `event: error\ndata: ${canary}\n\n`] })
]

describe("secrets (DESIGN 9)", () => {
  for (const operation of operations) {
    for (const stream of [false, true]) {
      leaky.forEach((behaviour, index) => {
        it.scopedLive(`${operation}, ${stream ? "SSE" : "JSON"}: the key is in no error and no answer (${index})`, () =>
          Effect.gen(function* () {
            const { provider, upstream } = yield* setup(operation, [behaviour])
            const result = yield* outcome(provider, request(operation, stream))
            // What it was sent with, so that the test can fail.
            assert.include(JSON.stringify((yield* upstream.call(0)).headers), canary)
            const said = [
              result.bytes.toString(),
              JSON.stringify(result),
              Buffer.from(result.error?.response?.body ?? []).toString(),
              inspect(result.error, { depth: 10 }),
              `${result.error}`,
              result.error?.stack ?? ""
            ].join("\n")
            assert.notInclude(said, canary)
            if (result.error !== undefined) assert.notInclude(said, `127.0.0.1:${upstream.port}`)
          })
        )
      })
    }
  }

  it("a mask changes nothing but the key, and leaves the length of output alone", () => {
    const mask = new Mask(canary, "api.example.com:8443")
    assert.strictEqual(
      mask.output(Buffer.from(`a ${canary} b ${canary}`)).toString(),
      `a ${"*".repeat(canary.length)} b ${"*".repeat(canary.length)}`
    )
    const other = Buffer.from("é api.example.com:8443 ✓")
    assert.strictEqual(mask.output(other), other)
    assert.strictEqual(mask.error(Buffer.from("at api.example.com:8443")).toString(), "at ***")
  })

  it("a word that a local server takes as its key is not masked in output", () => {
    const mask = new Mask("ollama", "127.0.0.1:11434")
    assert.strictEqual(mask.output(Buffer.from("I run on ollama")).toString(), "I run on ollama")
    assert.strictEqual(mask.text("ollama is not running"), "ollama is not running")
  })
})
