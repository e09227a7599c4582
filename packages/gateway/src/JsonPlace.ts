/**
 * Where a text stops being JSON, for messages to people.
 *
 * @since 0.1.0
 */

/**
 * `line` and `column` count from 1; `found` says what stands there.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonPlace {
  readonly line: number
  readonly column: number
  readonly found: string
}

const literals = ["true", "false", "null"]
const number = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const escapes = '"\\/bfnrt'
const unicode = /[0-9a-fA-F]{4}/y
const space = /[ \t\n\r]*/y

/**
 * Finds the first place where a text is not JSON. The engine's own messages differ between versions, may name no place,
 * and quote the text; this is for when that has refused it.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { jsonPlace } from "@switchgear/gateway/JsonPlace"
 *
 * assert.deepStrictEqual(jsonPlace('{"a": 1,}'), { line: 1, column: 9, found: '"}"' })
 * ```
 *
 * @since 0.1.0
 * @category inspection
 */
export const jsonPlace = (text: string): JsonPlace => {
  let at = 0
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const skip = () => match(space)
  const take = (char: string): boolean => {
    if (text[at] !== char) return false
    at++
    return true
  }
  /** By hand: a pattern could run out of stack on a text of megabytes, and would point at its start. */
  const string = (): boolean => {
    if (!take('"')) return false
    for (; at < text.length; at++) {
      const char = text[at] ?? ""
      if (char === '"') return take('"')
      if (char < " ") return false
      if (char !== "\\") continue
      at++
      if (text[at] !== "u") {
        if (!escapes.includes(text[at] ?? "-")) return false
        continue
      }
      at++
      if (!match(unicode)) return false
      at--
    }
    return false
  }
  const literal = (): boolean => {
    const found = literals.find((word) => text.startsWith(word, at))
    if (found !== undefined) at += found.length
    return found !== undefined
  }
  /** What closes each open array or object: a stack instead of recursion, so that depth cannot overflow. */
  const open: Array<"]" | "}"> = []
  const key = (): boolean => {
    skip()
    if (!string()) return false
    skip()
    return take(":")
  }
  /** One value or the opening of one; false where neither stands. */
  const value = (): "complete" | "opened" | false => {
    skip()
    if (take("{")) {
      skip()
      if (take("}")) return "complete"
      open.push("}")
      return key() ? "opened" : false
    }
    if (take("[")) {
      skip()
      if (take("]")) return "complete"
      open.push("]")
      return "opened"
    }
    if (text[at] === '"') return string() ? "complete" : false
    return match(number) || literal() ? "complete" : false
  }
  const scan = (): void => {
    for (;;) {
      const step = value()
      if (step === false) return
      if (step === "opened") continue
      for (;;) {
        skip()
        const close = open.at(-1)
        if (close === undefined) return
        if (take(close)) {
          open.pop()
          continue
        }
        if (!take(",")) return
        if (close === "}" && !key()) return
        break
      }
    }
  }
  scan()
  const before = text.slice(0, at).split("\n")
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, found: name(text, at) }
}

const name = (text: string, at: number): string => {
  const char = text.codePointAt(at)
  if (char === undefined) return "the end of the text"
  return char < 0x20 ? "a control character" : JSON.stringify(String.fromCodePoint(char))
}
