import { describe, expect, it } from "vitest"
import { extract } from "../scripts/examples.mjs"

const examples = extract()

describe("every example of the docs runs", () => {
  it("there are some", () => expect(examples.length).toBeGreaterThan(10))
  for (const { file, name } of examples) {
    it(name, async () => {
      await import(/* @vite-ignore */ file)
    })
  }
})
