import * as Predicate from "effect/Predicate"

/** Request headers that hold no secret. All others might: vendors and proxies name their keys as they like. */
const harmless = new Set([
  "accept",
  "accept-encoding",
  "anthropic-beta",
  "anthropic-version",
  "b3",
  "connection",
  "content-length",
  "content-type",
  "host",
  "openai-beta",
  "traceparent",
  "tracestate",
  "user-agent"
])

/** A shorter one is not looked for in texts: it would be found everywhere. */
const shortest = 6

/** How many objects of an error are looked at: it may be a ring. */
const most = 64

export const isHarmlessHeader = (name: string): boolean => harmless.has(name.toLowerCase())

export const isSecretName = (name: string): boolean =>
  /auth|api[-_]?key|token|secret|passw|cookie|signature|credential|^(?:key|sig)$/i.test(name)

const addText = (found: Set<string>, value: unknown): void => {
  if (typeof value !== "string") return
  for (const word of [value, ...value.split(/\s+/)]) {
    if (word.length >= shortest && !/^(?:bearer|basic)$/i.test(word)) found.add(word)
  }
}

const addUrl = (found: Set<string>, value: unknown): void => {
  if (typeof value !== "string" || !URL.canParse(value)) return
  const url = new URL(value)
  for (const part of [url.username, url.password]) addText(found, decoded(part))
  for (const [name, text] of url.searchParams) if (isSecretName(name)) addText(found, text)
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Getters of a foreign object may throw; what cannot be read is not found. */
export const read = (u: object, key: string): unknown => {
  try {
    return Reflect.get(u, key)
  } catch {
    return undefined
  }
}

/** Whatever in a request could be a secret. */
const addRequest = (found: Set<string>, request: object): void => {
  const headers = read(request, "headers")
  if (Predicate.isRecord(headers)) {
    for (const [name, value] of Object.entries(headers)) if (!isHarmlessHeader(name)) addText(found, value)
  }
  addUrl(found, read(request, "url"))
  const params = read(request, "urlParams")
  if (!Array.isArray(params)) return
  for (const pair of params) {
    if (Array.isArray(pair) && typeof pair[0] === "string" && isSecretName(pair[0])) addText(found, pair[1])
  }
}

/** The secrets an error carries, in its requests and those of its causes, and the given ones. */
export const secretsOf = (error: unknown, given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = new Set(given)
  const queue: Array<unknown> = [error]
  const seen = new Set<unknown>()
  while (queue.length > 0 && seen.size < most) {
    const next = queue.shift()
    if (!Predicate.isObject(next) || seen.has(next)) continue
    seen.add(next)
    const request = read(next, "request")
    if (Predicate.isObject(request)) addRequest(found, request)
    for (const key of ["cause", "error", "defect", "response", "left", "right"]) queue.push(read(next, key))
  }
  // The longest first, so that no part of one is left standing.
  return [...found].sort((a, b) => b.length - a.length)
}
