// Seeded faults: breaks the machine in one place at a time and shows that the lock-step run and the exhaustive check find
// it. A check that cannot find a planted fault proves nothing.
// `node packages/testing/scripts/faults.mjs [part of a name ...]`: those whose names hold one of the parts, else all.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL("./", import.meta.url))
const source = (file) => join(here, "../../core/src/internal", file)

/** Each fault: what is broken, in which file, what stands there and what is put in its place. */
const faults = [
  ["a deadline that is exclusive (A2)", "../Breaker.ts", "return t < state.until", "return t <= state.until"],
  [
    "a lease that outlives its end by a ms (A5)",
    "halfOpen.ts",
    "return now < lease.until\n",
    "return now <= lease.until\n"
  ],
  [
    "a lease not freed on ignored (R5)",
    "halfOpen.ts",
    ".filter((lease) => lease.id !== probe)",
    '.filter((lease) => lease.id !== probe || as === "ignored")'
  ],
  [
    "one probe too many (A4)",
    "halfOpen.ts",
    "out.length < policy.halfOpen.maxProbes",
    "out.length <= policy.halfOpen.maxProbes"
  ],
  ["an era not raised on opening (R3)", "cooldown.ts", "era: before.era + 1", "era: before.era"],
  ["an era not raised on recovery (R3)", "halfOpen.ts", "close(policy, state.era + 1,", "close(policy, state.era,"],
  [
    "a streak that trips one late (P1)",
    "counters.ts",
    "counters.streak >= rule.failureThreshold",
    "counters.streak > rule.failureThreshold"
  ],
  [
    "a rate that trips only above its threshold (P1)",
    "counters.ts",
    "failures / samples >= rule.failureRateThreshold",
    "failures / samples > rule.failureRateThreshold"
  ],
  [
    "a bucket that is not evicted (P1)",
    "window.ts",
    "index - (rule.window / rule.bucketPeriod - 1)",
    "index - rule.window / rule.bucketPeriod"
  ],
  ["a kind window that is inclusive (P3)", "counters.ts", "entry.at <= now - window", "entry.at < now - window"],
  [
    "a hint kept over an era (C3)",
    "halfOpen.ts",
    "hintAfter(policy, null, outcome.retryAfter, now)",
    "hintAfter(policy, state.since + 50, outcome.retryAfter, now)"
  ],
  ["the latest hint instead of the furthest (C3)", "counters.ts", "hint === null || next > hint ? next : hint", "next"],
  [
    "the policy's cooldown where a kind has its own (C2)",
    "cooldown.ts",
    "lookup(policy.cooldownByKind, kind)) ??",
    "undefined) ??"
  ],
  ["grace openings counted from one (C1)", "cooldown.ts", "openings - 1 - graceOpenings", "openings - graceOpenings"],
  ["a recovery that never forgets the openings (C5)", "closed.ts", "< policy.cooldown.resetAfter", ">= 0"],
  ["every slow success spared (P2)", "counters.ts", "return completes || slow ?", "return completes ?"],
  [
    "a Degraded that recovers on a failure (D1)",
    "closed.ts",
    'state._tag === "Degraded" && success &&',
    'state._tag === "Degraded" &&'
  ],
  [
    "silence that leaves Degraded alone (D2)",
    "closed.ts",
    'state._tag === "Degraded" && silenced(policy, state, now)',
    'state._tag === "Degraded" && now < state.at'
  ],
  ["a forced open that shortens a cooldown (M1)", "forced.ts", "Math.max(until, kept)", "until"],
  [
    "a restart that forgets how long it was (S9)",
    "restore.ts",
    "plus(now, plus(remaining, -elapsed))",
    "plus(now, remaining)"
  ]
]

// Each place stands exactly once, so no fault is an empty one.
for (const [name, file, find] of faults) {
  const count = readFileSync(source(file), "utf8").split(find).length - 1
  if (count !== 1) {
    process.stderr.write(`${name}: its place stands ${count} times in core/src/internal/${file}; mend the table\n`)
    process.exit(2)
  }
}

const asked = process.argv.slice(2)
const chosen = asked.length === 0 ? faults : faults.filter(([name]) => asked.some((part) => name.includes(part)))
if (chosen.length === 0) {
  process.stderr.write(`no fault is named so; there are:\n${faults.map(([name]) => `  ${name}\n`).join("")}`)
  process.exit(2)
}

const checks = [
  ["the lock-step run", "lockstep.mjs", "100000", "7"],
  ["the exhaustive check", "exhaustive.mjs", "breaker"]
]
const finds = new Map(checks.map(([check]) => [check, 0]))
let missed = 0
for (const [name, file, find, replace] of chosen) {
  const env = { ...process.env, SWITCHGEAR_FAULT: JSON.stringify({ file: source(file), find, replace }) }
  const by = checks.map(([check, script, ...args]) => {
    const { status, stdout } = spawnSync(process.execPath, [join(here, script), ...args], { env, encoding: "utf8" })
    // What a check says when it finds something; a fault that does not even load was found by nobody.
    if (status !== 0 && !/^\[?\{/m.test(stdout)) throw new Error(`${name}: ${script} ended with ${status}\n${stdout}`)
    if (status !== 0) finds.set(check, finds.get(check) + 1)
    return [check, status !== 0]
  })
  const missing = by.filter(([, found]) => !found).map(([check]) => check)
  if (missing.length > 0) missed++
  process.stdout.write(missing.length === 0 ? `found ${name}\n` : `MISSED ${name}: by ${missing.join(" and ")}\n`)
}
for (const [check, found] of finds) process.stdout.write(`${check} found ${found} of ${chosen.length}\n`)
process.exitCode = missed === 0 ? 0 : 1
