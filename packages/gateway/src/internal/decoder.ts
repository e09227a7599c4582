import * as Duration from "effect/Duration"
import type * as Types from "effect/Types"
import * as Cursor from "./cursor.js"
import { list, type Named } from "./faults.js"
import { interpolate } from "./interpolate.js"
import { didYouMean } from "./suggest.js"

/** Reads a value, or adds what is wrong with it to the faults and gives undefined: the reading goes on. */
export type Decoder<A> = (at: Cursor.Cursor) => A | undefined

/** A key of a mapping and what holds when it is left out. */
export interface Field<A> {
  readonly decode: Decoder<A>
  readonly absent: { readonly _tag: "Required"; readonly fix: string } | { readonly _tag: "Value"; readonly value: A }
}

export type Fields = Readonly<Record<string, Field<unknown>>>

type Struct<F extends Fields> = Types.Simplify<{ readonly [K in keyof F]: F[K] extends Field<infer A> ? A : never }>

export const required = <A>(decode: Decoder<A>, fix: string): Field<A> => ({
  decode,
  absent: { _tag: "Required", fix }
})

export const optional = <A>(decode: Decoder<A>): Field<A | undefined> => ({
  decode,
  absent: { _tag: "Value", value: undefined }
})

export const withDefault = <A>(decode: Decoder<A>, value: A): Field<A> => ({ decode, absent: { _tag: "Value", value } })

/** A mapping with these keys and no others. */
export const struct =
  <F extends Fields>(fields: F, what: string): Decoder<Struct<F>> =>
  (at) => {
    const entries = Cursor.entries(at)
    if (entries === undefined) return Cursor.fault(at, `must be ${what}: a mapping of ${list(Object.keys(fields))}`)
    const out: Record<string, unknown> = {}
    let complete = true
    for (const { key, keyPlace, value } of entries) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined
      if (field === undefined) {
        const known = Object.keys(fields)
        const message = `unknown key${didYouMean(key, known)}; known here: ${list(known)}`
        at.file.reading.faults.push({ ...keyPlace, message })
        complete = false
        continue
      }
      const decoded = field.decode(value)
      if (decoded === undefined) complete = false
      out[key] = decoded
    }
    for (const [key, field] of Object.entries(fields)) {
      if (Object.hasOwn(out, key)) continue
      if (field.absent._tag === "Value") out[key] = field.absent.value
      else {
        complete = false
        // An unknown key with a suggestion may be the misspelt one; the missing one is named all the same.
        const path = at.place.path === "" ? key : `${at.place.path}.${key}`
        at.file.reading.faults.push({ ...at.place, path, message: `is missing; ${field.absent.fix}` })
      }
    }
    // Every key of F is in `out` with its own decoder's value: the loops above are what the type says.
    return complete ? (out as Struct<F>) : undefined
  }

/** A sequence; `bounds` say how long it may be. */
export const array =
  <A>(
    decode: Decoder<A>,
    what: string,
    bounds: { readonly min?: number; readonly max?: number } = {}
  ): Decoder<ReadonlyArray<A>> =>
  (at) => {
    const items = Cursor.items(at)
    if (items === undefined) return Cursor.fault(at, `must be a list of ${what}`)
    if (items.length < (bounds.min ?? 0)) return Cursor.fault(at, `must hold at least ${bounds.min} of ${what}`)
    const tooLong = items.length > (bounds.max ?? Infinity)
    if (tooLong) Cursor.fault(at, `holds ${items.length} entries; at most ${bounds.max} are allowed`)
    const out: Array<A> = []
    let complete = !tooLong
    for (const item of items) {
      const decoded = decode(item)
      if (decoded === undefined) complete = false
      else out.push(decoded)
    }
    return complete ? out : undefined
  }

