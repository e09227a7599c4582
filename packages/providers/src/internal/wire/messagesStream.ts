import { faultOf, messagesError } from "./errorBody.js"
import { get, isObject, isShallow, parse, parseObject, stringAt } from "./json.js"
import * as messages from "./messagesAnswer.js"
import { type Sign, type Stop, type StreamReader, type StreamWriter, settled, type Usage } from "./model.js"

/** Messages events as what they say. */
export class MessagesReader implements StreamReader {
  private usage: Usage = messages.none
  private calls = false
  private ended = false

  event(name: string | undefined, data: string): ReadonlyArray<Sign> {
    if (this.ended) return []
    const event = parse(data)
    switch (stringAt(event, "type") ?? name) {
      case "message_start": {
        const message = get(event, "message")
        const usage = get(message, "usage")
        if (isObject(usage)) this.usage = messages.usageOf(usage)
        const [id, model] = [stringAt(message, "id") ?? "", stringAt(message, "model") ?? ""]
        return [{ _tag: "Start", id, model, usage: isObject(usage) ? this.usage : undefined }]
      }
      case "content_block_start":
        return this.begin(keyOf(event), get(event, "content_block"))
      case "content_block_delta":
        return delta(keyOf(event), get(event, "delta"))
      case "message_delta":
        return this.delta(event)
      case "message_stop":
        this.ended = true
        return [{ _tag: "End" }]
      case "error": {
        this.ended = true
        const fault = faultOf(event) ?? { type: undefined, code: undefined, message: "The stream ended with an error" }
        return [{ _tag: "Fault", fault }]
      }
      default:
        return []
    }
  }

  private begin(key: number, block: unknown): ReadonlyArray<Sign> {
    const type = stringAt(block, "type")
    if (type === "text") return said("Text", stringAt(block, "text"))
    if (type === "thinking") return said("Reasoning", stringAt(block, "thinking"))
    if (type !== "tool_use") return []
    this.calls = true
    const call: Sign = {
      _tag: "Call",
      key,
      id: stringAt(block, "id") ?? `toolu_${key}`,
      name: stringAt(block, "name") ?? ""
    }
    const input = get(block, "input")
    // Some servers say it all at once.
    const whole = isObject(input) && Object.keys(input).length > 0 && isShallow(input)
    return whole ? [call, { _tag: "Args", key, text: JSON.stringify(input) }] : [call]
  }

  private delta(event: unknown): ReadonlyArray<Sign> {
    const signs: Array<Sign> = []
    const change = get(event, "delta")
    const reason = stringAt(change, "stop_reason")
    if (reason !== undefined) {
      const stop = settled(messages.stopOf(reason), this.calls)
      signs.push({ _tag: "Stop", stop, sequence: stringAt(change, "stop_sequence") })
    }
    const usage = get(event, "usage")
    if (isObject(usage)) {
      this.usage = messages.usageOf(usage, this.usage)
      signs.push({ _tag: "Usage", usage: this.usage })
    }
    return signs
  }
}

const keyOf = (event: unknown): number => {
  const index = get(event, "index")
  return typeof index === "number" ? index : 0
}

const said = (tag: "Text" | "Reasoning", text: string | undefined): ReadonlyArray<Sign> =>
  text === undefined || text === "" ? [] : [{ _tag: tag, text }]

const delta = (key: number, change: unknown): ReadonlyArray<Sign> => {
  switch (stringAt(change, "type")) {
    case "text_delta":
      return said("Text", stringAt(change, "text"))
    case "thinking_delta":
      return said("Reasoning", stringAt(change, "thinking"))
    case "input_json_delta": {
      const text = stringAt(change, "partial_json") ?? ""
      return text === "" ? [] : [{ _tag: "Args", key, text }]
    }
    default:
      return []
  }
}

const event = (type: string, more: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`

interface Open {
  readonly index: number
  args: string
}

/** What is said, as Messages events. */
export class MessagesWriter implements StreamWriter {
  private started = false
  private blocks = 0
  /** The block of text that is open. */
  private text: number | undefined
  /** Calls whose blocks are open: arguments may still come for each. */
  private readonly open = new Map<number, Open>()
  private calls = false
  private stop: { readonly stop: Stop; readonly sequence: string | undefined } | undefined
  private usage: Usage | undefined
  private over = false

  sign(sign: Sign): string {
    if (this.over) return ""
    switch (sign._tag) {
      case "Start":
        this.usage = sign.usage
        return this.begin(sign.id, sign.model)
      case "Text":
        return this.words(sign.text)
      case "Reasoning":
        // A block of thinking without a signature could not be handed back: a sign of life takes its place.
        return this.ensure() + event("ping", {})
      case "Call":
        return this.call(sign.key, sign.id, sign.name)
      case "Args": {
        const call = this.open.get(sign.key)
        if (call === undefined) return ""
        call.args += sign.text
        return this.change(call.index, { type: "input_json_delta", partial_json: sign.text })
      }
      case "Stop":
        this.stop = sign
        return ""
      case "Usage":
        this.usage = sign.usage
        return ""
      case "Fault":
        this.over = true
        return event("error", messagesError(sign.fault, undefined))
      case "End":
        return this.end()
    }
  }

  private begin(id: string, model: string): string {
    this.started = true
    const usage = messages.writeUsage(this.usage ?? messages.none)
    const head = { id, type: "message", role: "assistant", model, content: [] }
    return event("message_start", { message: { ...head, stop_reason: null, stop_sequence: null, usage } })
  }

  private ensure(): string {
    return this.started ? "" : this.begin("", "")
  }

  private words(text: string): string {
    let before = this.ensure()
    if (this.text === undefined) {
      before += this.closeCalls(false)
      this.text = this.blocks++
      before += event("content_block_start", { index: this.text, content_block: { type: "text", text: "" } })
    }
    return before + this.change(this.text, { type: "text_delta", text })
  }

  private call(key: number, id: string, name: string): string {
    const before = this.ensure() + this.closeText() + this.closeCalls(false)
    const index = this.blocks++
    this.calls = true
    this.open.set(key, { index, args: "" })
    return before + event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } })
  }

  private change(index: number, delta: object): string {
    return event("content_block_delta", { index, delta })
  }

  private closeText(): string {
    if (this.text === undefined) return ""
    const index = this.text
    this.text = undefined
    return event("content_block_stop", { index })
  }

  /** A call whose arguments are whole is over when something else begins; the others may go on beside it. */
  private closeCalls(all: boolean): string {
    let closed = ""
    for (const [key, { args, index }] of this.open) {
      if (!all && (args === "" || parseObject(args) === undefined)) continue
      this.open.delete(key)
      closed += event("content_block_stop", { index })
    }
    return closed
  }

  private end(): string {
    const before = this.ensure() + this.closeText() + this.closeCalls(true)
    this.over = true
    const { sequence, stop } = this.stop ?? { stop: settled("end", this.calls), sequence: undefined }
    return (
      before +
      event("message_delta", {
        delta: { stop_reason: messages.reasonOf[stop], stop_sequence: sequence ?? null },
        usage: messages.writeUsage(this.usage ?? messages.none)
      }) +
      event("message_stop", {})
    )
  }
}
