import { readFileSync } from "node:fs"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import { describe, expect, it } from "vitest"

const traces = JSON.parse(readFileSync(new URL("../../testing/traces/breaker.json", import.meta.url), "utf8"))
describe("traces", () => {
  for (const t of traces) {
    it(t.id, () => {
      const d = Policy.decode(t.policy)
      if (t.invalidPolicy) {
        expect(d._tag).toBe("Failure")
        if (d._tag === "Failure") for (const p of t.invalidPolicy) expect(d.faults.map((f) => f.path)).toContain(p)
        return
      }
      if (d._tag === "Failure") throw new Error(JSON.stringify(d.faults))
      const policy = d.policy
      let s = Breaker.initial(policy, t.steps[0].at)
      const permits = new Map<string, Breaker.Permit>()
      t.steps.forEach((x: any, i: number) => {
        const out: any = {}
        switch (x.do) {
          case "acquire": { const [a, n] = Breaker.acquire(policy, s, x.at); s = n; out.permit = a._tag === "Admitted"; if (a._tag === "Admitted") permits.set(x.call, a.permit); break }
          case "tail": { const p = Breaker.tailPermit(s, x.at); out.permit = p !== undefined; if (p) permits.set(x.call, p); break }
          case "success": case "failure": case "ignored": case "released": {
            const p = permits.get(x.call); if (!p) { out.applied = false; break }
            const o = x.do === "success" ? Breaker.success(x.latency) : x.do === "failure" ? Breaker.failure(x.kind ?? "unknown", x) : x.do === "ignored" ? Breaker.ignored : Breaker.released
            const [r, n] = Breaker.report(policy, s, p, o, x.at, x.rnd ?? 0); s = n; out.applied = r === "Applied"; break }
          case "observe": break
          case "restart": s = Snapshot.restore(policy, JSON.parse(JSON.stringify(Snapshot.snapshot(s, x.at, x.at))), Math.max(x.at, s.at), x.at, s); break
          case "forceOpen": [s] = Breaker.command(policy, s, Breaker.forceOpen(x.for), x.at); break
          case "forceClosed": [s] = Breaker.command(policy, s, Breaker.forceClosed, x.at); break
          case "auto": [s] = Breaker.command(policy, s, Breaker.auto, x.at); break
          case "reset": [s] = Breaker.command(policy, s, Breaker.reset, x.at); break
          default: throw new Error(x.do)
        }
        const v = Breaker.observe(policy, s, x.at)
        Object.assign(out, { state: v.state, until: v.until, retryAfter: v.retryAfter })
        for (const k of Object.keys(x.expect ?? {})) expect(out[k], `${t.id} step ${i} ${k}`).toEqual(x.expect[k])
      })
    })
  }
})
