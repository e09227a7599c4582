import * as Effect from "effect/Effect"

export interface Bar {
  readonly show: (progress: number, what: string) => void
  readonly clear: () => void
}

const width = 30

/** A line on stderr that says how far it has come; nothing where nobody looks at it. */
export const progressBar: Effect.Effect<Bar> = Effect.sync((): Bar => {
  const { stderr } = process
  if (stderr.isTTY !== true || process.env["TERM"] === "dumb") return { show: () => {}, clear: () => {} }
  let shown = ""
  return {
    show: (progress, what) => {
      const done = Math.round(progress * width)
      const line = `${"█".repeat(done)}${"░".repeat(width - done)} ${String(Math.round(progress * 100)).padStart(3)} % ${what}`
      if (line === shown) return
      shown = line
      stderr.write(`\r${line}\u001b[K`)
    },
    clear: () => {
      if (shown !== "") stderr.write("\r\u001b[K")
    }
  }
})
