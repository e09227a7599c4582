import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"

/** A subcommand's own modules are loaded when it runs, so that none waits for another's. */
const lazily = <M, A, E>(load: () => Promise<M>, run: (module: M) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.promise(load), run)

const print = Options.boolean("print").pipe(
  Options.withDescription("Print what was found as JSON lines instead of judging it.")
)

const gateway = Command.make(
  "gateway",
  {
    config: Options.text("config").pipe(
      Options.withAlias("c"),
      Options.withDescription("The YAML file that names providers and models.")
    )
  },
  ({ config }) =>
    lazily(
      () => import("./commands/gateway.js"),
      (module) => module.gateway(config)
    )
).pipe(Command.withDescription("Run the gateway."))

const demo = Command.make(
  "demo",
  {
    port: Options.integer("port").pipe(
      Options.withDefault(8787),
      Options.withDescription("Where to listen; another free port if it is taken.")
    ),
    data: Options.text("data").pipe(
      Options.withDefault(".switchgear"),
      Options.withDescription("The folder that keeps its state, made if there is none.")
    )
  },
  (given) =>
    lazily(
      () => import("./commands/demo.js"),
      (module) => module.demo(given)
    )
).pipe(
  Command.withDescription(
    "Run a gateway that needs no configuration: two scripted providers, or OpenAI with OPENAI_API_KEY set."
  )
)

const replay = Command.make(
  "replay",
  { file: Args.text({ name: "file" }).pipe(Args.withDescription("Traces, as JSON.")), print },
  (given) =>
    lazily(
      () => import("./commands/replay.js"),
      (module) => module.replay(given.file, given.print)
    )
).pipe(Command.withDescription("Play traces on the breaker's machine and check what they expect."))

const classify = Command.make(
  "classify",
  { file: Args.text({ name: "file" }).pipe(Args.withDescription("Recorded answers, as JSON.")), print },
  (given) =>
    lazily(
      () => import("./commands/classify.js"),
      (module) => module.classify(given.file, given.print)
    )
).pipe(Command.withDescription("Say what recorded provider answers mean, and check what they expect."))

const policy = Command.make(
  "policy",
  {
    file: Args.text({ name: "file" }).pipe(Args.withDescription("A policy, as JSON or YAML."), Args.optional),
    preset: Options.text("preset").pipe(Options.withDescription("A preset instead of a file."), Options.optional),
    json: Options.boolean("json").pipe(Options.withDescription("Only the JSON, without the words."))
  },
  (given) =>
    lazily(
      () => import("./commands/policy.js"),
      (module) => module.policy(given)
    )
).pipe(Command.withDescription("Check a policy, show it with its defaults, and say what it will do."))

const keys = Command.make("keys").pipe(
  Command.withDescription("Keys of the gateway's clients."),
  Command.withSubcommands([
    Command.make(
      "add",
      { org: Args.text({ name: "org" }).pipe(Args.withDescription("The organisation whose key it is.")) },
      ({ org }) =>
        lazily(
          () => import("./commands/keys.js"),
          (module) => module.add(org)
        )
    ).pipe(Command.withDescription("Make a key and print the line with its hash for the configuration."))
  ])
)

const breakers = Command.make(
  "breakers",
  {
    url: Options.text("url").pipe(
      Options.withDefault("http://127.0.0.1:8787"),
      Options.withDescription("Where the gateway listens; its admin token, if it has one, is SWITCHGEAR_ADMIN_TOKEN.")
    ),
    watch: Options.boolean("watch").pipe(Options.withDescription("Go on, once a second.")),
    json: Options.boolean("json").pipe(Options.withDescription("What the gateway answers, as it is."))
  },
  (given) =>
    lazily(
      () => import("./commands/breakers.js"),
      (module) => module.breakers(given)
    )
).pipe(Command.withDescription("Show the breakers of a running gateway."))

const policies = Options.text("policy").pipe(
  Options.withAlias("p"),
  Options.repeated,
  Options.withDescription("A preset, a file, or none for no breaker at all; as often as you like, to compare.")
)

const simulate = Command.make(
  "simulate",
  {
    scenario: Args.text({ name: "scenario" }).pipe(
      Args.withDescription("A scenario's name or file; without it, the names are listed."),
      Args.optional
    ),
    policies,
    seed: Options.integer("seed").pipe(Options.withDefault(1), Options.withDescription("The same seed, the same run.")),
    runs: Options.integer("runs").pipe(
      Options.withDefault(1),
      Options.withDescription("How many, each with the next seed; more than one gives confidence intervals.")
    ),
    json: Options.boolean("json").pipe(Options.withDescription("The reports as JSON.")),
    html: Options.text("html").pipe(
      Options.withDescription("A file to write the reports to as one page, with what happened over time."),
      Options.optional
    ),
    explain: Options.text("explain").pipe(
      Options.withDescription(
        "Instead: why each breaker is as it is at this time of the first run, such as 330 or 5m."
      ),
      Options.optional
    )
  },
  (given) =>
    lazily(
      () => import("./commands/simulate.js"),
      (module) => module.simulate(given)
    )
).pipe(Command.withDescription("Play an outage on the real router and breakers, in virtual time."))

const backtest = Command.make(
  "backtest",
  {
    log: Args.text({ name: "log" }).pipe(
      Args.withDescription("The answer of /admin/telemetry, or JSON lines with at, target, outcome and latency.")
    ),
    policies,
    json: Options.boolean("json").pipe(Options.withDescription("The reports as JSON."))
  },
  (given) =>
    lazily(
      () => import("./commands/backtest.js"),
      (module) => module.backtest(given.log, given.policies, given.json)
    )
).pipe(Command.withDescription("Put recorded traffic through policies and say what each would have refused."))

const switchgear = Command.make("switchgear").pipe(
  Command.withDescription("Circuit breakers, fallback and provider health for LLM calls."),
  Command.withSubcommands([gateway, demo, breakers, keys, replay, classify, policy, simulate, backtest])
)

/** The command as a function of `process.argv`. */
export const run = Command.run(switchgear, { name: "switchgear", version: "0.1.0", executable: "switchgear" })
