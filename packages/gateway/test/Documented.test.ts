import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as Config from "../src/Config.js"

const root = fileURLToPath(new URL("../../../", import.meta.url))

const blocks = (path: string): ReadonlyArray<string> =>
  path.endsWith(".yaml") ? [readFileSync(`${root}${path}`, "utf8")] : fenced(path)

const fenced = (path: string): ReadonlyArray<string> =>
  Array.from(readFileSync(`${root}${path}`, "utf8").matchAll(/```yaml\n([\s\S]*?)```/g), ([, text]) => text ?? "")

const values: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://user:password@postgres:5432/switchgear",
  REDIS_URL: "redis://redis:6379",
  CLICKHOUSE_URL: "http://clickhouse:8123"
}

const envOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    Array.from(text.matchAll(/\$\{([A-Z_]+)\}/g), ([, name = ""]) => [
      name,
      values[name] ?? "sk-a-secret-of-the-documentation"
    ])
  )

describe("configurations in the documentation", () => {
  it.each(["README.md", "docs/gateway.md", "packages/switchgear/compose/gateway.yaml"])(
    "%s: each is read without a fault",
    (path) => {
      const found = blocks(path).filter((text) => /^providers:/m.test(text))
      expect(found.length).toBeGreaterThan(0)
      for (const text of found) {
        const read = Config.decode(text, { env: envOf(text), source: path })
        expect(Either.isLeft(read) ? read.left.message : "").toBe("")
      }
    }
  )
})