/** A text, with `${VAR}` filled in. Empty is not a text. */
export const text =
  (what: string): Decoder<string> =>
  (at) => {
    const value = Cursor.scalar(at)
    if (typeof value !== "string")
      return Cursor.fault(at, `must be ${what}${value === null ? "; it is empty" : ", as text (in quotes if need be)"}`)
    const filled = interpolate(at, value)
    if (filled === undefined) return undefined
    return filled.trim() === "" ? Cursor.fault(at, `must be ${what}; it is empty`) : filled.trim()
  }

/** A whole number within bounds, also from a variable. */
export const integer =
  (what: string, min: number, max: number): Decoder<number> =>
  (at) => {
    const value = numeric(at)
    if (value === undefined) return undefined
    return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max
      ? value
      : Cursor.fault(at, `must be ${what}: a whole number from ${min} to ${max}`)
  }

const numeric = (at: Cursor.Cursor): unknown => {
  const value = Cursor.scalar(at)
  if (typeof value !== "string" || !value.includes("${")) return value ?? null
  const filled = interpolate(at, value)?.trim()
  return filled === undefined ? undefined : /^-?\d+(\.\d+)?$/.test(filled) ? Number(filled) : filled
}

/** A number within bounds, also from a variable. */
export const number =
  (what: string, min: number): Decoder<number> =>
  (at) => {
    const value = numeric(at)
    if (value === undefined) return undefined
    return typeof value === "number" && Number.isFinite(value) && value >= min
      ? value
      : Cursor.fault(at, `must be ${what}: a number of at least ${min}`)
  }

export const boolean =
  (what: string): Decoder<boolean> =>
  (at) => {
    const value = Cursor.scalar(at)
    return typeof value === "boolean" ? value : Cursor.fault(at, `must say ${what}: true or false, without quotes`)
  }

/** A mapping of names that are not known beforehand. */
export const record =
  <A>(decode: Decoder<A>, what: string): Decoder<Readonly<Record<string, A>>> =>
  (at) => {
    const entries = Cursor.entries(at)
    if (entries === undefined) return Cursor.fault(at, `must be a mapping of ${what}`)
    const out: Array<[string, A]> = []
    for (const { key, value } of entries) {
      const decoded = decode(value)
      if (decoded !== undefined) out.push([key, decoded])
    }
    return out.length === entries.length ? Object.fromEntries(out) : undefined
  }

/** A length of time, in ms: whole ms, or Effect's words for it. */
export const duration =
  (what: string): Decoder<number> =>
  (at) => {
    const value = Cursor.scalar(at)
    if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value
    if (typeof value === "string") {
      const decoded = Duration.decodeUnknown(value)
      if (decoded._tag === "Some") {
        const ms = Duration.toMillis(decoded.value)
        if (Number.isSafeInteger(ms) && ms > 0) return ms
      }
    }
    return Cursor.fault(at, `must be ${what}: whole milliseconds above 0 or text such as "30 seconds"`)
  }

/** The same, or none. */
export const durationOrNone =
  (what: string): Decoder<number> =>
  (at) =>
    Cursor.scalar(at) === 0 ? 0 : duration(what)(at)

/** One of a few words. */
export const literal =
  <A extends string>(what: string, ...words: ReadonlyArray<A>): Decoder<A> =>
  (at) => {
    const value = Cursor.scalar(at)
    const found = words.find((word) => word === value)
    if (found !== undefined) return found
    const given = typeof value === "string" ? `; "${value.slice(0, 40)}" is none${didYouMean(value, words)}` : ""
    return Cursor.fault(at, `must be a ${what}: one of ${list(words)}${given}`)
  }

/** A name that this place introduces; the links are checked when the whole file has been read. */
export const declares = (sort: Named["sort"]): Decoder<string> => named(sort, "declared")

/** A name that another place must introduce. */
export const mentions = (sort: Named["sort"]): Decoder<string> => named(sort, "mentioned")

const named =
  (sort: Named["sort"], role: "declared" | "mentioned"): Decoder<string> =>
  (at) => {
    const name = text(`the name of a ${sort}`)(at)
    if (name !== undefined) at.file.reading[role].push({ sort, name, place: at.place })
    return name
  }
