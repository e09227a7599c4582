import type { Fields } from "./fields.js"
import { isExact, type Json } from "./json.js"
import * as content from "./messagesContent.js"
import type { Choice, Effort, Request, Tool } from "./model.js"

const tool = (fields: Fields): ReadonlyArray<Tool> => {
  const type = fields.string("type") ?? "custom"
  if (type !== "custom") {
    // A tool of the vendor's own runs at the vendor's.
    fields.cannot("type")
    return []
  }
  const name = fields.string("name")
  const description = fields.string("description")
  const schema = fields.object("input_schema")
  const strict = fields.boolean("strict") ?? false
  fields.hints("cache_control", "eager_input_streaming")
  fields.neutral("defer_loading", false)
  fields.neutral("allowed_callers", ["direct"])
  fields.neutral("input_examples", [])
  fields.end()
  if (name === undefined) fields.cannot("name")
  if (schema === undefined || !isExact(schema)) fields.cannot("input_schema")
  return [{ name: name ?? "", description, schema, strict }]
}

const tools = (request: Fields): ReadonlyArray<Tool> =>
  request.list("tools").flatMap((one, index) => {
    const fields = request.element("tools", index, one)
    return fields === undefined ? [] : tool(fields)
  })

interface Choosing {
  readonly choice: Choice
  readonly parallel: boolean
}

const choosing = (request: Fields): Choosing => {
  const fields = request.inside("tool_choice")
  if (fields === undefined) return { choice: { _tag: "Auto" }, parallel: true }
  const type = fields.string("type")
  const parallel = !(fields.boolean("disable_parallel_tool_use") ?? false)
  const name = fields.string("name")
  fields.end()
  switch (type) {
    case "auto":
      return { choice: { _tag: "Auto" }, parallel }
    case "none":
      return { choice: { _tag: "None" }, parallel }
    case "any":
      return { choice: { _tag: "Any" }, parallel }
    case "tool":
      if (name !== undefined) return { choice: { _tag: "Tool", name }, parallel }
  }
  fields.cannot("type")
  return { choice: { _tag: "Auto" }, parallel }
}

const efforts: ReadonlyArray<Effort> = ["low", "medium", "high", "xhigh"]

/** Adaptive thinking with an effort is what Chat Completions calls `reasoning_effort`; a budget it cannot say. */
const effortOf = (request: Fields, output: Fields | undefined): Effort | undefined => {
  const thinking = request.inside("thinking")
  const type = thinking?.string("type")
  thinking?.neutral("display", "omitted")
  thinking?.end()
  const given = output?.string("effort")
  const effort = efforts.find((one) => one === given)
  if (given !== undefined && effort === undefined) output?.cannot("effort")
  if (type === undefined) return effort
  // Where thinking is adaptive, "high" is the effort that need not be said.
  if (type === "adaptive") return effort ?? "high"
  if (type !== "disabled") return thinking?.cannot("type")
  return given === undefined ? "none" : output?.cannot("effort")
}

const schemaOf = (output: Fields | undefined): Json | undefined => {
  const format = output?.inside("format")
  if (format === undefined) return undefined
  format.neutral("type", "json_schema")
  const schema = format.object("schema")
  format.end()
  return schema === undefined || !isExact(schema) ? format.cannot("schema") : schema
}

const tierOf = (request: Fields): Request["tier"] => {
  const given = request.string("service_tier")
  if (given === undefined || given === "auto") return given
  return given === "standard_only" ? "standard" : request.cannot("service_tier")
}

const userOf = (request: Fields): string | undefined => {
  const metadata = request.inside("metadata")
  const user = metadata?.string("user_id")
  metadata?.end()
  return user
}

const stops = (request: Fields): ReadonlyArray<string> =>
  request.list("stop_sequences").flatMap((stop) => {
    if (typeof stop === "string") return [stop]
    request.cannot("stop_sequences")
    return []
  })

export const read = (request: Fields): Request => {
  request.hints("cache_control", "diagnostics")
  request.neutral("speed", "standard")
  const output = request.inside("output_config")
  const { choice, parallel } = choosing(request)
  const found: Request = {
    model: request.string("model") ?? "",
    messages: content.read(request),
    tools: tools(request),
    choice,
    parallel,
    stop: stops(request),
    temperature: request.number("temperature"),
    topP: request.number("top_p"),
    maxTokens: request.number("max_tokens"),
    user: userOf(request),
    effort: effortOf(request, output),
    schema: schemaOf(output),
    tier: tierOf(request),
    stream: request.boolean("stream") ?? false,
    usage: true
  }
  output?.end()
  request.end()
  return found
}

const choiceWords = { Auto: "auto", None: "none", Any: "any", Tool: "tool" } as const

const writeChoice = ({ choice, parallel }: Request) => ({
  type: choiceWords[choice._tag],
  ...(choice._tag === "Tool" && { name: choice.name }),
  ...(!parallel && choice._tag !== "None" && { disable_parallel_tool_use: true })
})

const empty = { type: "object", properties: {} }

const writeTool = ({ description, name, schema, strict }: Tool, index: number, fields: Fields) => {
  const none = schema === undefined || Object.keys(schema).length === 0
  if (!none && schema["type"] !== "object") fields.cannot(`tools[${index}].function.parameters.type`)
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: none ? empty : schema,
    ...(strict && { strict })
  }
}

/** What Messages takes only without thinking, or within bounds of its own. */
const bounds = (request: Request, fields: Fields): void => {
  const { choice, effort, stop, temperature, topP } = request
  const thinks = effort !== undefined && effort !== "none"
  if (temperature !== undefined && (temperature > 1 || (thinks && temperature !== 1))) fields.cannot("temperature")
  if (topP !== undefined && thinks && topP < 0.95) fields.cannot("top_p")
  if (thinks && request.tools.length > 0 && (choice._tag === "Any" || choice._tag === "Tool")) {
    fields.cannot("tool_choice")
  }
  if (stop.some((one) => one.trim() === "")) fields.cannot("stop")
}

/** `fields` takes what Messages cannot say of a Chat Completions request, by that one's names. */
export const write = (request: Request, fields: Fields, defaultMaxTokens: number) => {
  const { choice, effort, maxTokens, model, schema, stop, stream, temperature, tier, topP, user } = request
  bounds(request, fields)
  const hasTools = request.tools.length > 0
  const thinks = effort !== undefined && effort !== "none"
  return {
    model,
    max_tokens: maxTokens ?? defaultMaxTokens,
    ...content.write(request.messages, fields),
    ...(hasTools && { tools: request.tools.map((tool, index) => writeTool(tool, index, fields)) }),
    ...(hasTools && (choice._tag !== "Auto" || !request.parallel) && { tool_choice: writeChoice(request) }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(user !== undefined && { metadata: { user_id: user } }),
    ...(effort !== undefined && { thinking: { type: thinks ? "adaptive" : "disabled" } }),
    ...((thinks || schema !== undefined) && {
      output_config: {
        ...(thinks && { effort }),
        ...(schema !== undefined && { format: { type: "json_schema", schema } })
      }
    }),
    ...(tier !== undefined && { service_tier: tier === "standard" ? "standard_only" : tier }),
    ...(stream && { stream })
  }
}
