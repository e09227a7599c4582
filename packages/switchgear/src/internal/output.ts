import type * as Console from "effect/Console"
import * as Effect from "effect/Effect"

/** What a reader who closed the pipe early (`| head`) leaves us with; the command ends quietly. */
let closed = false

const ignoreClosedPipe = (cause: NodeJS.ErrnoException): void => {
  if (cause.code === "EPIPE") closed = true
  else throw cause
}
process.stdout.on("error", ignoreClosedPipe)
process.stderr.on("error", ignoreClosedPipe)

/** Writes to stdout and waits until it is taken, so that nothing is lost at exit however slow the reader. */
export const write = (text: string): Effect.Effect<void> =>
  closed
    ? Effect.void
    : Effect.async<void>((resume) => {
        process.stdout.write(text, () => resume(Effect.void))
      })

/** Whether anyone still reads. */
export const isRead = (): boolean => !closed

/** Resolves once both outputs are taken. */
export const flushed = (done: () => void): void => {
  if (closed) done()
  else process.stdout.write("", () => process.stderr.write("", done))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what this is about
const ansi = /\u001b\[[0-9;]*m/g

/** Whether colours do not belong there: no terminal, or a reader who wants none. */
export const isPlain = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY !== true || (process.env["NO_COLOR"] ?? "") !== "" || process.env["TERM"] === "dumb"

/** A console without colours where none belong: the command-line library prints them into pipes too. */
export const withPlainConsole = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.consoleWith((console) => {
    const strip = (stream: NodeJS.WriteStream, args: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
      isPlain(stream) ? args.map((each) => (typeof each === "string" ? each.replace(ansi, "") : each)) : args
    return Effect.withConsole(effect, {
      ...console,
      log: (...args: ReadonlyArray<unknown>) => console.log(...strip(process.stdout, args)),
      error: (...args: ReadonlyArray<unknown>) => console.error(...strip(process.stderr, args))
    } satisfies Console.Console)
  })
