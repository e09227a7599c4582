/** Addresses as numbers: every way of writing one that some part of a system reads, and which of them are public. */

/** 32 bits, as a number. */
type V4 = number
/** Eight groups of 16 bits. */
type V6 = readonly [number, number, number, number, number, number, number, number]

export type Address = { readonly _tag: "V4"; readonly bits: V4 } | { readonly _tag: "V6"; readonly groups: V6 }

const numberOf = (part: string): number | undefined => {
  if (/^0[xX][0-9a-fA-F]*$/.test(part)) return part.length === 2 ? 0 : Number.parseInt(part.slice(2), 16)
  if (/^0[0-7]+$/.test(part)) return Number.parseInt(part, 8)
  return /^(?:0|[1-9]\d*)$/.test(part) ? Number(part) : undefined
}

/** Decimal, octal and hex parts, one to four of them, as `inet_aton` and URLs read them. */
export const parseV4 = (text: string): V4 | undefined => {
  const parts = (text.endsWith(".") ? text.slice(0, -1) : text).split(".")
  if (parts.length > 4) return undefined
  let bits = 0
  for (const [at, part] of parts.entries()) {
    const value = numberOf(part)
    if (value === undefined) return undefined
    const last = at === parts.length - 1
    const room = last ? 256 ** (5 - parts.length) : 256
    if (value >= room) return undefined
    bits += last ? value : value * 256 ** (3 - at)
  }
  return bits
}

const group = (part: string): number | undefined =>
  /^[0-9a-fA-F]{1,4}$/.test(part) ? Number.parseInt(part, 16) : undefined

/** Groups of one side of `::`; the last may be an IPv4 address. */
const groupsOf = (text: string): ReadonlyArray<number> | undefined => {
  if (text === "") return []
  const groups: Array<number> = []
  const parts = text.split(":")
  for (const [at, part] of parts.entries()) {
    if (at === parts.length - 1 && part.includes(".")) {
      const bits = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(part) ? parseV4(part) : undefined
      if (bits === undefined) return undefined
      groups.push(Math.floor(bits / 65536), bits % 65536)
      continue
    }
    const value = group(part)
    if (value === undefined) return undefined
    groups.push(value)
  }
  return groups
}

/** Without brackets. A zone id makes it no address that could be public. */
export const parseV6 = (text: string): V6 | undefined => {
  const sides = text.split("::")
  if (sides.length > 2) return undefined
  const head = groupsOf(sides[0] ?? "")
  const tail = groupsOf(sides[1] ?? "")
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  if (sides.length === 2 ? missing < 1 : missing !== 0) return undefined
  const [a, b, c, d, e, f, g, h] = [...head, ...Array.from({ length: missing }, () => 0), ...tail]
  if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined
  if (e === undefined || f === undefined || g === undefined || h === undefined) return undefined
  return [a, b, c, d, e, f, g, h]
}

/** An address in any of its forms; `undefined` for anything else, names above all. */
export const parse = (text: string): Address | undefined => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (bare.includes(":")) {
    const groups = parseV6(bare)
    return groups === undefined ? undefined : { _tag: "V6", groups }
  }
  const bits = parseV4(bare)
  return bits === undefined ? undefined : { _tag: "V4", bits }
}

const prefix = (cidr: string): readonly [bits: number, length: number] => {
  const [address = "", length = "32"] = cidr.split("/")
  return [parseV4(address) ?? 0, Number(length)]
}

/** IANA's special-purpose registry, and one address of Azure's that is public by its number only. */
const notPublicV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4"
].map(prefix)

const isPublicV4 = (bits: V4): boolean =>
  !notPublicV4.some(([base, length]) => {
    const size = 2 ** (32 - length)
    return Math.floor(bits / size) === Math.floor(base / size)
  })

const isPublicV6 = (groups: V6): boolean => {
  const [a, b, c, d, e, f, g, h] = groups
  const embedded = g * 65536 + h
  // IPv4-mapped, and NAT64's well-known prefix: it is the IPv4 address that is reached.
  if (a === 0 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0xffff) return isPublicV4(embedded)
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return isPublicV4(embedded)
  // Global unicast. Loopback, IPv4-compatible, local NAT64, ULA, link-local, site-local and multicast lie outside.
  if (a < 0x2000 || a > 0x3fff) return false
  // Protocol assignments (Teredo among them), documentation, 6to4.
  if (a === 0x2001 && (b < 0x200 || b === 0xdb8)) return false
  if (a === 0x2002 || (a === 0x3fff && b < 0x1000)) return false
  // ISATAP carries an IPv4 address in its interface's id.
  return !((e === 0 || e === 0x200) && f === 0x5efe)
}

/** Whether an address is one that anybody on the internet may be asked to call. */
export const isPublic = (address: Address): boolean =>
  address._tag === "V4" ? isPublicV4(address.bits) : isPublicV6(address.groups)
