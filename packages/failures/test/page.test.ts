import { readFileSync } from "node:fs"
import * as Tables from "@switchgear/failures/Tables"
import { expect, it } from "vitest"

it("docs/failures.md is what `npm run docs` writes", () => {
  expect(readFileSync(new URL("../../../docs/failures.md", import.meta.url), "utf8")).toBe(`${Tables.markdown()}\n`)
})
