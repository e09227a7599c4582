import type * as Store from "@switchgear/breaker/CircuitBreakerStore"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Call, Fleet, pause, type Settings } from "./fleet.js"

const policy = { trip: { _tag: "Consecutive", failureThreshold: 3 }, cooldown: { base: "1 hour" } }

/** ms */
const probeTimeout = 2_000

const policies = {
  rounds: { ...policy, cooldown: { base: 250 }, halfOpen: { maxProbes: 2, successThreshold: 2 } },
  killed: { ...policy, cooldown: { base: 250 }, halfOpen: { probeTimeout } }
}

const sorted = (numbers: ReadonlyArray<number>) => [...numbers].sort((a, b) => a - b)
const median = (numbers: ReadonlyArray<number>) => sorted(numbers)[Math.floor(numbers.length / 2)] ?? Number.NaN
const ms = (value: number) => `${value.toFixed(1)} ms`
const print = (line: string) => process.stdout.write(`${line}\n`)

const shown = ({ at, era, replica, state }: Call) => ({ at, era, state, replica: replica.index })

/** The one lease of a record, on the store's clock, and the id of the next. */
const leaseOf = (record: Store.Stored | undefined) => {
  const state = record?.snapshot.state
  if (record === undefined || state?._tag !== "HalfOpen") return assert.fail(`${state?._tag}`)
  const [lease, ...others] = state.probes?.leases ?? []
  if (lease === undefined) return assert.fail("no lease is out")
  assert.deepStrictEqual(others, [])
  const to = record.snapshot.wall + lease.remaining
  return { lease: { id: lease.id, from: to - probeTimeout, to }, next: state.probes?.next ?? 0 }
}

/** Of the calls that reached the upstream, how many in each era. */
const byEra = (calls: ReadonlyArray<Call>) => {
  const eras = new Map<number, number>()
  for (const { era } of calls) eras.set(era, (eras.get(era) ?? 0) + 1)
  return eras
}

/**
 * What eight processes do together over a real store. `read` gives the record that the store holds.
 */
export const fleetProofs = (
  title: string,
  settings: Pick<Settings, "backend" | "url" | "space">,
  read: (space: string, name: string) => Promise<Store.Stored | undefined>
): void => {
  for (const [apart, rounds] of [
    [0, 100],
    [5_000, 20]
  ] as const) {
    const what = `${title}, eight processes with wall clocks ${apart / 1_000} s apart`
    describe(what, () => {
      let fleet = new Fleet()
      beforeAll(async () => {
        const space = `${settings.space}${apart}`
        fleet = await Fleet.start({ ...settings, space, policy, policies }, 8, apart)
      }, 300_000)
      afterAll(() => fleet.end())
      const replica = (index: number) => fleet.replicas[index % fleet.replicas.length] ?? assert.fail()

      it("one trips, and all refuse", async () => {
        const delays: Array<number> = []
        for (let index = 0; index < 10; index++) {
          const breaker = `trip${index}`
          await fleet.all({ do: "get", name: breaker }, "done")
          const began = await fleet.open(replica(index), breaker, 3)
          const heard = fleet.heard.filter(({ transition }) => transition.breaker === breaker)
          assert.strictEqual(heard.length, 8)
          for (const { refuses, transition } of heard) {
            assert.deepStrictEqual([transition.from, transition.to, transition.era], ["Closed", "Open", 1])
            assert.isTrue(refuses)
          }
          delays.push(Math.max(...heard.map(({ at }) => at)) - began)
        }
        print(
          `${what}: all refuse ${ms(median(delays))} after one trips (median of 10, most ${ms(Math.max(...delays))})`
        )
      }, 120_000)

      it(`at the deadline the upstream sees maxProbes calls until the verdict, ${rounds} rounds`, async () => {
        const breaker = "rounds"
        await fleet.all({ do: "get", name: breaker }, "done")
        await fleet.open(replica(0), breaker, 3)
        await fleet.all({ do: "load", name: breaker, rate: 250 })
        const began = performance.now()
        const calls = () => fleet.callsOf(breaker)
        for (let round = 0; round < rounds; round++) {
          const before = round * 2
          await fleet.until(() => calls().length >= before + 2)
          // Time for one more, if there is to be one.
          await pause(50)
          const probes = calls().slice(before)
          assert.strictEqual(
            probes.length,
            2,
            JSON.stringify({ round, probes: probes.map(shown), events: fleet.events })
          )
          for (const probe of probes) fleet.answer(probe, false)
        }
        const took = (performance.now() - began) / 1_000
        await fleet.until(() => calls().length >= rounds * 2 + 2)
        const { made, refused } = await fleet.stop()
        // What came too late for its round is here.
        const eras = byEra(calls())
        assert.strictEqual(eras.size, rounds + 1)
        for (const [era, calls] of eras) assert.deepStrictEqual([era, calls], [era, 2])
        // The last one recovers, for all.
        for (const probe of calls().slice(rounds * 2)) fleet.answer(probe, true)
        const recovered = () =>
          fleet.heard.filter(({ transition }) => transition.breaker === breaker && transition.to === "Closed")
        await fleet.until(() => recovered().length === 8)
        const reached = new Set(calls().map((call) => call.replica))
        print(
          `${what}: ${rounds} rounds of 2 probes, by ${reached.size} of the processes; ` +
            `${Math.round(made / took)} calls/s, ${refused} refused`
        )
      }, 300_000)

      it("a replica killed with the probe frees it at the lease's end, on the store's clock", async () => {
        const breaker = "killed"
        const calls = () => fleet.callsOf(breaker)
        await fleet.all({ do: "get", name: breaker }, "done")
        await fleet.open(replica(0), breaker, 3)
        await fleet.all({ do: "load", name: breaker, rate: 100 })
        const leases: Array<{ readonly id: number; readonly from: number; readonly to: number }> = []
        const space = `${settings.space}${apart}`
        for (let killed = 0, seen = 0; killed < 4; ) {
          await fleet.until(() => calls().length > seen)
          seen = calls().length
          const probe = calls()[seen - 1] ?? assert.fail()
          const { lease, next } = leaseOf(await read(space, breaker))
          // Each probe has had a lease of its own, one at a time.
          assert.isAtMost(seen, next)
          if (!leases.some(({ id }) => id === lease.id)) leases.push(lease)
          if (fleet.replicas.includes(probe.replica)) {
            fleet.kill(probe.replica)
            killed++
          }
        }
        const late = leases.slice(1).map(({ from }, index) => from - (leases[index]?.to ?? Number.NaN))
        assert.isAbove(late.length, 0)
        for (const wait of late) assert.isAtLeast(wait, 0)
        print(`${what}: after a kill the next probe is ${late.map(ms).join(", ")} after the lease's end`)
      }, 120_000)
    })
  }
}
