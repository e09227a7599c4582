import { readFileSync } from "node:fs"
import * as Trace from "@switchgear/core/Trace"
import { describe, expect, it } from "vitest"
import { fillDefaults } from "../src/internal/naive/policy.js"
import type { NaiveState, NaiveView } from "../src/NaiveBreaker.js"
import * as NaiveBreaker from "../src/NaiveBreaker.js"

const machine: Trace.Machine<NaiveBreaker.PlainPolicy, NaiveState, NaiveView> = {
  ...NaiveBreaker,
  decode: (input) => ({ _tag: "Success", policy: fillDefaults(input) }),
  at: (state) => state.at
}

const decoded = Trace.decode(JSON.parse(readFileSync(new URL("../traces/breaker.json", import.meta.url), "utf8")))
const traces = decoded._tag === "Success" ? decoded.value : []

describe("the naive machine", () => {
  it("finds the traces well formed", () => {
    expect(decoded).toMatchObject({ _tag: "Success" })
    expect(traces.length).toBe(84)
  })

  it.each(traces.filter((trace) => "steps" in trace).map((trace) => [trace.id, trace] as const))(
    "plays %s",
    (_, trace) => {
      expect(Trace.run(machine, trace).mismatches).toEqual([])
    }
  )
})
