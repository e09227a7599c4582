import { constants } from "node:fs"
import { access, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import * as Effect from "effect/Effect"
import { type CommandFailed, refused } from "../commandFailed.js"

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder; make it first",
  EISDIR: "this is a folder; name a file in it",
  EACCES: "this user may not write there; choose another place",
  ENOSPC: "the disk is full"
}

const attempt = (path: string, write: () => Promise<void>): Effect.Effect<void, CommandFailed> =>
  Effect.tryPromise({
    try: write,
    catch: (cause) => {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
      return refused(`${path}: ${reasons[code] ?? `it cannot be written (${code === "" ? "unknown reason" : code})`}`)
    }
  })

/** Fails where no file can be written to, before time is spent on what is to be in it. */
export const hasPlace = (path: string): Effect.Effect<void, CommandFailed> =>
  attempt(path, () => access(dirname(path), constants.W_OK))

/** Writes a file, over what is there, or says why it cannot be. */
export const writeText = (path: string, text: string): Effect.Effect<void, CommandFailed> =>
  attempt(path, () => writeFile(path, text))
