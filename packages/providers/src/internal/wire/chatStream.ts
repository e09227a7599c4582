import * as chat from "./chatAnswer.js"
import { chatError, faultOf } from "./errorBody.js"
import { get, isObject, listAt, parse, stringAt } from "./json.js"
import { type Reply, type Sign, type Stop, type StreamReader, type StreamWriter, settled, type Usage } from "./model.js"

/** Chat Completions chunks as what they say. */
export class ChatReader implements StreamReader {
  private started = false
  private refused = false
  private ended = false
  /** Calls by their index in the answer, as far as they have been announced. */
  private readonly calls = new Map<number, { readonly key: number; readonly id: string | undefined }>()
  private keys = 0

  event(_: string | undefined, data: string): ReadonlyArray<Sign> {
    if (this.ended) return []
    if (data.trim() === "[DONE]") {
      this.ended = true
      return [{ _tag: "End" }]
    }
    const chunk = parse(data)
    const fault = faultOf(chunk)
    if (fault !== undefined) {
      this.ended = true
      return [{ _tag: "Fault", fault }]
    }
    if (!isObject(chunk)) return []
    const signs: Array<Sign> = []
    const [choice] = listAt(chunk, "choices")
    if (isObject(choice)) this.choice(chunk, choice, signs)
    const usage = chat.usageOf(get(chunk, "usage"))
    if (usage !== undefined) signs.push({ _tag: "Usage", usage })
    return signs
  }

  private choice(chunk: unknown, choice: unknown, signs: Array<Sign>): void {
    if (!this.started) {
      this.started = true
      const [id, model] = [stringAt(chunk, "id") ?? "", stringAt(chunk, "model") ?? ""]
      signs.push({ _tag: "Start", id, model, usage: undefined })
    }
    const delta = get(choice, "delta")
    const reasoning = chat.reasoningOf(delta)
    if (reasoning !== "") signs.push({ _tag: "Reasoning", text: reasoning })
    const refusal = stringAt(delta, "refusal") ?? ""
    if (refusal !== "") this.refused = true
    const text = chat.textOf(delta) + refusal
    if (text !== "") signs.push({ _tag: "Text", text })
    listAt(delta, "tool_calls").forEach((call, at) => {
      this.call(call, at, signs)
    })
    const reason = stringAt(choice, "finish_reason")
    if (reason === undefined) return
    const stop: Stop = this.refused ? "filter" : settled(chat.stopOf(reason), this.calls.size > 0)
    signs.push({ _tag: "Stop", stop, sequence: undefined })
  }

  private call(call: unknown, at: number, signs: Array<Sign>): void {
    const given = get(call, "index")
    const index = typeof given === "number" ? given : at
    const inside = get(call, "function")
    const id = stringAt(call, "id") || undefined
    const name = stringAt(inside, "name") ?? ""
    let known = this.calls.get(index)
    // Some number all their calls 0: another id begins another call.
    if (known === undefined || (name !== "" && id !== undefined && id !== known.id)) {
      // Without a name nobody can be called.
      if (name === "") return
      known = { key: this.keys++, id }
      this.calls.set(index, known)
      signs.push({ _tag: "Call", key: known.key, id: id ?? `call_${known.key}`, name })
    }
    const text = stringAt(inside, "arguments") ?? ""
    if (text !== "") signs.push({ _tag: "Args", key: known.key, text })
  }
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

/** What is said, as Chat Completions chunks. */
export class ChatWriter implements StreamWriter {
  private id = ""
  private model = ""
  private usage: Usage | undefined
  private stopped = false
  private over = false
  /** Calls are numbered as they come. */
  private readonly calls = new Map<number, { readonly index: number; args: boolean }>()

  constructor(private readonly reply: Reply) {}

  sign(sign: Sign): string {
    if (this.over) return ""
    switch (sign._tag) {
      case "Start":
        this.id = sign.id
        this.model = sign.model
        return this.delta({ role: "assistant", content: "" })
      case "Text":
        return this.delta({ content: sign.text })
      case "Reasoning":
        return this.delta({ reasoning_content: sign.text })
      case "Call": {
        const index = this.calls.size
        this.calls.set(sign.key, { index, args: false })
        const inside = { name: sign.name, arguments: "" }
        return this.delta({ tool_calls: [{ index, id: sign.id, type: "function", function: inside }] })
      }
      case "Args":
        return this.args(sign.key, sign.text)
      case "Stop":
        return this.stop(sign.stop)
      case "Usage":
        this.usage = sign.usage
        return ""
      case "Fault":
        this.over = true
        return data(chatError(sign.fault, undefined))
      case "End":
        return this.end()
    }
  }

  private args(key: number, text: string): string {
    const call = this.calls.get(key)
    if (call === undefined) return ""
    call.args = true
    return this.delta({ tool_calls: [{ index: call.index, function: { arguments: text } }] })
  }

  private stop(stop: Stop): string {
    this.stopped = true
    let before = ""
    for (const [key, call] of this.calls) if (!call.args) before += this.args(key, "{}")
    return before + this.chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: chat.reasonOf[stop] }])
  }

  private end(): string {
    const before = this.stopped ? "" : this.stop(settled("end", this.calls.size > 0))
    this.over = true
    const usage =
      this.reply.usage && this.usage !== undefined ? this.chunk([], { usage: chat.writeUsage(this.usage) }) : ""
    return `${before}${usage}data: [DONE]\n\n`
  }

  private delta(delta: unknown): string {
    return this.chunk([{ index: 0, delta, logprobs: null, finish_reason: null }])
  }

  private chunk(choices: ReadonlyArray<unknown>, more: object = this.reply.usage ? { usage: null } : {}): string {
    const { id, model } = this
    return data({ id, object: "chat.completion.chunk", created: this.reply.created, model, choices, ...more })
  }
}
