import { type Cursor, fault } from "./cursor.js"

/** `${NAME}`; `$${NAME}` is the text itself. */
const variable = /\$?\$\{([^}]*)\}/g

/** The text with its variables filled in. Every missing one is named; their values never are. */
export const interpolate = (at: Cursor, text: string): string | undefined => {
  let complete = true
  const filled = text.replace(variable, (whole, name: string) => {
    if (whole.startsWith("$$")) return whole.slice(1)
    const value = at.file.reading.env[name]
    if (value !== undefined && value !== "") return value
    complete = false
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      fault(at, `holds a $\{...} that names no variable; write $\{NAME}, or $$\{ for the text itself`)
    else
      fault(
        at,
        `the environment variable ${name} is ${value === undefined ? "not set" : "empty"}; set it before starting: export ${name}=...`
      )
    return ""
  })
  return complete ? filled : undefined
}
