// The `switchgear` command. Exit codes: 0 done; 1 what was checked does not hold; 2 it could not run.
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { run } from "./cli.js"
import { flushed, withPlainConsole } from "./output.js"

const program = run(process.argv).pipe(
  Effect.as(0),
  // The command-line library has printed its own errors by now.
  Effect.catchIf(ValidationError.isValidationError, () => Effect.succeed(2)),
  Effect.catchAll((failure) =>
    Effect.sync(() => {
      if (failure.message !== "") process.stderr.write(`switchgear: ${failure.message}\n`)
      return failure.exit
    })
  ),
  Effect.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)),
  withPlainConsole
)

NodeRuntime.runMain(program, {
  disableErrorReporting: true,
  disablePrettyLogger: true,
  teardown: (exit, onExit) => {
    const code = Exit.match(exit, {
      onSuccess: (value) => (typeof value === "number" ? value : 0),
      // A signal ends the gateway in good order; anything else is a defect of ours.
      onFailure: (cause) => {
        if (Cause.isInterruptedOnly(cause)) return 0
        process.stderr.write(`switchgear: internal error\n${Cause.pretty(cause)}\n`)
        return 70
      }
    })
    flushed(() => onExit(code))
  }
})
