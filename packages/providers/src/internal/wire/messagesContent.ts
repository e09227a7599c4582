import type { Fields } from "./fields.js"
import { imageOf, mediaTypes } from "./images.js"
import { isExact, parseObject } from "./json.js"
import { type Call, type Image, type Message, merged, type Text } from "./model.js"

const hints = (block: Fields): void => block.hints("cache_control")

const textOf = (block: Fields): string => {
  hints(block)
  const text = block.string("text") ?? ""
  // A passage that quotes a document quotes one that is not carried.
  block.neutral("citations", [])
  return text
}

/** Text as a string or as blocks; empty ones say nothing. */
export const texts = (owner: Fields, key: string): ReadonlyArray<string> => {
  const content = owner.take(key)
  if (typeof content === "string") return content === "" ? [] : [content]
  return owner.list(key).flatMap((one, index) => {
    const block = owner.element(key, index, one)
    if (block === undefined) return []
    if (block.string("type") !== "text") {
      block.cannot("type")
      return []
    }
    const text = textOf(block)
    block.end()
    return text === "" ? [] : [text]
  })
}

const imageFrom = (block: Fields): Image | undefined => {
  hints(block)
  const source = block.inside("source")
  const type = source?.string("type")
  if (source === undefined || (type !== "url" && type !== "base64")) return block.cannot("source")
  if (type === "url") {
    const url = source.string("url") ?? ""
    source.end()
    const image = imageOf(url)
    return image?.source._tag === "Url" ? image : source.cannot("url")
  }
  const mediaType = source.string("media_type") ?? ""
  const data = source.string("data") ?? ""
  source.end()
  if (!mediaTypes.includes(mediaType)) return source.cannot("media_type")
  return { _tag: "Image", source: { _tag: "Base64", mediaType, data } }
}

const resultFrom = (block: Fields): Message => {
  hints(block)
  const id = block.string("tool_use_id")
  if (id === undefined) block.cannot("tool_use_id")
  // Chat Completions has no word for a result that is an error.
  block.neutral("is_error", false)
  return { _tag: "Result", id: id ?? "", texts: texts(block, "content") }
}

const user = (message: Fields): ReadonlyArray<Message> => {
  const content = message.take("content")
  if (typeof content === "string") {
    return [{ _tag: "User", parts: content === "" ? [] : [{ _tag: "Text", text: content }] }]
  }
  const results: Array<Message> = []
  const parts: Array<Text | Image> = []
  message.list("content").forEach((one, index) => {
    const block = message.element("content", index, one)
    if (block === undefined) return
    const type = block.string("type")
    if (type === "text") {
      const text = textOf(block)
      if (text !== "") parts.push({ _tag: "Text", text })
    } else if (type === "image") {
      const image = imageFrom(block)
      if (image !== undefined) parts.push(image)
    } else if (type === "tool_result" && parts.length === 0) {
      results.push(resultFrom(block))
    } else {
      block.cannot("type")
      return
    }
    block.end()
  })
  return results.length > 0 && parts.length === 0 ? results : [...results, { _tag: "User", parts }]
}

const callFrom = (block: Fields): Call => {
  hints(block)
  const id = block.string("id")
  const name = block.string("name")
  const input = block.object("input")
  const caller = block.inside("caller")
  caller?.neutral("type", "direct")
  caller?.end()
  if (id === undefined) block.cannot("id")
  if (name === undefined) block.cannot("name")
  if (input === undefined || !isExact(input)) block.cannot("input")
  return { id: id ?? "", name: name ?? "", args: JSON.stringify(input ?? {}) }
}

