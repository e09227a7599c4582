import { readFileSync } from "node:fs"
import { beforeAll, describe, expect, it } from "vitest"
import { page } from "../src/conformance/page.js"
import { type Survey, survey } from "../src/conformance/survey.js"

describe("conformance", () => {
  let found: Survey

  beforeAll(async () => {
    found = await survey()
  }, 120_000)

  it("our machine passes every published trace", () => {
    expect(found.own.mismatches).toEqual([])
    expect(found.own.passed).toBe(found.traces.length)
  })

  it("our machine around a promise passes every trace that the harness can put to it", () => {
    const own = found.results.filter(({ peer }) => peer.dependency === "@switchgear/core")
    const verdicts = own.flatMap((result) => result.verdicts)
    expect(verdicts).toHaveLength(found.traces.length)
    expect(verdicts.filter(({ _tag }) => _tag === "Failed" || _tag === "Dialect")).toEqual([])
    expect(verdicts.flatMap((verdict) => (verdict._tag === "NotApplicable" ? [verdict.id] : [])).sort()).toEqual([
      "hint-gets-jitter-too",
      "jitter-only-lengthens",
      "probe-stream-closes-at-first-output"
    ])
  })

  it("a dialect is named only where there is one", () => {
    for (const { peer, verdicts } of found.results) {
      const dialects = verdicts.flatMap((verdict) => (verdict._tag === "Dialect" ? [verdict.id] : []))
      expect(dialects.sort()).toEqual(Object.keys(peer.dialects).sort())
    }
  })

  it("docs/conformance.md is what `npm run conformance` writes", () => {
    expect(readFileSync(new URL("../../../docs/conformance.md", import.meta.url), "utf8")).toBe(page(found))
  })
})
