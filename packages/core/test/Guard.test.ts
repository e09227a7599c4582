import { inspect } from "node:util"
import * as Breaker from "@switchgear/core/Breaker"
import * as Guard from "@switchgear/core/Guard"
import * as Policy from "@switchgear/core/Policy"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: 100 }, halfOpen: { probeTimeout: 50 } })

const make = (options?: Partial<Guard.Options>) => {
  const time = { now: 0 }
  const guard = Guard.make({ name: "g", policy, now: () => time.now, random: () => 0, ...options })
  return { guard, time }
}
const fails = (guard: Guard.Guard, error: unknown = new Error("down")) =>
  guard.run(() => Promise.reject(error)).catch(() => undefined)
const kinds = (guard: Guard.Guard) => guard.view().kinds
const response = (status: number, headers: Record<string, string> = {}) => new Response(null, { status, headers })

describe("Guard", () => {
  it("resolves and rejects as the call does", async () => {
    const { guard } = make()
    const error = new Error("mine")
    expect(await guard.run(async () => 1)).toBe(1)
    expect(await guard.run(() => 2)).toBe(2)
    await expect(guard.run(() => Promise.reject(error))).rejects.toBe(error)
    await expect(
      guard.run(() => {
        throw error
      })
    ).rejects.toBe(error)
    expect(guard.view().state).toBe("Open")
  })

  it("A2: refuses without calling, and says for how long", async () => {
    const { guard, time } = make()
    await fails(guard)
    await fails(guard)
    time.now = 40
    let called = false
    const refused = await guard
      .run(() => {
        called = true
      })
      .catch((error: unknown) => error)
    expect(called).toBe(false)
    expect(refused).toBeInstanceOf(Guard.CircuitOpenError)
    expect(refused).toMatchObject({ _tag: "CircuitOpenError", breaker: "g", state: "Open", retryAfter: 60 })
    expect(String(refused)).toBe('CircuitOpenError: circuit breaker "g" is open; try again in 60 ms')
    expect(refused).toBeInstanceOf(Error)
    expect(inspect(refused)).toContain('circuit breaker "g" is open')
    guard.command(Breaker.forceOpen())
    await expect(guard.run(() => 1)).rejects.toMatchObject({
      retryAfter: undefined,
      message: 'circuit breaker "g" is open'
    })
  })

  it("A3, A4: of many callers past the deadline one probes", async () => {
    const { guard, time } = make()
    await fails(guard)
    await fails(guard)
    time.now = 100
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let calls = 0
    const all = Array.from({ length: 50 }, () =>
      guard
        .run(async () => {
          calls++
          await held
        })
        .then(
          () => "served",
          () => "refused"
        )
    )
    await Promise.resolve()
    expect(calls).toBe(1)
    release()
    expect((await Promise.all(all)).filter((one) => one === "served")).toHaveLength(1)
    expect(guard.view().state).toBe("Closed")
  })

  it("DESIGN 12: in shadow it counts and transitions, and rejects nothing", async () => {
    const { guard } = make({ enforce: false })
    await fails(guard)
    await fails(guard)
    expect(guard.view().state).toBe("Open")
    expect(await guard.run(() => "served")).toBe("served")
  })

  it("R1: an abort releases at once, whatever the call does with the signal", async () => {
    const { guard, time } = make()
    await fails(guard)
    await fails(guard)
    time.now = 100
    const controller = new AbortController()
    const running = guard.run(() => new Promise(() => undefined), { signal: controller.signal })
    expect(guard.view().leases).toBe(1)
    controller.abort("left")
    await expect(running).rejects.toBe("left")
    expect(guard.view()).toMatchObject({ state: "HalfOpen", leases: 0 })
    await expect(guard.run(() => 1, { signal: controller.signal })).rejects.toBe("left")
    expect(guard.view().leases).toBe(0)
  })

  it("R1: a call that settles after its abort is reported once", async () => {
    const { guard } = make()
    const controller = new AbortController()
    let fail: (error: Error) => void = () => undefined
    const running = guard.run(
      () =>
        new Promise((_, reject) => {
          fail = reject
        }),
      { signal: controller.signal }
    )
    controller.abort(new Error("left"))
    await expect(running).rejects.toThrow("left")
    fail(new Error("late"))
    await Promise.resolve()
    expect(guard.view().streak).toBe(0)
    expect(await guard.run((signal) => signal.aborted, { signal: new AbortController().signal })).toBe(false)
    await expect(
      guard.run(() => Promise.reject(new Error("x")), { signal: new AbortController().signal })
    ).rejects.toThrow("x")
    expect(guard.view().streak).toBe(1)
  })

  it("a timeout of the caller's signal is a failure of kind timeout", async () => {
    const { guard } = make()
    const controller = new AbortController()
    const running = guard.run(() => new Promise(() => undefined), { signal: controller.signal })
    controller.abort(new DOMException("too slow", "TimeoutError"))
    await expect(running).rejects.toMatchObject({ name: "TimeoutError" })
    expect(kinds(guard)).toEqual({ timeout: 1 })
  })

  it("a call gets a signal, given or not", async () => {
    const { guard } = make()
    const controller = new AbortController()
    expect(await guard.run((signal) => signal, { signal: controller.signal })).toBe(controller.signal)
    expect(await guard.run((signal) => signal.aborted)).toBe(false)
  })

  const errors: ReadonlyArray<readonly [string, unknown, Record<string, number>]> = [
    ["an error", new Error("x"), { unknown: 1 }],
    ["a string", "x", { unknown: 1 }],
    ["nothing", undefined, { unknown: 1 }],
    ["its own kind", { kind: "overloaded", status: 529 }, { overloaded: 1 }],
    ["an AbortError", new DOMException("x", "AbortError"), {}],
    ["a TimeoutError", new DOMException("x", "TimeoutError"), { timeout: 1 }],
    ["a status", { status: 503 }, { server_error: 1 }],
    ["a statusCode", { statusCode: 429 }, { rate_limit: 1 }],
    ["a response's status", { response: { status: 504 } }, { timeout: 1 }],
    ["a 529", { status: 529 }, { overloaded: 1 }],
    ["a 402", { status: 402 }, { quota_exhausted: 1 }],
    ["a 401", { status: 401 }, {}],
    ["a 400", { status: 400 }, {}],
    ["a socket's code", Object.assign(new Error("x"), { code: "ECONNRESET" }), { network_error: 1 }],
    ["a code in the cause", new TypeError("fetch failed", { cause: { code: "UND_ERR_SOCKET" } }), { network_error: 1 }],
    ["a refusal of another breaker", new Guard.CircuitOpenError("other", "Open", 5), {}]
  ]
  for (const [name, error, expected] of errors) {
    it(`classifies ${name}`, async () => {
      const { guard } = make()
      await fails(guard, error)
      expect(kinds(guard)).toEqual(expected)
    })
  }

  it("a fetch that resolves with a 503 failed, and its Retry-After is heard", async () => {
    const { guard } = make({
      policy: Policy.consecutive({ failureThreshold: 1, cooldown: { base: 100, honorRetryAfter: true } })
    })
    const given = response(503, { "retry-after": "1.5" })
    expect(await guard.run(() => given)).toBe(given)
    expect(guard.view()).toMatchObject({ state: "Open", retryAfter: 1_500 })
  })

  it("a fetch that resolves with a 200 succeeded, and so did any other value", async () => {
    const { guard } = make()
    await fails(guard)
    await guard.run(() => response(200))
    expect(guard.view().streak).toBe(0)
    await guard.run(() => ({ ok: false }))
    expect(guard.view().streak).toBe(0)
    await guard.run(() => response(429))
    expect(kinds(guard)).toEqual({ unknown: 1, rate_limit: 1 })
  })

  it("a classifier that throws hides no error and leaks no lease", async () => {
    const broken = () => {
      throw new Error("classifier")
    }
    const { guard, time } = make({ classifyError: broken, classifyValue: broken })
    await expect(guard.run(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine")
    expect(await guard.run(() => 1)).toBe(1)
    expect(guard.view().state).toBe("Open")
    time.now = 100
    await fails(guard)
    expect(guard.view().leases).toBeUndefined()
  })

  it("S3: listeners hear transitions in order, may command, and may throw", async () => {
    const { guard, time } = make()
    const heard: Array<string> = []
    guard.onTransition(() => {
      throw new Error("listener")
    })
    guard.onTransition((event) => {
      if (event.to === "Open") guard.command(Breaker.forceClosed)
    })
    const stop = guard.onTransition((event) => heard.push(`${event.from}->${event.to}`))
    await fails(guard)
    await fails(guard)
    expect(heard).toEqual(["Closed->Open", "Open->ForcedClosed"])
    stop()
    time.now = 1
    guard.command(Breaker.reset)
    expect(heard).toHaveLength(2)
  })

  it("M1: refuses a forceOpen of no positive whole number of ms", () => {
    const { guard } = make()
    for (const length of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => guard.command(Breaker.forceOpen(length))).toThrow(/"for" must be a positive whole number of ms/)
    }
    expect(guard.view().forced).toBe(false)
  })

  it("S9: a restart keeps the deadline", async () => {
    const before = make()
    await fails(before.guard)
    await fails(before.guard)
    before.time.now = 30
    const after = make()
    after.guard.restore(before.guard.snapshot(1_000), 1_010)
    expect(after.guard.view()).toMatchObject({ state: "Open", retryAfter: 60 })
  })

  it("its own clock is monotonic and its own random source makes jitter", async () => {
    const guard = Guard.make({
      name: "g",
      policy: Policy.consecutive({ failureThreshold: 1, cooldown: { base: 1_000_000, jitter: 1 } })
    })
    await fails(guard)
    const { retryAfter } = guard.view()
    expect(retryAfter).toBeGreaterThan(900_000)
    expect(retryAfter).toBeLessThanOrEqual(2_000_000)
  })

  it("after any interleaving of calls, no lease is out and every call was settled once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.record({ ok: fc.boolean(), abort: fc.boolean(), wait: fc.integer({ min: 0, max: 60 }) }), {
          maxLength: 12
        }),
        async (scheduler, calls) => {
          const { guard, time } = make()
          const runs = calls.map(async ({ abort, ok, wait }, index) => {
            await scheduler.schedule(Promise.resolve(), `start ${index}`)
            time.now += wait
            const controller = new AbortController()
            const run = guard.run(
              async () => {
                await scheduler.schedule(Promise.resolve(), `answer ${index}`)
                if (!ok) throw new Error("down")
              },
              abort ? { signal: controller.signal } : undefined
            )
            if (abort) void scheduler.schedule(Promise.resolve(), `abort ${index}`).then(() => controller.abort())
            await run.catch(() => undefined)
          })
          await scheduler.waitFor(Promise.all(runs))
          time.now += 1
          expect(guard.view().leases ?? 0).toBe(0)
        }
      ),
      { numRuns: 300 }
    )
  })
})
