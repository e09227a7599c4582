import * as Ip from "./ip.js"

/** Why a base URL is refused. */
export type Reason = "malformed" | "not_allowed" | "not_https" | "userinfo" | "port" | "not_public"

/** Names that never belong to the internet, whoever resolves them. */
const local = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|arpa|test|invalid|onion)$/

/** What a caller's base URL comes to before any name is resolved. */
export type Checked =
  | { readonly _tag: "Refused"; readonly reason: Reason }
  | { readonly _tag: "Url"; readonly url: URL; readonly host: Host }

/** An address as it stands, or a name that must be resolved. */
export type Host =
  | { readonly _tag: "Address"; readonly address: string }
  | { readonly _tag: "Name"; readonly name: string }

const refused = (reason: Reason): Checked => ({ _tag: "Refused", reason })

/** As long as any URL of an API is. */
const longest = 2048

/** One reading of the URL, the one that will be used: what another parser would make of the text is of no concern. */
export const parse = (text: string): URL | undefined => {
  if (text.length > longest || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.hostname === "" ? undefined : url
}

/** ROUTING W7, no list: https, no user, an expected port, and a host that may be public. */
export const check = (text: string, ports: ReadonlyArray<number>): Checked => {
  const url = parse(text)
  if (url === undefined) return refused("malformed")
  if (url.protocol !== "https:") return refused("not_https")
  if (url.username !== "" || url.password !== "") return refused("userinfo")
  if (url.hash !== "") return refused("malformed")
  if (!ports.includes(url.port === "" ? 443 : Number(url.port))) return refused("port")
  const { hostname } = url
  const address = Ip.parse(hostname)
  if (address !== undefined) {
    const bare = hostname.replace(/^\[|\]$/g, "")
    return Ip.isPublic(address) ? { _tag: "Url", url, host: { _tag: "Address", address: bare } } : refused("not_public")
  }
  // A name with a dot at its end is the same name, but not to a certificate.
  const name = hostname.replace(/\.$/, "")
  if (!/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(name) || local.test(name)) return refused("not_public")
  url.hostname = name
  return { _tag: "Url", url, host: { _tag: "Name", name } }
}

/** All that a name resolves to, if all of it is public; otherwise none of it. */
export const publicOnly = (addresses: ReadonlyArray<string>): ReadonlyArray<string> =>
  addresses.every((text) => {
    const address = Ip.parse(text)
    return address !== undefined && Ip.isPublic(address)
  })
    ? addresses
    : []

/** Whether `url` is `allowed` or lies below it: same origin, path by whole segments. */
export const isBelow = (url: URL, allowed: URL): boolean => {
  if (url.origin !== allowed.origin || url.username !== "" || url.password !== "" || url.hash !== "") return false
  const base = allowed.pathname.replace(/\/+$/, "")
  // An encoded slash or dot may be decoded behind us, into a path that is not below.
  if (/%(?:2e|2f|5c)/i.test(url.pathname)) return false
  return url.pathname === base || url.pathname.startsWith(`${base}/`)
}
