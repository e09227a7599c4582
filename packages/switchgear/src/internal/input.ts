import { readFile } from "node:fs/promises"
import { jsonPlace } from "@switchgear/gateway/JsonPlace"
import * as Effect from "effect/Effect"
import { type CommandFailed, refused } from "./commandFailed.js"

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file; check the path",
  EISDIR: "this is a folder; name a file in it",
  EACCES: "this user may not read it; change its permissions"
}

/** A file's text, or why it cannot be read. */
export const readText = (path: string): Effect.Effect<string, CommandFailed> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
      return refused(`${path}: ${reasons[code] ?? `it cannot be read (${code === "" ? "unknown reason" : code})`}`)
    }
  })

/** A file's JSON, or the place where it stops being that. */
export const readJson = (path: string): Effect.Effect<unknown, CommandFailed> =>
  Effect.flatMap(readText(path), (text) =>
    Effect.try({
      try: (): unknown => JSON.parse(text.replace(/^\uFEFF/, "")),
      catch: () => {
        const { line, column, found } = jsonPlace(text.replace(/^\uFEFF/, ""))
        return refused(`${path}:${line}:${column}: this is not JSON: unexpected ${found}; mend it there`)
      }
    })
  )
