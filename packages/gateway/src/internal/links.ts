import { list, type Named, type Reading } from "./faults.js"
import { didYouMean } from "./suggest.js"

/** Names are introduced once, and every name mentioned is introduced somewhere (ROUTING F11). */
export const checkLinks = (reading: Reading): void => {
  const known: Record<Named["sort"], Map<string, Named>> = { provider: new Map(), model: new Map() }
  for (const each of reading.declared) {
    const first = known[each.sort].get(each.name)
    if (first === undefined) known[each.sort].set(each.name, each)
    else {
      const message = `the ${each.sort} "${each.name}" is already named in line ${first.place.line}; names must differ`
      reading.faults.push({ ...each.place, message })
    }
  }
  for (const each of reading.mentioned) {
    const names = [...known[each.sort].keys()]
    if (names.includes(each.name)) continue
    const message = `there is no ${each.sort} "${each.name}"${didYouMean(each.name, names)}; ${each.sort}s: ${list(names)}`
    reading.faults.push({ ...each.place, message })
  }
}
