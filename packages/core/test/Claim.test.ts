import * as Claim from "@switchgear/core/Claim"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

type Act = "claim" | "commit" | "release"
interface Step {
  readonly act: Act
  readonly who: Claim.Claimant
  readonly at: number
}

const settings: Claim.Settings = { ...Claim.defaults, lease: 100, ttl: 300, retryAfter: 10 }
const owners = ["o1", "o2", "o3"]
const fingerprints = ["f", "g"]

const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc
  .array(
    fc.record({
      act: fc.constantFrom<Act>("claim", "claim", "commit", "release"),
      owner: fc.constantFrom(...owners),
      fingerprint: fc.constantFrom("f", "f", "f", "g"),
      gap: fc.constantFrom(0, 1, 50, 99, 100, 101, 299, 300)
    }),
    { maxLength: 20 }
  )
  .map((list) => {
    let at = 0
    return list.map(({ act, fingerprint, gap, owner }) => {
      at += gap
      return { act, who: { owner, fingerprint }, at }
    })
  })

const run = (
  record: Claim.Record<string>,
  { act, at, who }: Step
): { readonly verdict: string; readonly record: Claim.Record<string> } => {
  if (act === "claim") {
    const [verdict, next] = Claim.claim(record, who, at, settings)
    return { verdict: verdict._tag === "Replay" ? `Replay ${verdict.result}` : verdict._tag, record: next }
  }
  const [verdict, next] =
    act === "commit" ? Claim.commit(record, who, `by ${who.owner}`, at, settings) : Claim.release(record, who)
  return { verdict, record: next }
}

/** I2 and I3 read from the history: who holds the key, until when, and with what. */
const naive = (history: ReadonlyArray<Step>): string => {
  let holder: { who: Claim.Claimant; until: number; result: string | undefined } | undefined
  let verdict = ""
  for (const { act, at, who } of history) {
    const ours = holder !== undefined && holder.who.owner === who.owner && holder.who.fingerprint === who.fingerprint
    if (act === "claim") {
      if (holder === undefined || at >= holder.until) {
        holder = { who, until: at + 100, result: undefined }
        verdict = "Claimed"
      } else if (holder.who.fingerprint !== who.fingerprint) verdict = "KeyReused"
      else if (holder.result !== undefined) verdict = `Replay ${holder.result}`
      else verdict = ours ? "Claimed" : "InProgress"
    } else if (holder === undefined || !ours) verdict = "Lost"
    else if (act === "commit") {
      if (holder.result === undefined) holder = { who, until: at + 300, result: `by ${who.owner}` }
      verdict = "Committed"
    } else if (holder.result === undefined) {
      holder = undefined
      verdict = "Released"
    } else verdict = "Lost"
  }
  return verdict
}

const forAll = (predicate: (steps: ReadonlyArray<Step>) => void) => () =>
  fc.assert(fc.property(steps, predicate), { numRuns: 1_000 })

