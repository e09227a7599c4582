import * as Failure from "@switchgear/failures/Failure"
import type { EventSourceMessage } from "eventsource-parser"

export interface Sign {
  readonly output: boolean
  readonly terminal: boolean
  readonly failure: Failure.Failure | undefined
}

export interface StreamMeaning {
  readonly next: (event: EventSourceMessage) => Sign
  readonly end: () => Failure.Failure | undefined
}

/** INTERIM: until failures' classifier lands. */
export interface Meaning {
  readonly answer: (
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    now: number
  ) => Failure.Failure | undefined
  readonly stream: (now: number) => StreamMeaning
  readonly thrown: (error: unknown) => Failure.Failure
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const get = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

const fromError = (error: unknown, status?: number): Failure.Failure => {
  const type = String(get(error, "type"))
  const kind: Failure.Kind = type.includes("overloaded") ? "overloaded" : "server_error"
  return Failure.make(kind, String(get(error, "message")), { status })
}

const kinds: Record<number, Failure.Kind> = {
  401: "auth",
  403: "auth",
  404: "model_unavailable",
  429: "rate_limit",
  529: "overloaded",
  503: "overloaded",
  408: "timeout",
  504: "timeout"
}

export const interim: Meaning = {
  answer: (status, headers, body) => {
    const json = parse(body.toString())
    const error = get(json, "error")
    if (status >= 400) {
      const retryAfter = Number(headers["retry-after"])
      return Failure.make(
        kinds[status] ?? (status >= 500 ? "server_error" : "client_fault"),
        String(get(error, "message") ?? "no words"),
        { status, retryAfter: retryAfter * 1000 }
      )
    }
    if (error !== undefined && error !== null) return fromError(error)
    if (
      status >= 300 ||
      (get(json, "choices") === undefined &&
        get(json, "content") === undefined &&
        get(json, "output") === undefined &&
        get(json, "data") === undefined)
    ) {
      return Failure.make("server_error", "no answer")
    }
    return undefined
  },
  stream: () => {
    let terminal = false
    return {
      next: (event) => {
        if (event.data === "[DONE]") {
          terminal = true
          return { output: false, terminal: true, failure: undefined }
        }
        const json = parse(event.data)
        const error = get(json, "error")
        if (error !== undefined && error !== null) return { output: false, terminal: false, failure: fromError(error) }
        const type = get(json, "type")
        if (type === "message_stop" || type === "response.completed") {
          terminal = true
          return { output: false, terminal: true, failure: undefined }
        }
        const choices = get(json, "choices")
        const choice = Array.isArray(choices) ? choices[0] : undefined
        const delta = get(choice, "delta")
        const output =
          type === "content_block_delta" ||
          type === "response.output_text.delta" ||
          Boolean(get(delta, "content")) ||
          get(delta, "tool_calls") !== undefined
        return { output, terminal: false, failure: undefined }
      },
      end: () => (terminal ? undefined : Failure.make("network_error", "the stream was cut"))
    }
  },
  thrown: (error) => {
    const code = get(error, "code")
    return Failure.make(
      "network_error",
      typeof code === "string" ? `the connection failed: ${code}` : "the connection failed"
    )
  }
}
