import type { Json } from "./json.js"

/** What both dialects can say, in neither's words: a request, an answer, a stream of one. */

export interface Text {
  readonly _tag: "Text"
  readonly text: string
}

export interface Image {
  readonly _tag: "Image"
  readonly source:
    | { readonly _tag: "Url"; readonly url: string }
    | { readonly _tag: "Base64"; readonly mediaType: string; readonly data: string }
}

/** The model calls a tool. `args` is an object as JSON text, as the model wrote it. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly args: string
}

export type Message =
  | { readonly _tag: "System"; readonly texts: ReadonlyArray<string> }
  | { readonly _tag: "User"; readonly parts: ReadonlyArray<Text | Image> }
  /** Its words come before its calls. */
  | { readonly _tag: "Assistant"; readonly texts: ReadonlyArray<string>; readonly calls: ReadonlyArray<Call> }
  /** What a tool answered. */
  | { readonly _tag: "Result"; readonly id: string; readonly texts: ReadonlyArray<string> }

export interface Tool {
  readonly name: string
  readonly description: string | undefined
  /** A JSON schema of an object; `undefined`: it takes nothing. */
  readonly schema: Json | undefined
  readonly strict: boolean
}

export type Choice =
  | { readonly _tag: "Auto" }
  | { readonly _tag: "None" }
  | { readonly _tag: "Any" }
  | { readonly _tag: "Tool"; readonly name: string }

export type Effort = "none" | "low" | "medium" | "high" | "xhigh"

export interface Request {
  readonly model: string
  /** No two `System` follow each other. */
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<Tool>
  readonly choice: Choice
  /** More than one tool call at a time is allowed. */
  readonly parallel: boolean
  readonly stop: ReadonlyArray<string>
  readonly temperature: number | undefined
  readonly topP: number | undefined
  readonly maxTokens: number | undefined
  readonly user: string | undefined
  readonly effort: Effort | undefined
  /** The answer's text is JSON of this schema. */
  readonly schema: Json | undefined
  readonly tier: "auto" | "standard" | undefined
  readonly stream: boolean
  /** The client of a stream wants to know the tokens. */
  readonly usage: boolean
}

/** `filter`: it refused, or was stopped by a filter. */
export type Stop = "end" | "sequence" | "length" | "tools" | "filter"

/** Tokens. All input is `input + cacheRead + cacheWrite`. */
export interface Usage {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Reasoning included. */
  readonly output: number
  readonly reasoning: number
}

export interface Answer {
  readonly id: string
  readonly model: string
  readonly reasoning: string
  readonly text: string
  readonly calls: ReadonlyArray<Call>
  readonly stop: Stop
  /** The stop sequence that ended it, where the dialect tells. */
  readonly sequence: string | undefined
  readonly usage: Usage | undefined
}

/** An error in an answer's or a frame's place. */
export interface Fault {
  readonly type: string | undefined
  readonly code: string | undefined
  readonly message: string
}

/** One thing that a stream says. `key` tells calls that run beside each other apart. */
export type Sign =
  | { readonly _tag: "Start"; readonly id: string; readonly model: string; readonly usage: Usage | undefined }
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Reasoning"; readonly text: string }
  | { readonly _tag: "Call"; readonly key: number; readonly id: string; readonly name: string }
  | { readonly _tag: "Args"; readonly key: number; readonly text: string }
  | { readonly _tag: "Stop"; readonly stop: Stop; readonly sequence: string | undefined }
  | { readonly _tag: "Usage"; readonly usage: Usage }
  | { readonly _tag: "Fault"; readonly fault: Fault }
  | { readonly _tag: "End" }

/** The events of one dialect's stream, in the order they come, as what they say. Total. */
export interface StreamReader {
  readonly event: (name: string | undefined, data: string) => ReadonlyArray<Sign>
}

/** What is said, as SSE of the other dialect. A stream that was cut gets no end. */
export interface StreamWriter {
  readonly sign: (sign: Sign) => string
}

/** What an answer's translation must know of its request. */
export interface Reply {
  /** A Chat Completions client asked for `stream_options.include_usage`. */
  readonly usage: boolean
  /** Unix seconds, for a dialect that tells when an answer was made. */
  readonly created: number
}

/** A turn that ends with calls ends for their sake, whatever else it was called: a forced call "stops". */
export const settled = (stop: Stop, calls: boolean): Stop => (stop === "end" && calls ? "tools" : stop)

/** System messages in a row are one. */
export const merged = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const all: Array<Message> = []
  for (const message of messages) {
    const last = all.at(-1)
    if (message._tag === "System" && last?._tag === "System") {
      all[all.length - 1] = { _tag: "System", texts: [...last.texts, ...message.texts] }
    } else all.push(message)
  }
  return all
}