describe("Claim", () => {
  it("I2: every history of 4 steps is what a naive reading of the rules says", () => {
    const alphabet = (["claim", "commit", "release"] as const).flatMap((act) =>
      owners
        .slice(0, 2)
        .flatMap((owner) =>
          fingerprints.flatMap((fingerprint) => [0, 100, 300].map((gap) => ({ act, who: { owner, fingerprint }, gap })))
        )
    )
    let histories = 0
    const visit = (record: Claim.Record<string>, history: ReadonlyArray<Step>): void => {
      if (history.length === 4) return
      for (const { act, gap, who } of alphabet) {
        const step: Step = { act, who, at: (history.at(-1)?.at ?? 0) + gap }
        const longer = [...history, step]
        const after = run(record, step)
        histories++
        if (after.verdict !== naive(longer)) assert.strictEqual(after.verdict, naive(longer), JSON.stringify(longer))
        visit(after.record, longer)
      }
    }
    visit(undefined, [])
    assert(histories > 1_000_000)
  }, 60_000)

  it(
    "I2: records are plain JSON-able data, and no step changes the one it is given",
    forAll((list) => {
      let record: Claim.Record<string>
      for (const step of list) {
        const copy = record === undefined ? undefined : JSON.parse(JSON.stringify(record))
        const after = run(record, step)
        assert.deepStrictEqual(record, copy)
        assert.deepStrictEqual(run(copy, step), after)
        record = after.record
      }
    })
  )

  it(
    "I2: of all that run at one time, one holds the claim",
    forAll((list) => {
      let record: Claim.Record<string>
      for (const step of list) {
        record = run(record, step).record
        const holding = owners.flatMap((owner) =>
          fingerprints.filter((fingerprint) => Claim.release(record, { owner, fingerprint })[0] === "Released")
        )
        assert(holding.length <= 1)
      }
    })
  )

  it(
    "I2: a step that ran, and whose answer got lost, may run again",
    forAll((list) => {
      let record: Claim.Record<string>
      for (const step of list) {
        const once = run(record, step)
        const twice = run(once.record, step)
        assert.deepStrictEqual(twice.record, once.record)
        if (step.act !== "release")
          assert.strictEqual(twice.verdict.startsWith("Replay") ? once.verdict : twice.verdict, once.verdict)
        record = once.record
      }
    })
  )

  it(
    "I3: a late finisher never overwrites",
    forAll((list) => {
      let record: Claim.Record<string>
      for (const step of list) {
        const before = record
        const after = run(before, step)
        record = after.record
        if (step.act === "claim" || before === undefined) continue
        if (before.owner !== step.who.owner || before.fingerprint !== step.who.fingerprint) {
          assert.strictEqual(record, before)
          assert.strictEqual(after.verdict, "Lost")
        }
      }
    })
  )

  it("I2: a claim past its lease can be claimed, at exactly that time, by any request", () => {
    const [, record] = Claim.claim<string>(undefined, { owner: "o1", fingerprint: "f" }, 0, settings)
    const other = { owner: "o2", fingerprint: "g" }
    assert.strictEqual(Claim.claim(record, other, 99, settings)[0]._tag, "KeyReused")
    assert.strictEqual(Claim.claim(record, other, 100, settings)[0]._tag, "Claimed")
  })

  it("I2: one that waits is told to ask again soon, and not after the lease", () => {
    const [, record] = Claim.claim<string>(undefined, { owner: "o1", fingerprint: "f" }, 0, settings)
    const wait = (now: number) => Claim.claim(record, { owner: "o2", fingerprint: "f" }, now, settings)[0]
    assert.deepStrictEqual(wait(0), { _tag: "InProgress", retryAfter: 10, until: 100 })
    assert.deepStrictEqual(wait(97), { _tag: "InProgress", retryAfter: 3, until: 100 })
  })

  it("I3: what is kept, by status", () => {
    const kept = (store: "final" | "success", stream = false) =>
      [200, 204, 301, 400, 401, 404, 408, 409, 422, 425, 429, 499, 500, 503].filter((status) =>
        Claim.isKept({ status, size: 1, stream, finished: true }, { ...settings, store })
      )
    assert.deepStrictEqual(kept("final"), [200, 204, 400, 401, 404, 422, 499])
    assert.deepStrictEqual(kept("final", true), kept("final"))
    assert.deepStrictEqual(kept("success"), [200, 204])
    assert.deepStrictEqual(kept("success", true), [])
  })

  it("I3: what is too large or unfinished is released", () => {
    const ending = { status: 200, size: 1_048_576, stream: true, finished: true }
    assert.isTrue(Claim.isKept(ending))
    assert.isFalse(Claim.isKept({ ...ending, size: 1_048_577 }))
    assert.isFalse(Claim.isKept({ ...ending, finished: false }))
    assert.isFalse(Claim.isKept({ ...ending, size: Number.NaN }))
  })
})
