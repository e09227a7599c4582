import type { Call, Reply } from "./model.js"

/** A stream in the three stretches that a behaviour may break off between. */
export interface Frames {
  /** Before any output: role, lifecycle, pings. */
  readonly opening: ReadonlyArray<string>
  /** One meaningful part each. */
  readonly output: ReadonlyArray<string>
  /** The finish and the terminal event. */
  readonly ending: ReadonlyArray<string>
}

/** A reply with its defaults filled in. */
export interface Said {
  readonly id: string
  readonly model: string
  readonly parts: ReadonlyArray<string>
  readonly toolCalls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly arguments: string }>
  readonly input: number
  readonly output: number
}

/** Fixed, so that the same call gets the same bytes. */
export const created = 1_700_000_000

export const said = (call: Call, reply: Reply): Said => {
  const toolCalls = (reply.toolCalls ?? []).map((toolCall, index) => ({
    id: `call_${call.index}_${index}`,
    name: toolCall.name,
    arguments: JSON.stringify(toolCall.arguments)
  }))
  const parts = reply.parts ?? (toolCalls.length > 0 ? [] : ["Hello", " there"])
  return {
    id: `${call.index}`,
    model: reply.model ?? call.model,
    parts,
    toolCalls,
    input: reply.usage?.input ?? 7,
    output: reply.usage?.output ?? parts.length + toolCalls.length
  }
}

export const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

export const event = (value: { readonly type: string } & Readonly<Record<string, unknown>>): string =>
  `event: ${value.type}\n${data(value)}`
