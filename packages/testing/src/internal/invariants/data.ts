import * as Snapshot from "@switchgear/core/Snapshot"
import { type Invariant, same, shown } from "./run.js"

/** The first number in plain data that is none, by its path. */
const notFinite = (value: unknown, path: string): string | null => {
  if (typeof value === "number") return Number.isFinite(value) ? null : `${path} is ${value}`
  if (typeof value !== "object" || value === null) return null
  for (const [key, inner] of Object.entries(value)) {
    const found = notFinite(inner, `${path}.${key}`)
    if (found !== null) return found
  }
  return null
}

/** SEMANTICS S1, T4. */
export const noNaNAnywhere: Invariant = {
  name: "no NaN and no Infinity in any state, event or view",
  rule: "S1 T4",
  judges: "state and time",
  check: (_run, { after, taken }) =>
    notFinite(after, "state") ?? notFinite(taken.events, "events") ?? notFinite(taken.view, "view")
}

/** SEMANTICS S2, S3. */
export const statesAreJson: Invariant = {
  name: "a state and its events survive JSON",
  rule: "S2 S3 S9",
  judges: "state",
  check: (_run, { after, taken }) => {
    for (const value of [after, taken.events]) {
      const back: unknown = JSON.parse(JSON.stringify(value))
      if (!same(back, value)) return `${shown(value)} came back as ${shown(back)}`
    }
    return null
  }
}

/** SEMANTICS S1: asking twice gives the same answer, and a later question does not change an earlier one's. */
export const readsChangeNothing: Invariant = {
  name: "reads change nothing",
  rule: "S1 T2",
  judges: "state and time",
  check: ({ machine, policy }, { after, taken }) => {
    machine.tailPermit(after, taken.now)
    const again = machine.observe(policy, after, taken.now)
    return same(again, taken.view) ? null : `${shown(taken.view)}, and then ${shown(again)}`
  }
}

/** SEMANTICS D2, A3: with time alone nothing gets worse, and nothing closes but a Degraded of a rate. */
export const silenceOnlyHeals: Invariant = {
  name: "with time alone Closed stays Closed, Open becomes HalfOpen once, and reads do not flap",
  rule: "A3 D2 M1",
  judges: "state and time",
  check: ({ machine, policy }, { after, taken }) => {
    const later = {
      Closed: ["Closed"],
      Degraded: ["Degraded", "Closed"],
      Open: ["Open", "HalfOpen"],
      HalfOpen: ["HalfOpen"]
    }
    let state = taken.view.state
    for (const passed of [10, 10_000]) {
      const next = machine.observe(policy, after, taken.now + passed).state
      if (!later[state].includes(next)) return `${state} reads ${next} ${passed} ms later`
      state = next
    }
    return null
  }
}

const wall = 1_767_268_800_000

/** SEMANTICS S9. */
export const snapshotsRoundTrip: Invariant = {
  name: "a snapshot survives JSON, and its restore at the same time observes as the state does",
  rule: "S9",
  judges: "state and time",
  check: ({ machine, policy }, { after, taken }) => {
    const at = Math.max(taken.now, after.at)
    const written = Snapshot.snapshot(after, at, wall)
    const read = Snapshot.decode(JSON.parse(JSON.stringify(written)))
    if (read._tag === "Failure") return `the snapshot is refused: ${shown(read.faults)}`
    if (!same(read.value, written)) return `${shown(written)} was read as ${shown(read.value)}`
    const restored = Snapshot.restore(policy, read.value, at, wall, after)
    if (restored.era !== after.era + 1) return `era ${restored.era} after ${after.era}`
    if (restored.at !== at) return `restored at ${at}, the state says ${restored.at}`
    const expected = machine.observe(policy, after, at)
    const told = machine.observe(policy, restored, at)
    if (after._tag === "HalfOpen") {
      // its leases died with the process: an Open at its deadline
      return restored._tag === "Open" && told.state === "HalfOpen" && told.retryAfter === 0 ? null : shown(restored)
    }
    return same(told, expected, "era") ? null : `${shown(told)}, not ${shown(expected)}`
  }
}
