/** Server-sent events of a whole text. The gateway has a parser for bytes as they come; this one is for what is complete. */

export interface Event {
  readonly event: string | undefined
  readonly data: string
}

/** The last event needs no blank line after it, since a captured frame has none. */
export const events = (text: string): ReadonlyArray<Event> => {
  const out: Array<Event> = []
  let event: string | undefined
  let data: Array<string> = []
  const dispatch = () => {
    if (data.length > 0) out.push({ event, data: data.join("\n") })
    event = undefined
    data = []
  }
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/)) {
    if (line === "") dispatch()
    else if (line.startsWith("data:")) data.push(line.slice(line.charCodeAt(5) === 32 ? 6 : 5))
    else if (line.startsWith("event:")) event = line.slice(6).trim()
    // Comments, `id:`, `retry:` and unknown fields carry nothing we judge.
  }
  // An error event may come without data; it is an error all the same.
  if (event === "error" && data.length === 0) data.push("")
  dispatch()
  return out
}
