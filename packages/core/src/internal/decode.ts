/**
 * One thing that is wrong with an input: where (keys joined by dots), what, and how to mend it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fault {
  readonly path: string
  readonly message: string
}

const units: Readonly<Record<string, number>> = {
  nano: 1e-6,
  micro: 1e-3,
  milli: 1,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000
}

/** ms of one of Effect's duration strings, `undefined` where it is none. */
export const parseDuration = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?)\s+(nano|micro|milli|second|minute|hour|day|week)s?$/.exec(text.trim())
  const unit = match?.[2] === undefined ? undefined : units[match[2]]
  // In ns and rounded, because 0.3 seconds are 300 ms, not 299.99999999999994.
  return unit === undefined ? undefined : Math.round(Number(match?.[1]) * unit * 1e6) / 1e6
}

/** A value as a person would recognise it, never long. */
export const show = (value: unknown): string => {
  const text =
    typeof value === "string"
      ? JSON.stringify(value)
      : Array.isArray(value)
        ? "an array"
        : typeof value === "object" && value !== null
          ? "an object"
          : typeof value === "function"
            ? "a function"
            : String(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

interface Range {
  readonly least: number
  readonly most?: number
}

/** Reads one object of an input, collecting every fault instead of stopping at the first. */
export class Reader {
  private constructor(
    private readonly value: Readonly<Record<string, unknown>>,
    private readonly path: string,
    readonly faults: Array<Fault>
  ) {}

  static of(input: unknown, path: string, faults: Array<Fault>, keys?: ReadonlyArray<string>): Reader | undefined {
    if (!isRecord(input)) {
      faults.push({ path, message: `must be an object, not ${show(input)}` })
      return undefined
    }
    const reader = new Reader(input, path, faults)
    if (keys !== undefined) {
      for (const key of reader.keys()) {
        if (!keys.includes(key)) reader.fault(key, `is no known key; the keys here are ${keys.join(", ")}`)
      }
    }
    return reader
  }

  at(key: string): string {
    return this.path === "" ? key : `${this.path}.${key}`
  }

  fault(key: string, message: string): void {
    this.faults.push({ path: this.at(key), message })
  }

  keys(): ReadonlyArray<string> {
    return Object.keys(this.value)
  }

  get(key: string): unknown {
    return Object.hasOwn(this.value, key) ? this.value[key] : undefined
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  object(key: string, keys?: ReadonlyArray<string>): Reader | undefined {
    return this.has(key) ? Reader.of(this.get(key), this.at(key), this.faults, keys) : undefined
  }

  private ranged(key: string, value: unknown, what: string, whole: boolean, range: Range): number | undefined {
    const { least, most } = range
    const fits =
      typeof value === "number" &&
      Number.isFinite(value) &&
      (!whole || Number.isSafeInteger(value)) &&
      value >= least &&
      (most === undefined || value <= most)
    if (fits) return value
    this.fault(key, `must be ${what}, not ${show(value)}`)
    return undefined
  }

  private required(key: string, what: string): undefined {
    this.fault(key, `is missing; give ${what}`)
  }

  /** A whole number of at least `least`. */
  count(
    key: string,
    fallback: number | undefined,
    least = 1,
    what = `a whole number of at least ${least}`
  ): number | undefined {
    if (!this.has(key)) return fallback ?? this.required(key, what)
    return this.ranged(key, this.get(key), what, true, { least })
  }

  /** A whole number of either sign. */
  int(key: string): number | undefined {
    const what = "a whole number"
    if (!this.has(key)) return this.required(key, what)
    return this.ranged(key, this.get(key), what, true, { least: -Number.MAX_SAFE_INTEGER })
  }

  text(key: string): string | undefined {
    const value = this.get(key)
    if (typeof value === "string") return value
    this.fault(key, `must be a string, not ${show(value)}`)
    return undefined
  }

  /** `null`, or what `read` makes of it. */
  nullable<A>(key: string, read: (key: string) => A | undefined): A | null | undefined {
    return this.get(key) === null ? null : read(key)
  }

  /** The objects of a list of at most `most`, by what `read` makes of each. */
  list<A>(key: string, most: number, read: (item: Reader) => A | undefined): ReadonlyArray<A> | undefined {
    const value = this.get(key)
    if (!Array.isArray(value) || value.length > most) {
      this.fault(
        key,
        `must be a list of at most ${most}, not ${Array.isArray(value) ? `of ${value.length}` : show(value)}`
      )
      return undefined
    }
    const items: Array<A> = []
    value.forEach((entry: unknown, index) => {
      const reader = Reader.of(entry, this.at(`${key}.${index}`), this.faults)
      const item = reader === undefined ? undefined : read(reader)
      if (item !== undefined) items.push(item)
    })
    return items
  }

  /** Whole ms, as a number or a duration string. */
  ms(key: string, fallback: number | undefined, least = 1): number | undefined {
    const what = `whole ms of at least ${least}, or a duration like "30 seconds"`
    if (!this.has(key)) return fallback ?? this.required(key, what)
    const value = this.get(key)
    const ms = typeof value === "string" ? parseDuration(value) : value
    if (typeof ms === "number" && Number.isSafeInteger(ms) && ms >= least) return ms
    this.fault(key, `must be ${what}, not ${show(value)}`)
    return undefined
  }

  /** A rate in (0, 1]. */
  rate(key: string): number | undefined {
    const what = "a rate above 0 and at most 1"
    if (!this.has(key)) return this.required(key, what)
    return this.ranged(key, this.get(key), what, false, { least: Number.MIN_VALUE, most: 1 })
  }

  /** A number in a closed range. */
  number(
    key: string,
    fallback: number,
    least: number,
    most?: number,
    what = most === undefined ? `a number of at least ${least}` : `a number from ${least} to ${most}`
  ): number | undefined {
    if (!this.has(key)) return fallback
    return this.ranged(key, this.get(key), what, false, most === undefined ? { least } : { least, most })
  }

  flag(key: string, fallback: boolean): boolean | undefined {
    const value = this.get(key)
    if (value === undefined) return fallback
    if (typeof value === "boolean") return value
    this.fault(key, `must be true or false, not ${show(value)}`)
    return undefined
  }

  oneOf<A extends string>(key: string, options: ReadonlyArray<A>, fallback?: A): A | undefined {
    const value = this.get(key)
    if (value === undefined && fallback !== undefined) return fallback
    const found = options.find((option) => option === value)
    if (found === undefined) {
      const list = options.map((option) => JSON.stringify(option)).join(", ")
      this.fault(
        key,
        value === undefined ? `is missing; give one of ${list}` : `must be one of ${list}, not ${show(value)}`
      )
    }
    return found
  }
}
