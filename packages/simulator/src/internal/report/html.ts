import { shown } from "./words.js"

/** Markup, as opposed to text. */
export class Html {
  constructor(readonly markup: string) {}
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Text as it may stand in an element or in a quoted attribute. */
export const escape = (text: string): string =>
  shown(text).replace(/[&<>"']/g, (character) => entities[character] ?? "")

type Part = string | number | Html | undefined | ReadonlyArray<Html>

const markupOf = (part: Part): string => {
  if (part === undefined) return ""
  if (part instanceof Html) return part.markup
  if (typeof part === "object") return part.map(({ markup }) => markup).join("\n")
  return escape(String(part))
}

/** Markup with text in it, which is escaped. */
export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(strings.map((text, index) => `${text}${markupOf(parts[index])}`).join(""))

/** Any character of a string in JSON that is more than a letter, a digit or harmless punctuation. */
const special = /[<>&]|[^ -~]/g

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Data for a script or a test to read; the browser does not run it. */
export const json = (id: string, data: unknown): Html =>
  new Html(
    `<script type="application/json" id="${escape(id)}">${JSON.stringify(data).replace(special, escaped)}</script>`
  )
