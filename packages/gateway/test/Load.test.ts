import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { Pool } from "undici"
import { expect } from "vitest"
import { fixture } from "./support.js"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** The heap, once nothing more can be freed. */
const heap = Effect.gen(function* () {
  for (let i = 0; i < 4; i++) {
    collect()
    yield* Effect.sleep(20)
  }
  return process.memoryUsage().heapUsed / 1024 / 1024
})

/** Every stream says its own name in every part, and none goes on before all have begun. */
const together = (streams: number, parts: number): Upstream.Script => {
  let begun = 0
  return (call) => ({
    name: "together",
    *steps() {
      const name = /stream-\d+/.exec(JSON.stringify(call.json))?.[0] ?? "nobody"
      const words = Array.from({ length: parts }, (_, part) => `${name}:${part};`)
      begun++
      let written = 0
      for (const step of Upstream.drip(1, { parts: words }).steps(call)) {
        if (step._tag !== "Wait") yield step
        else if (++written % 40 === 0) yield step
        if (written === 2) while (begun < streams) yield { _tag: "Wait", millis: 20 }
      }
    }
  })
}

const frame = /"content":"([^"]+)"/g

describe("streams", () => {
  it.scopedLive(
    "1 000 at once, of 200 parts each: none mixed, lost or doubled; memory returns to its start",
    () =>
      Effect.gen(function* () {
        const timeouts = "{ connect: 60000, firstOutput: 200000, idle: 200000, total: 300000 }"
        const { url, primary } = yield* fixture({ primary: together(1000, 10), timeouts })
        const pool = yield* Effect.acquireRelease(
          Effect.sync(() => new Pool(url)),
          (pool) => Effect.promise(() => pool.destroy())
        )
        const stream = async (name: string): Promise<string> => {
          const { body } = await pool.request({
            path: "/v1/chat/completions",
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ model: "main", stream: true, messages: [{ role: "user", content: name }] })
          })
          const text = await body.text()
          const said = [...text.matchAll(frame)].map((found) => found[1]).join("")
          return text.trimEnd().endsWith("data: [DONE]") ? said : `${said} (cut)`
        }
        const round = (size: number) =>
          Effect.promise(() => Promise.all(Array.from({ length: size }, (_, i) => stream(`stream-${i}`))))

        yield* round(1000)
        // What the upstream remembers of its calls is no memory of the gateway's.
        yield* primary.setScript(together(1000, 200))
        const before = yield* heap
        const said = yield* round(1000)
        const wanted = (i: number) => Array.from({ length: 200 }, (_, part) => `stream-${i}:${part};`).join("")
        expect(said.filter((text, i) => text !== wanted(i))).toEqual([])
        expect(yield* primary.mostOpen).toBe(1000)
        said.length = 0
        yield* primary.setScript(together(1, 1))
        expect((yield* heap) - before).toBeLessThan(8)
      }),
    300_000
  )
})
