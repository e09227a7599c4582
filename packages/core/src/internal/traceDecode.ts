import type { Fault } from "./decode.js"
import type { Decoded, Trace } from "./traceModel.js"

type Fields = Readonly<Record<string, unknown>>

interface Rule {
  readonly needs: string
  readonly ok: (value: unknown) => boolean
}

const integer: Rule = { needs: "a whole number", ok: Number.isSafeInteger }
const whole: Rule = { needs: "a whole number of ms", ok: Number.isSafeInteger }
const number: Rule = { needs: "a finite number", ok: Number.isFinite }
const text: Rule = { needs: "a text", ok: (value) => typeof value === "string" }
const name: Rule = { needs: "a text that is not empty", ok: (value) => typeof value === "string" && value !== "" }
const flag: Rule = { needs: "true or false", ok: (value) => typeof value === "boolean" }
const absentOr = (rule: Rule): Rule => ({
  needs: `${rule.needs}, or null where it must be absent`,
  ok: (value) => value === null || rule.ok(value)
})
const positive: Rule = {
  needs: "a positive whole number of ms",
  ok: (value) => Number.isSafeInteger(value) && typeof value === "number" && value > 0
}
const luck: Rule = {
  needs: "a number from 0 to below 1",
  ok: (value) => typeof value === "number" && value >= 0 && value < 1
}
const states: ReadonlyArray<unknown> = ["Closed", "Degraded", "Open", "HalfOpen"]
const state: Rule = { needs: "Closed, Degraded, Open or HalfOpen", ok: (value) => states.includes(value) }
const view = { state, retryAfter: absentOr(number), until: absentOr(number) }

interface Shape {
  readonly required: Readonly<Record<string, Rule>>
  readonly optional: Readonly<Record<string, Rule>>
  readonly expect: Readonly<Record<string, Rule>>
}

const giving: Shape = { required: { call: name }, optional: {}, expect: { permit: flag, ...view } }
const reporting = (optional: Readonly<Record<string, Rule>>): Shape => ({
  required: { call: name },
  optional: { rnd: luck, ...optional },
  expect: { applied: flag, ...view }
})
const plain = (optional: Readonly<Record<string, Rule>> = {}): Shape => ({ required: {}, optional, expect: view })

const shapes = (): ReadonlyMap<unknown, Shape> =>
  new Map<unknown, Shape>([
    ["acquire", giving],
    ["tail", giving],
    ["success", reporting({ latency: number })],
    ["failure", reporting({ kind: text, status: integer, retryAfter: number, latency: number })],
    ["ignored", reporting({})],
    ["released", reporting({})],
    ["observe", plain()],
    ["forceOpen", plain({ for: positive })],
    ["forceClosed", plain()],
    ["auto", plain()],
    ["reset", plain()],
    ["restart", plain({ elapsed: whole, resumeAt: whole })]
  ])

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const shown = (value: unknown): string => {
  const json = typeof value === "bigint" ? `${value}` : JSON.stringify(value)
  return json === undefined ? String(value) : json.length > 60 ? `${json.slice(0, 57)}...` : json
}

const decodeStep = (input: unknown, path: string, kinds: ReadonlyMap<unknown, Shape>, faults: Array<Fault>): void => {
  if (!isObject(input)) {
    faults.push({ path, message: `a step is an object, not ${shown(input)}` })
    return
  }
  const shape = kinds.get(input["do"])
  if (shape === undefined) {
    const known = [...kinds.keys()].join(", ")
    faults.push({ path: `${path}.do`, message: `do is one of ${known}, not ${shown(input["do"])}` })
  }
  const required: Readonly<Record<string, Rule>> = { at: whole, ...shape?.required }
  const allowed: Readonly<Record<string, Rule>> = { ...required, ...shape?.optional }
  for (const [key, rule] of Object.entries(allowed)) {
    const value = input[key]
    if (value === undefined && !(key in required)) continue
    if (!rule.ok(value))
      faults.push({ path: `${path}.${key}`, message: `${key} is ${rule.needs}, not ${shown(value)}` })
  }
  if (shape === undefined) return
  for (const key of Object.keys(input)) {
    if (key === "do" || key === "expect" || Object.hasOwn(allowed, key)) continue
    const known = Object.keys(allowed).join(", ")
    faults.push({
      path: `${path}.${key}`,
      message: `${shown(input["do"])} has no ${key}; it takes ${known} and expect`
    })
  }
  decodeExpect(input["expect"], `${path}.expect`, shape, faults)
}

