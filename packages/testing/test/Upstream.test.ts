import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"

const endpoints = [
  { path: "/chat/completions", last: "data: [DONE]\n\n" },
  { path: "/responses", last: "response.completed" },
  { path: "/messages", last: "message_stop" }
] as const

const withUpstream = <A>(script: Upstream.Script, use: (upstream: Upstream.Upstream) => Promise<A>): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(Upstream.make(script), (it) => Effect.promise(() => use(it)))))

const post = (upstream: Upstream.Upstream, path: string, stream: boolean, init: RequestInit = {}) =>
  fetch(`${upstream.baseUrl}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer sk-canary" },
    body: JSON.stringify({ model: "m", stream, messages: [] }),
    ...init
  })

const failed = (run: Promise<unknown>) =>
  run.then(
    () => false,
    () => true
  )

describe("Upstream", () => {
  for (const { path, last } of endpoints) {
    it(`${path}: answers JSON and a stream that ends with its terminal event`, () =>
      withUpstream(
        [Upstream.ok({ parts: ["a", "b"], toolCalls: [{ name: "f", arguments: { x: 1 } }] })],
        async (upstream) => {
          const json = JSON.stringify(await (await post(upstream, path, false)).json())
          assert.include(json, "ab")
          assert.include(json, `"name":"f"`)
          const sse = await (await post(upstream, path, true)).text()
          assert.isTrue(sse.trimEnd().split("\n\n").at(-1)?.includes(last.trim()))
          assert.strictEqual(await Effect.runPromise(upstream.count), 2)
        }
      ))

    it(`${path}: speaks the dialect's errors, and repeats the key only when told to`, () =>
      withUpstream([Upstream.status(429), Upstream.status(401, { echoKey: true })], async (upstream) => {
        const limited = await (await post(upstream, path, false)).text()
        assert.include(limited, path === "/messages" ? "rate_limit_error" : "rate_limit_exceeded")
        assert.notInclude(limited, "sk-canary")
        assert.include(await (await post(upstream, path, false)).text(), "sk-canary")
      }))
  }

  it("takes the script in order, repeats its last step, and starts over with a new one", () =>
    withUpstream([Upstream.status(500), Upstream.ok()], async (upstream) => {
      const statuses = []
      for (let n = 0; n < 3; n++) statuses.push((await post(upstream, "/chat/completions", false)).status)
      assert.deepStrictEqual(statuses, [500, 200, 200])
      await Effect.runPromise(upstream.setScript((call) => Upstream.status(call.index === 0 ? 503 : 529)))
      assert.strictEqual((await post(upstream, "/chat/completions", false)).status, 503)
      assert.strictEqual((await post(upstream, "/chat/completions", false)).status, 529)
    }))

  it("breaks connections as it says: before the headers, after them, in the middle", () =>
    withUpstream(
      [Upstream.resetBeforeHeaders, Upstream.resetAfterHeaders, Upstream.cut(1), Upstream.cut(1, "reset")],
      async (upstream) => {
        assert.isTrue(await failed(post(upstream, "/messages", true)))
        for (let n = 0; n < 3; n++) {
          const answer = await post(upstream, "/messages", true)
          assert.strictEqual(answer.status, 200)
          assert.isTrue(await failed(answer.text()))
        }
        const endings = await Effect.runPromise(
          Effect.flatMap(upstream.calls, (calls) => Effect.all(calls.map((call) => call.closed)))
        )
        assert.deepStrictEqual(endings, ["dropped", "dropped", "dropped", "dropped"])
      }
    ))

  it("an orderly cut has output and no terminal event", () =>
    withUpstream([Upstream.cut(1, "end")], async (upstream) => {
      const sse = await (await post(upstream, "/chat/completions", true)).text()
      assert.include(sse, "Hello")
      assert.notInclude(sse, "[DONE]")
    }))

  it("tells when a client leaves, before headers, after them and mid-stream", () =>
    withUpstream([Upstream.hangBeforeHeaders, Upstream.hangAfterHeaders, Upstream.pingsOnly(5)], async (upstream) => {
      for (let n = 0; n < 3; n++) {
        const leave = new AbortController()
        const answer = post(upstream, "/chat/completions", true, { signal: leave.signal })
        const call = await Effect.runPromise(upstream.call(n))
        if (n > 0) await answer
        leave.abort()
        await failed(answer)
        assert.strictEqual(await Effect.runPromise(call.closed), "left")
      }
      await Effect.runPromise(upstream.quiet)
      assert.strictEqual(await Effect.runPromise(upstream.left), 3)
    }))

  it("sends a huge answer at the client's pace", () =>
    withUpstream([Upstream.huge(64 * 1024 * 1024)], async (upstream) => {
      const leave = new AbortController()
      const answer = await post(upstream, "/chat/completions", false, { signal: leave.signal })
      const call = await Effect.runPromise(upstream.call(0))
      assert.isBelow(call.sent(), 32 * 1024 * 1024)
      leave.abort()
      await failed(answer.text())
      assert.strictEqual(await Effect.runPromise(call.closed), "left")
    }))
})