const assistant = (message: Fields): Message => {
  const content = message.take("content")
  if (typeof content === "string") return { _tag: "Assistant", texts: content === "" ? [] : [content], calls: [] }
  const said: Array<string> = []
  const calls: Array<Call> = []
  message.list("content").forEach((one, index) => {
    const block = message.element("content", index, one)
    if (block === undefined) return
    const type = block.string("type")
    if (type === "thinking" || type === "redacted_thinking") {
      // Signed by one model for itself: no other can read it.
      message.report.omit("thinking blocks")
      return
    }
    if (type === "text" && calls.length === 0) {
      const text = textOf(block)
      if (text !== "") said.push(text)
    } else if (type === "tool_use") {
      calls.push(callFrom(block))
    } else {
      // Words after a call cannot be said in Chat Completions either.
      block.cannot("type")
      return
    }
    block.end()
  })
  return { _tag: "Assistant", texts: said, calls }
}

const one = (message: Fields): ReadonlyArray<Message> => {
  switch (message.string("role")) {
    case "user":
      return user(message)
    case "assistant":
      return [assistant(message)]
    case "system":
      return [{ _tag: "System", texts: texts(message, "content") }]
    default:
      message.cannot("role")
      return []
  }
}

export const read = (request: Fields): ReadonlyArray<Message> => {
  const system = texts(request, "system")
  const rest = request.list("messages").flatMap((message, index) => {
    const fields = request.element("messages", index, message)
    if (fields === undefined) return []
    const found = one(fields)
    fields.end()
    return found
  })
  return merged(system.length > 0 ? [{ _tag: "System", texts: system }, ...rest] : rest)
}

const isSaid = (text: string): boolean => text.trim() !== ""

/** Messages takes no blank text; beside something else it says nothing. */
const textBlocks = (texts: ReadonlyArray<string>) => texts.filter(isSaid).map((text) => ({ type: "text", text }))

const partBlock = (part: Text | Image) => {
  if (part._tag === "Text") return { type: "text", text: part.text }
  const { source } = part
  return source._tag === "Url"
    ? { type: "image", source: { type: "url", url: source.url } }
    : { type: "image", source: { type: "base64", media_type: source.mediaType, data: source.data } }
}

/** Messages takes letters, digits, `_` and `-` in an id; what else there is is spelt out. */
const idOf = (id: string): string =>
  id.replace(/[^a-zA-Z0-9_-]/g, (character) => `_x${character.charCodeAt(0).toString(16)}_`)

type Block = Readonly<Record<string, unknown>>

interface Turn {
  readonly role: "user" | "assistant" | "system"
  readonly content: Array<Block>
  /** Tool results belong together, and what the user says next follows them. */
  readonly results: boolean
}

const blocksOf = (message: Message): ReadonlyArray<Block> => {
  switch (message._tag) {
    case "System":
      return textBlocks(message.texts)
    case "User":
      return message.parts.filter((part) => part._tag === "Image" || isSaid(part.text)).map(partBlock)
    case "Assistant":
      return [
        ...textBlocks(message.texts),
        ...message.calls.map(({ args, id, name }) => ({
          type: "tool_use",
          id: idOf(id),
          name,
          input: parseObject(args) ?? {}
        }))
      ]
    case "Result":
      return [{ type: "tool_result", tool_use_id: idOf(message.id), content: textBlocks(message.texts) }]
  }
}

const roles = { System: "system", User: "user", Assistant: "assistant", Result: "user" } as const

/** `fields` takes what Messages cannot say of a Chat Completions request. */
export const write = (messages: ReadonlyArray<Message>, fields: Fields) => {
  const turns: Array<Turn> = []
  const [first] = messages
  const system = first?._tag === "System" ? blocksOf(first) : []
  for (const message of first?._tag === "System" ? messages.slice(1) : messages) {
    const blocks = blocksOf(message)
    // Empty for want of what could not be read is no news.
    if (blocks.length === 0 && fields.report.fields.length === 0) fields.cannot("messages (one of them is empty)")
    const last = turns.at(-1)
    const joins = last?.results === true && (message._tag === "Result" || message._tag === "User")
    if (joins) last.content.push(...blocks)
    else turns.push({ role: roles[message._tag], content: [...blocks], results: message._tag === "Result" })
  }
  return {
    ...(system.length > 0 && { system }),
    messages: turns.map(({ content, role }) => ({ role, content }))
  }
}
