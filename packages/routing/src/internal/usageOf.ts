import { findMembers } from "./jsonBytes.js"

/** What an answer says of its tokens. */
export interface Said {
  readonly input: number
  readonly output: number
}

const decoder = new TextDecoder()

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const count = (record: Readonly<Record<string, unknown>>, ...keys: ReadonlyArray<string>): number | undefined => {
  for (const key of keys) {
    const value = record[key]
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value
  }
  return undefined
}

/** A usage object of any dialect: OpenAI's two names, and Anthropic's, where what the prompt's cache gave comes on top. */
export const read = (usage: unknown): Partial<Said> | undefined => {
  if (!isRecord(usage)) return undefined
  const prompt = count(usage, "prompt_tokens", "input_tokens")
  const cached = (count(usage, "cache_creation_input_tokens") ?? 0) + (count(usage, "cache_read_input_tokens") ?? 0)
  const output = count(usage, "completion_tokens", "output_tokens")
  if (prompt === undefined && output === undefined) return undefined
  return {
    ...(prompt === undefined ? undefined : { input: prompt + cached }),
    ...(output === undefined ? undefined : { output })
  }
}

/** Bytes that make about one token. */
const perToken = 4

/** Tokens of a text that nobody counted. */
export const guess = (bytes: number): number => Math.ceil(bytes / perToken)

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Bytes up to which reading all of an answer is cheaper than looking for a part of it. */
const small = 8_192

const usageIn = (body: Uint8Array): unknown => {
  if (body.length <= small) {
    const all = parse(decoder.decode(body))
    return isRecord(all) ? all["usage"] : undefined
  }
  const at = findMembers(body, "usage")?.at(-1)
  return at === undefined ? undefined : parse(decoder.decode(body.subarray(at.start, at.end)))
}

/** The usage of a JSON answer. */
export const ofJson = (body: Uint8Array): Said | undefined => {
  const said = read(usageIn(body))
  return said === undefined ? undefined : { input: said.input ?? 0, output: said.output ?? 0 }
}

const newline = 0x0a
/** Longest piece of a frame that is kept until its end arrives: usage frames are small. */
const longest = 65_536

/** Reads a stream as it passes: usage wherever a frame has one, and how many frames there were. */
export class StreamUsage {
  private rest: Uint8Array | undefined = undefined
  private input: number | undefined = undefined
  private output: number | undefined = undefined
  private frames = 0

  chunk(bytes: Uint8Array): void {
    const joined = this.rest === undefined ? bytes : join(this.rest, bytes)
    const end = joined.lastIndexOf(newline)
    const rest = joined.subarray(end + 1)
    this.rest = rest.length === 0 || rest.length > longest ? undefined : rest
    if (end !== -1) this.lines(joined.subarray(0, end))
  }

  /** Frames are about one token each where a stream has no usage: those that put more in one send it. */
  said(): { readonly input: number | undefined; readonly output: number | undefined; readonly frames: number } {
    if (this.rest !== undefined) this.lines(this.rest)
    this.rest = undefined
    return { input: this.input, output: this.output, frames: this.frames }
  }

  private lines(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(newline, at)
      // `data:` and nothing else begins with "d"
      if (bytes[at] === 0x64) this.frames++
      if (end === -1) break
      at = end + 1
    }
    const text = decoder.decode(bytes)
    if (!text.includes(`"usage"`)) return
    for (const line of text.split("\n")) {
      if (line.startsWith("data:") && line.includes(`"usage"`)) this.frame(parse(line.slice(5)))
    }
  }

  private frame(frame: unknown): void {
    if (!isRecord(frame)) return
    // OpenAI's last chunk and Anthropic's message_delta; its message_start; response.completed
    const inner = frame["message"] ?? frame["response"]
    const said = read(frame["usage"]) ?? (isRecord(inner) ? read(inner["usage"]) : undefined)
    if (said?.input !== undefined) this.input = said.input
    if (said?.output !== undefined) this.output = said.output
  }
}

const join = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
