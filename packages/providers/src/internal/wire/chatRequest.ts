import * as messages from "./chatMessages.js"
import * as tools from "./chatTools.js"
import type { Fields } from "./fields.js"
import { isExact, type Json } from "./json.js"
import type { Effort, Request } from "./model.js"

/** Chat Completions takes no more. */
const mostStops = 4

const stops = (request: Fields): ReadonlyArray<string> => {
  const given = request.take("stop")
  const list = typeof given === "string" ? [given] : request.list("stop")
  return list.flatMap((stop) => {
    if (typeof stop === "string") return [stop]
    request.cannot("stop")
    return []
  })
}

const efforts: ReadonlyArray<Effort> = ["none", "low", "medium", "high", "xhigh"]

const effortOf = (request: Fields): Effort | undefined => {
  const given = request.string("reasoning_effort")
  if (given === undefined) return undefined
  return efforts.find((effort) => effort === given) ?? request.cannot("reasoning_effort")
}

/** Only a strict schema is a promise that both make. */
const schemaOf = (request: Fields): Json | undefined => {
  const format = request.inside("response_format")
  if (format === undefined) return undefined
  const type = format.string("type")
  const inside = format.inside("json_schema")
  format.end()
  if (type === "text" && inside === undefined) return undefined
  if (type !== "json_schema" || inside === undefined) return format.cannot("type")
  inside.hints("name")
  const schema = inside.object("schema")
  if (inside.boolean("strict") !== true) inside.cannot("strict")
  inside.end()
  return schema === undefined || !isExact(schema) ? inside.cannot("schema") : schema
}

const tierOf = (request: Fields): Request["tier"] => {
  const given = request.string("service_tier")
  if (given === undefined || given === "auto") return given
  return given === "default" ? "standard" : request.cannot("service_tier")
}

const userOf = (request: Fields): string | undefined => {
  const user = request.string("user")
  const known = request.string("safety_identifier")
  if (known !== undefined && user !== undefined && known !== user) request.report.omit("user")
  return known ?? user
}

const maxTokens = (request: Fields): number | undefined => {
  const older = request.number("max_tokens")
  return request.number("max_completion_tokens") ?? older
}

const usageOf = (request: Fields): boolean => {
  const options = request.inside("stream_options")
  options?.hints("include_obfuscation")
  const usage = options?.boolean("include_usage") ?? false
  options?.end()
  return usage
}

export const read = (request: Fields): Request => {
  request.hints("metadata", "prompt_cache_key", "prompt_cache_retention", "prediction")
  request.neutral("store", false)
  request.neutral("n", 1)
  request.neutral("logprobs", false)
  request.neutral("top_logprobs", 0)
  request.neutral("frequency_penalty", 0)
  request.neutral("presence_penalty", 0)
  request.neutral("logit_bias", {})
  request.neutral("modalities", ["text"])
  request.neutral("verbosity", "medium")
  const found: Request = {
    model: request.string("model") ?? "",
    messages: messages.read(request),
    tools: tools.readTools(request),
    choice: tools.readChoice(request),
    parallel: request.boolean("parallel_tool_calls") ?? true,
    stop: stops(request),
    temperature: request.number("temperature"),
    topP: request.number("top_p"),
    maxTokens: maxTokens(request),
    user: userOf(request),
    effort: effortOf(request),
    schema: schemaOf(request),
    tier: tierOf(request),
    stream: request.boolean("stream") ?? false,
    usage: usageOf(request)
  }
  request.end()
  return found
}

/** `fields` takes what Chat Completions cannot say of a Messages request, by that one's names. */
export const write = (request: Request, fields: Fields, maxTokensField: string) => {
  const { choice, effort, maxTokens, model, schema, stop, stream, temperature, tier, topP, user } = request
  if (stop.length > mostStops) fields.cannot("stop_sequences")
  const hasTools = request.tools.length > 0
  return {
    model,
    messages: request.messages.map(messages.write),
    ...(hasTools && { tools: request.tools.map((tool, index) => tools.writeTool(tool, index, fields)) }),
    ...(hasTools && choice._tag !== "Auto" && { tool_choice: tools.writeChoice(choice) }),
    ...(hasTools && !request.parallel && { parallel_tool_calls: false }),
    ...(stop.length > 0 && { stop }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { [maxTokensField]: maxTokens }),
    ...(user !== undefined && { user }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(schema !== undefined && {
      response_format: { type: "json_schema", json_schema: { name: "response", schema, strict: true } }
    }),
    ...(tier !== undefined && { service_tier: tier === "standard" ? "default" : tier }),
    // A Messages client is always told its tokens.
    ...(stream && { stream, stream_options: { include_usage: true } })
  }
}
