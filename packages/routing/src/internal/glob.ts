/** Whether a name fits a pattern in which `*` is any run of characters and `?` any one; all of the name, its case too. */
export const compile = (pattern: string): ((name: string) => boolean) => {
  if (pattern === "*") return () => true
  if (!/[*?]/.test(pattern)) return (name) => name === pattern
  return (name) => fits(pattern, name)
}

/** Linear in practice and never worse than quadratic: a pattern is no regular expression. */
const fits = (pattern: string, name: string): boolean => {
  let at = 0
  let read = 0
  let star = -1
  let mark = 0
  while (read < name.length) {
    const wanted = pattern[at]
    if (wanted === "*") {
      star = at++
      mark = read
    } else if (wanted !== undefined && (wanted === "?" || wanted === name[read])) {
      at++
      read++
    } else if (star !== -1) {
      at = star + 1
      read = ++mark
    } else {
      return false
    }
  }
  while (pattern[at] === "*") at++
  return at === pattern.length
}