const decodeExpect = (input: unknown, path: string, shape: Shape, faults: Array<Fault>): void => {
  if (input === undefined) return
  if (!isObject(input)) {
    faults.push({ path, message: `expect is an object, not ${shown(input)}` })
    return
  }
  for (const [key, value] of Object.entries(input)) {
    const rule = Object.hasOwn(shape.expect, key) ? shape.expect[key] : undefined
    if (rule === undefined) {
      const known = Object.keys(shape.expect).join(", ")
      faults.push({ path: `${path}.${key}`, message: `this step cannot expect ${key}; it can expect ${known}` })
    } else if (!rule.ok(value)) {
      faults.push({ path: `${path}.${key}`, message: `${key} is ${rule.needs}, not ${shown(value)}` })
    }
  }
}

const decodeSteps = (input: unknown, path: string, faults: Array<Fault>): void => {
  if (!Array.isArray(input)) {
    faults.push({ path, message: `steps is a list, not ${shown(input)}` })
    return
  }
  const kinds = shapes()
  const calls = new Map<unknown, number>()
  input.forEach((step: unknown, index) => {
    decodeStep(step, `${path}.${index}`, kinds, faults)
    if (!isObject(step) || (step["do"] !== "acquire" && step["do"] !== "tail")) return
    const earlier = calls.get(step["call"])
    calls.set(step["call"], index)
    if (earlier === undefined || !name.ok(step["call"])) return
    const message = `the name ${shown(step["call"])} was taken by step ${earlier}; a call's name is used once`
    faults.push({ path: `${path}.${index}.call`, message })
  })
}

const traceKeys = ["id", "source", "policy", "steps", "invalidPolicy"]

/** Every fault of one trace; none means that `input` is one. */
const decodeTrace = (input: unknown, path: string, faults: Array<Fault>): input is Trace => {
  const before = faults.length
  const at = (key: string): string => (path === "" ? key : `${path}.${key}`)
  if (!isObject(input)) {
    faults.push({ path, message: `a trace is an object, not ${shown(input)}` })
    return false
  }
  if (!name.ok(input["id"])) faults.push({ path: at("id"), message: `id is ${name.needs}, not ${shown(input["id"])}` })
  if (input["source"] !== undefined && !text.ok(input["source"])) {
    faults.push({ path: at("source"), message: `source is ${text.needs}, not ${shown(input["source"])}` })
  }
  if (!("policy" in input)) faults.push({ path: at("policy"), message: "policy is missing; give the policy's object" })
  const { invalidPolicy, steps } = input
  if (steps === undefined && invalidPolicy === undefined) {
    faults.push({ path: at("steps"), message: "steps is missing; give steps, or invalidPolicy with the paths to name" })
  } else if (steps !== undefined && invalidPolicy !== undefined) {
    faults.push({ path: at("invalidPolicy"), message: "invalidPolicy stands instead of steps; leave one of them out" })
  }
  if (steps !== undefined) decodeSteps(steps, at("steps"), faults)
  if (invalidPolicy !== undefined && !(Array.isArray(invalidPolicy) && invalidPolicy.every(text.ok))) {
    const message = `invalidPolicy is a list of paths, not ${shown(invalidPolicy)}`
    faults.push({ path: at("invalidPolicy"), message })
  }
  for (const key of Object.keys(input)) {
    if (traceKeys.includes(key)) continue
    faults.push({ path: at(key), message: `a trace has no ${key}; it has ${traceKeys.join(", ")}` })
  }
  return faults.length === before
}

/** Total: a list of traces, or one trace alone, or all that is wrong with it. */
export const decode = (input: unknown): Decoded => {
  const faults: Array<Fault> = []
  const value: Array<Trace> = []
  if (Array.isArray(input)) {
    input.forEach((entry: unknown, index) => {
      if (decodeTrace(entry, `${index}`, faults)) value.push(entry)
    })
  } else if (isObject(input)) {
    if (decodeTrace(input, "", faults)) value.push(input)
  } else {
    faults.push({ path: "", message: `a file of traces is a list of traces, not ${shown(input)}` })
  }
  return faults.length === 0 ? { _tag: "Success", value } : { _tag: "Failure", faults }
}
