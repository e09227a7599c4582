import { readFileSync } from "node:fs"
import * as Cases from "@switchgear/failures/Cases"
import { describe, expect, it } from "vitest"

const load = (path: string): ReadonlyArray<Cases.Case> => {
  const decoded = Cases.decodeAll(JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")))
  if (decoded._tag === "Failure") throw new Error(JSON.stringify(decoded.faults))
  return decoded.value
}

const files: ReadonlyArray<readonly [name: string, path: string, atLeast: number]> = [
  ["the recorded answers", "../../testing/traces/responses.json", 71],
  ["further answers of vendors", "./vendors.json", 60]
]

for (const [name, path, atLeast] of files) {
  describe(name, () => {
    const cases = load(path)
    it("are all there, each with a name of its own and something expected", () => {
      expect(cases.length).toBeGreaterThanOrEqual(atLeast)
      expect(new Set(cases.map((one) => one.id)).size).toBe(cases.length)
      expect(cases.every((one) => one.expect?.kind !== undefined)).toBe(true)
    })
    it.each(cases.map((one) => [one.id, one] as const))("%s", (_, one) => {
      const result = Cases.run(one)
      const stated = Object.fromEntries(
        Object.entries(result).filter(([key]) => one.expect !== undefined && key in one.expect)
      )
      expect({ ...stated, id: one.id }).toEqual({ ...one.expect, id: one.id })
    })
  })
}
