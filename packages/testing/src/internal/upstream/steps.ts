import { framesOf, jsonOf } from "./dialect.js"
import type { Behaviour, Call, Complaint, Reply, Step } from "./model.js"

export const json = { "content-type": "application/json" }

export const sse = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" }

export const head = (status: number, headers: Readonly<Record<string, string>>): Step => ({
  _tag: "Head",
  status,
  headers
})

export const write = (chunk: string | Uint8Array): Step => ({ _tag: "Write", chunk })

export const wait = (millis: number): Step => ({ _tag: "Wait", millis })

export const hang: Step = { _tag: "Hang" }

export const end: Step = { _tag: "End" }

export const close: Step = { _tag: "Close" }

export const reset: Step = { _tag: "Reset" }

/** Lets what was written reach the client before the connection goes. */
export const settle = wait(20)

export const behaviour = (name: string, steps: (call: Call) => Iterable<Step>): Behaviour => ({ name, steps })

export const whole = (status: number, headers: Readonly<Record<string, string>>, body: string): ReadonlyArray<Step> => [
  head(status, { ...headers, "content-length": `${Buffer.byteLength(body)}` }),
  write(body),
  end
]

export const headers = (
  base: Readonly<Record<string, string>>,
  reply: Reply | Complaint
): Readonly<Record<string, string>> => (reply.headers === undefined ? base : { ...base, ...reply.headers })

export const beginning = (call: Call, after: number, reply: Reply = {}): ReadonlyArray<Step> => {
  if (!call.stream) return [head(200, json), write(JSON.stringify(jsonOf(call, reply)).slice(0, 40))]
  const frames = framesOf(call, reply)
  return [head(200, sse), write([...frames.opening, ...frames.output.slice(0, after)].join(""))]
}
