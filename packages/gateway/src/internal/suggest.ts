/** Edits (insert, delete, replace, swap neighbours) between two short names. */
const distance = (a: string, b: string): number => {
  let before: Array<number> = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1)
      next.push(best)
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}

const plain = (name: string): string => name.toLowerCase().replace(/[-_. ]/g, "")

/** The known name that was probably meant, if one is near enough. */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  let found: string | undefined
  let least = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const edits = Math.min(distance(plain(name), plain(candidate)), 100)
    if (edits < least) {
      least = edits
      found = candidate
    }
  }
  return found
}

/** ` (did you mean "x"?)`, or nothing. */
export const didYouMean = (name: string, known: Iterable<string>): string => {
  const found = nearest(name, known)
  return found === undefined ? "" : ` (did you mean "${found}"?)`
}
