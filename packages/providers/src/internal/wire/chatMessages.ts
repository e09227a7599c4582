import type { Fields } from "./fields.js"
import { imageOf, urlOf } from "./images.js"
import { isExact, parseObject } from "./json.js"
import { type Call, type Image, type Message, merged, type Text } from "./model.js"

/** Text as a string or as parts; empty ones say nothing. */
const texts = (message: Fields, key: string): ReadonlyArray<string> => {
  const content = message.take(key)
  if (content === undefined || content === "") return []
  if (typeof content === "string") return [content]
  return message.list(key).flatMap((part, index) => {
    const fields = message.element(key, index, part)
    if (fields === undefined) return []
    if (fields.string("type") !== "text") fields.cannot("type")
    const text = fields.string("text") ?? ""
    fields.end()
    return text === "" ? [] : [text]
  })
}

const image = (fields: Fields): ReadonlyArray<Image> => {
  const inside = fields.inside("image_url")
  if (inside === undefined) return []
  const url = inside.string("url") ?? ""
  inside.neutral("detail", "auto")
  inside.end()
  const found = imageOf(url)
  if (found === undefined) inside.cannot("url")
  return found === undefined ? [] : [found]
}

const parts = (message: Fields): ReadonlyArray<Text | Image> => {
  const content = message.take("content")
  if (typeof content === "string") return content === "" ? [] : [{ _tag: "Text", text: content }]
  return message.list("content").flatMap((part, index): ReadonlyArray<Text | Image> => {
    const fields = message.element("content", index, part)
    if (fields === undefined) return []
    const type = fields.string("type")
    if (type !== "text" && type !== "image_url") {
      fields.cannot("type")
      return []
    }
    const text = type === "text" ? (fields.string("text") ?? "") : ""
    const found: ReadonlyArray<Text | Image> =
      type === "image_url" ? image(fields) : text === "" ? [] : [{ _tag: "Text", text }]
    fields.end()
    return found
  })
}

const call = (fields: Fields): ReadonlyArray<Call> => {
  fields.neutral("type", "function")
  // Some number a finished message's calls as a stream does.
  fields.hints("index")
  const id = fields.string("id")
  const inside = fields.inside("function")
  const name = inside?.string("name")
  const args = inside?.string("arguments") ?? ""
  inside?.hints("parsed_arguments")
  inside?.end()
  fields.end()
  if (id === undefined || name === undefined) {
    fields.cannot(id === undefined ? "id" : "function")
    return []
  }
  if (!isExact(parseObject(args) ?? Number.NaN)) fields.cannot("function.arguments")
  return [{ id, name, args: args.trim() === "" ? "{}" : args }]
}

const assistant = (message: Fields): Message => {
  const said = texts(message, "content")
  const calls = message.list("tool_calls").flatMap((one, index) => {
    const fields = message.element("tool_calls", index, one)
    return fields === undefined ? [] : call(fields)
  })
  // What a client got with an answer and hands back; no model reads it, and Messages takes only signed reasoning.
  message.hints("reasoning_content", "reasoning", "reasoning_details", "parsed")
  message.neutral("annotations", [])
  return { _tag: "Assistant", texts: said, calls }
}

const one = (message: Fields): Message | undefined => {
  const role = message.string("role")
  switch (role) {
    case "system":
    case "developer":
      return { _tag: "System", texts: texts(message, "content") }
    case "user":
      return { _tag: "User", parts: parts(message) }
    case "assistant":
      return assistant(message)
    case "tool": {
      const id = message.string("tool_call_id")
      if (id === undefined) message.cannot("tool_call_id")
      // The call it answers has it.
      message.hints("name")
      return { _tag: "Result", id: id ?? "", texts: texts(message, "content") }
    }
    default:
      return message.cannot("role")
  }
}

export const read = (request: Fields): ReadonlyArray<Message> =>
  merged(
    request.list("messages").flatMap((message, index) => {
      const fields = request.element("messages", index, message)
      if (fields === undefined) return []
      const found = one(fields)
      if (found === undefined) return []
      fields.end()
      return [found]
    })
  )

const text = (text: string) => ({ type: "text", text })

const content = (texts: ReadonlyArray<string>) => (texts.length > 1 ? texts.map(text) : (texts[0] ?? ""))

const userContent = (parts: ReadonlyArray<Text | Image>) => {
  const [first] = parts
  if (first?._tag === "Text" && parts.length === 1) return first.text
  return parts.map((part) =>
    part._tag === "Text" ? text(part.text) : { type: "image_url", image_url: { url: urlOf(part) } }
  )
}

export const write = (message: Message) => {
  switch (message._tag) {
    case "System":
      return { role: "system", content: content(message.texts) }
    case "User":
      return { role: "user", content: userContent(message.parts) }
    case "Assistant":
      return {
        role: "assistant",
        content: message.texts.length === 0 ? null : content(message.texts),
        ...(message.calls.length > 0 && {
          tool_calls: message.calls.map(({ args, id, name }) => ({
            id,
            type: "function",
            function: { name, arguments: args }
          }))
        })
      }
    case "Result":
      return { role: "tool", tool_call_id: message.id, content: content(message.texts) }
  }
}
