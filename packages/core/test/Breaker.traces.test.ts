import { readFileSync } from "node:fs"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import * as Trace from "@switchgear/core/Trace"
import { describe, expect, it } from "vitest"

const file = new URL("../../testing/traces/breaker.json", import.meta.url)
const decoded = Trace.decode(JSON.parse(readFileSync(file, "utf8")))
const machine = Trace.machine({ breaker: Breaker, policy: Policy, snapshot: Snapshot })

describe("the published traces", () => {
  it("are traces", () => expect(decoded).toMatchObject({ _tag: "Success" }))
  for (const trace of decoded._tag === "Success" ? decoded.value : []) {
    it(trace.id, () => expect(Trace.run(machine, trace).mismatches).toEqual([]))
  }
})
