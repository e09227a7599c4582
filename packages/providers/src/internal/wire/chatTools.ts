import type { Fields } from "./fields.js"
import { isExact } from "./json.js"
import type { Choice, Tool } from "./model.js"

/** Chat Completions takes no longer ones. */
const longestName = 64

const tool = (fields: Fields): ReadonlyArray<Tool> => {
  if (fields.string("type") !== "function") {
    fields.cannot("type")
    return []
  }
  const inside = fields.inside("function")
  fields.end()
  const name = inside?.string("name")
  if (inside === undefined || name === undefined) {
    fields.cannot("function")
    return []
  }
  const description = inside.string("description")
  const schema = inside.object("parameters")
  const strict = inside.boolean("strict") ?? false
  inside.end()
  if (!isExact(schema)) inside.cannot("parameters")
  return [{ name, description, schema, strict }]
}

export const readTools = (request: Fields): ReadonlyArray<Tool> =>
  request.list("tools").flatMap((one, index) => {
    const fields = request.element("tools", index, one)
    return fields === undefined ? [] : tool(fields)
  })

const words: ReadonlyMap<unknown, Choice> = new Map([
  ["auto", { _tag: "Auto" }],
  ["none", { _tag: "None" }],
  ["required", { _tag: "Any" }]
])

export const readChoice = (request: Fields): Choice => {
  const given = request.take("tool_choice")
  const word = given === undefined ? "auto" : given
  const known = words.get(word)
  if (known !== undefined) return known
  const fields = request.inside("tool_choice")
  fields?.neutral("type", "function")
  const inside = fields?.inside("function")
  const name = inside?.string("name")
  inside?.end()
  fields?.end()
  if (name !== undefined) return { _tag: "Tool", name }
  request.cannot("tool_choice")
  return { _tag: "Auto" }
}

export const writeTool = ({ description, name, schema, strict }: Tool, index: number, fields: Fields) => {
  if (name.length > longestName) fields.cannot(`tools[${index}].name`)
  return {
    type: "function",
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(schema !== undefined && { parameters: schema }),
      ...(strict && { strict })
    }
  }
}

export const writeChoice = (choice: Choice) => {
  switch (choice._tag) {
    case "Auto":
      return "auto"
    case "None":
      return "none"
    case "Any":
      return "required"
    case "Tool":
      return { type: "function", function: { name: choice.name } }
  }
}
