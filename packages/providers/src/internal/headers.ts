import type { IncomingHttpHeaders } from "undici/types/header.js"

/** Never sent upstream: they belong to the client's own connection, or are credentials, or undici writes them. */
const notForwarded = new Set([
  "accept-encoding",
  "api-key",
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-api-key",
  "x-goog-api-key"
])

/** Never answered: they belong to the upstream's connection or origin, or tell where it is. */
const notAnswered = new Set([
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-max-age",
  "alt-svc",
  "connection",
  "content-length",
  "content-location",
  "date",
  "keep-alive",
  "link",
  "location",
  "nel",
  "proxy-authenticate",
  "proxy-connection",
  "refresh",
  "report-to",
  "server",
  "set-cookie",
  "strict-transport-security",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
  "www-authenticate"
])

/** Name and value in turn, as undici takes them fastest. */
export const outgoing = (
  forwarded: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  credential: readonly [name: string, value: string] | undefined,
  stream: boolean
): Array<string> => {
  // The bytes are looked at on their way, so they must come plain.
  const headers = ["accept-encoding", "identity"]
  let type = false
  let accept = false
  const seen = new Set<string>()
  for (const name in forwarded) {
    const value = forwarded[name]
    const lower = name.toLowerCase()
    if (value === undefined || notForwarded.has(lower)) continue
    if (lower === "content-type") type = true
    else if (lower === "accept") accept = true
    seen.add(lower)
    headers.push(lower, value)
  }
  for (const name in own) {
    const value = own[name]
    if (value !== undefined && !seen.has(name)) headers.push(name, value)
  }
  if (!type) headers.push("content-type", "application/json")
  if (!accept) headers.push("accept", stream ? "text/event-stream" : "application/json")
  if (credential !== undefined) headers.push(credential[0], credential[1])
  return headers
}

/** All of them, for the classifier. */
export const received = (headers: IncomingHttpHeaders): Record<string, string> => {
  const all: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) all[name] = typeof value === "string" ? value : value.join(", ")
  }
  return all
}

/** Those a client may see. */
export const answered = (
  headers: Readonly<Record<string, string>>,
  mask: (text: string) => string
): Record<string, string> => {
  const kept: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !notAnswered.has(name)) kept[name] = mask(value)
  }
  return kept
}

/** Whether a content type leaves room for an event stream. Some servers send none, or that of a text. */
export const mayStream = (type: string | undefined): boolean =>
  type === undefined || /event-stream/i.test(type) || !/json|html|xml/i.test(type)
