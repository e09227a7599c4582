import * as Data from "effect/Data"

/** A command could not do its work, or found what it looks for. `exit` is the process's exit code. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly exit: 1 | 2
  /** For stderr; absent where stdout has said it all. */
  readonly message: string
}> {}

/** 1: what was checked does not hold. */
export const found = (message = ""): CommandFailed => new CommandFailed({ exit: 1, message })

/** 2: the command cannot run: its input or its surroundings are at fault. */
export const refused = (message: string): CommandFailed => new CommandFailed({ exit: 2, message })
