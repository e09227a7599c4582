import { get, isObject, type Json } from "./json.js"

/** As many as tell what is wrong; a list of a thousand says no more. */
const most = 16
/** A name is the client's own text. */
const longest = 120

/** What a reading of a request finds that the other dialect cannot say, and what it leaves out because it need not. */
export class Report {
  private readonly unfit = new Set<string>()
  private readonly left = new Set<string>()

  /** The other dialect has no words for it. */
  cannot(path: string): undefined {
    if (this.unfit.size < most) this.unfit.add(path.slice(0, longest))
    return undefined
  }

  /** A hint: with or without it the answer means the same. */
  omit(name: string): void {
    if (this.left.size < most) this.left.add(name)
  }

  get fields(): ReadonlyArray<string> {
    return [...this.unfit]
  }

  get omitted(): ReadonlyArray<string> {
    return [...this.left]
  }
}

/** Equal scalars, equal lists of them, or both empty objects. */
const sameAs = (value: unknown, neutral: unknown): boolean => {
  if (Array.isArray(value) && Array.isArray(neutral)) {
    return value.length === neutral.length && value.every((one, index) => one === neutral[index])
  }
  if (isObject(value) && isObject(neutral)) return Object.keys(value).length + Object.keys(neutral).length === 0
  return value === neutral
}

/**
 * The members of one object, each asked for by name. Whatever nobody asked for is reported when all are done, so that a
 * field that is not known never gets lost in silence (ROUTING W6).
 */
export class Fields {
  private readonly asked = new Set<string>()

  constructor(
    readonly report: Report,
    private readonly path: string,
    private readonly json: Json
  ) {}

  at(key: string): string {
    return this.path === "" ? key : `${this.path}.${key}`
  }

  cannot(key: string): undefined {
    return this.report.cannot(this.at(key))
  }

  /** `undefined` for none and for `null`. */
  take(key: string): unknown {
    this.asked.add(key)
    return get(this.json, key)
  }

  private typed<A>(key: string, is: (value: unknown) => value is A): A | undefined {
    const value = this.take(key)
    return value === undefined || is(value) ? value : this.cannot(key)
  }

  string(key: string): string | undefined {
    return this.typed(key, (value) => typeof value === "string")
  }

  number(key: string): number | undefined {
    return this.typed(key, (value): value is number => Number.isFinite(value))
  }

  boolean(key: string): boolean | undefined {
    return this.typed(key, (value) => typeof value === "boolean")
  }

  list(key: string): ReadonlyArray<unknown> {
    return this.typed(key, (value): value is ReadonlyArray<unknown> => Array.isArray(value)) ?? []
  }

  object(key: string): Json | undefined {
    return this.typed(key, isObject)
  }

  /** An object's own members, to be asked for in turn. */
  inside(key: string): Fields | undefined {
    const value = this.object(key)
    return value === undefined ? undefined : new Fields(this.report, this.at(key), value)
  }

  /** An element's members. */
  element(key: string, index: number, value: unknown): Fields | undefined {
    const path = `${this.at(key)}[${index}]`
    return isObject(value) ? new Fields(this.report, path, value) : this.report.cannot(path)
  }

  /** Left out: hints that do not change what is answered. */
  hints(...keys: ReadonlyArray<string>): void {
    for (const key of keys) if (this.take(key) !== undefined) this.report.omit(key)
  }

  /** Fit only with a value that says what is so anyway. */
  neutral(key: string, ...values: ReadonlyArray<unknown>): void {
    const value = this.take(key)
    if (value !== undefined && !values.some((neutral) => sameAs(value, neutral))) this.cannot(key)
  }

  /** What nobody asked for. */
  end(): void {
    for (const key of Object.keys(this.json)) {
      if (!this.asked.has(key) && get(this.json, key) !== undefined) this.cannot(key)
    }
  }
}
