import { createServer } from "node:http"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { ask, file, newFolder, run, runWith, serve, shell } from "./support.js"

const configuration = (baseUrl: string): string => `server: { port: 0, drain: 5 seconds }
providers:
  - { name: one, kind: openai-compatible, baseUrl: "${baseUrl}", apiKey: "\${ONE_KEY}" }
models: [{ name: m, provider: one }]
`

describe("switchgear gateway", () => {
  it("SIGTERM: a running stream finishes, then the process ends with 0", () =>
    Effect.gen(function* () {
      const upstream = yield* Upstream.make([Upstream.drip(80, { parts: ["a", "b", "c", "d", "e"] })])
      const path = file("gateway.yaml", configuration(upstream.baseUrl))
      const { child, ended, printed, url } = yield* Effect.promise(() =>
        serve(["gateway", "--config", path], { ONE_KEY: "sk-canary-2468" })
      )
      const response = yield* Effect.promise(() => ask(url, "m", true))
      child.kill("SIGTERM")
      expect(yield* Effect.promise(() => response.text())).toMatch(/data: \[DONE\]\n\n$/)
      expect(yield* Effect.promise(() => ended)).toBe(0)
      expect(printed()).toMatch(/message=request .*path=\/v1\/chat\/completions/)
      expect(printed()).not.toContain("sk-canary")
      expect(printed()).not.toContain(String(upstream.port))
    }).pipe(Effect.scoped, Effect.runPromise))

  it(
    "killed in the middle of a call, its idempotency key is free when the lease ends, and only then",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Upstream.make([Upstream.hangBeforeHeaders, Upstream.ok()])
        const text = configuration(upstream.baseUrl).replace("providers:", (it) => {
          const path = JSON.stringify(`${newFolder()}/state.db`)
          return `store: { kind: sqlite, path: ${path} }\nidempotency: { lease: 15 seconds }\n${it}`
        })
        const start = () =>
          Effect.promise(() => serve(["gateway", "--config", file("lease.yaml", text)], { ONE_KEY: "sk-canary-2468" }))
        const once = (url: string) =>
          Effect.promise((signal) =>
            fetch(`${url}/v1/chat/completions`, {
              method: "POST",
              signal,
              headers: { "content-type": "application/json", "idempotency-key": "order-1" },
              body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] })
            }).then(
              ({ status }) => status,
              () => 0
            )
          )
        const first = yield* start()
        const left = yield* Effect.fork(once(first.url))
        yield* upstream.call(0)
        first.child.kill("SIGKILL")
        expect(yield* Effect.fromFiber(left)).toBe(0)
        const second = yield* start()
        const seen = yield* Effect.iterate([yield* once(second.url)], {
          while: (statuses) => statuses.at(-1) === 409,
          body: (statuses) => Effect.map(Effect.delay(once(second.url), 200), (status) => [...statuses, status])
        })
        expect([seen[0], seen.at(-1)]).toEqual([409, 200])
        expect(yield* upstream.count).toBe(2)
      }).pipe(Effect.scoped, Effect.runPromise),
    60_000
  )

  it("a configuration with faults is refused with all of them, exit 2", () => {
    const path = file("faulty.yaml", configuration("http://127.0.0.1:1/v1").replace("provider: one", "provider: two"))
    const { status, stderr, stdout } = run("gateway", "--config", path)
    expect([status, stdout]).toEqual([2, ""])
    expect(stderr).toMatch(
      /2 faults in .*faulty\.yaml:\n {2}line 3, providers\[0\]\.apiKey: .*ONE_KEY.*\n {2}line 4, models\[0\]\.provider: /
    )
    expect(run("gateway", "--config", "/nowhere.yaml").stderr).toContain("no such file")
  })

  it("a port in use is said so, exit 2", async () => {
    const { url } = await serve(["demo", "--port", "0"])
    const path = file(
      "taken.yaml",
      configuration("http://127.0.0.1:1/v1")
        .replace("port: 0", `port: ${new URL(url).port}`)
        .replace(/, apiKey.*}/, " }")
    )
    const { status, stderr } = run("gateway", "--config", path)
    expect([status, stderr.includes("is in use")]).toEqual([2, true])
  })
})

interface Shown {
  readonly name: string
  readonly state: string
  readonly until?: string
}

const breakersOf = async (url: string): Promise<ReadonlyArray<Shown>> =>
  ((await (await fetch(`${url}/admin/breakers`)).json()) as { breakers: ReadonlyArray<Shown> }).breakers

describe("switchgear breakers", () => {
  it("shows a running gateway's, as a table, as JSON, and going on", async () => {
    const { url } = await serve(["demo", "--port", "0"])
    for (let i = 0; i < 8; i++) await ask(url, "demo")
    const shown = run("breakers", "--url", url)
    expect([shown.status, shown.stderr]).toEqual([0, ""])
    const [head = "", primary = "", backup = ""] = shown.stdout.split("\n")
    expect(head).toMatch(/^BREAKER +STATE +FOR +LEFT +STREAK +ADMITTED +REJECTED +FAILED +WHY$/)
    expect(primary).toMatch(/^primary +Open +\d+s +\d+s +.*3 failures in a row/)
    expect(backup).toMatch(/^backup +Closed/)
    expect(JSON.parse(run("breakers", "--json", "--url", url).stdout).breakers).toHaveLength(2)
    const watched = shell(`timeout 3 $BIN breakers --watch --url ${url} | head -12`)
    expect(watched.stdout.match(/^BREAKER/gm)?.length).toBeGreaterThanOrEqual(2)
    expect(watched.stdout).not.toContain("\u001b")
  })

  it("says what is wrong where no gateway is", () => {
    expect(run("breakers", "--url", "http://127.0.0.1:9")).toMatchObject({ status: 2, stdout: "" })
    expect(run("breakers", "--url", "nonsense").stderr).toContain("--url must be the gateway's address")
  })
})

describe("switchgear demo", () => {
  it("serves without keys or configuration; the curl it prints answers, from the backup when the primary fails", async () => {
    const { child, ended, printed, url } = await serve(["demo", "--port", "0"])
    const fallbacks: Array<string | null> = []
    for (let i = 0; i < 9; i++) {
      const response = await ask(url, "demo")
      expect(response.status).toBe(200)
      fallbacks.push(response.headers.get("x-switchgear-provider-used"))
    }
    expect(fallbacks).toEqual([...Array(5).fill(null), ...Array(4).fill("demo-backup")])
    const admin = (await (await fetch(`${url}/admin/breakers`)).json()) as {
      breakers: ReadonlyArray<{ state: string }>
    }
    expect(admin.breakers[0]?.state).toBe("Open")
    for (const text of [`curl -i ${url}/v1/chat/completions`, "/admin/breakers", "OPENAI_API_KEY="]) {
      expect(printed()).toContain(text)
    }
    child.kill("SIGINT")
    expect(await ended).toBe(0)
  })

  it("killed without warning, it starts again with the breaker open until the same moment", async () => {
    const data = newFolder()
    const first = await serve(["demo", "--port", "0", "--data", data])
    for (let i = 0; i < 8; i++) await ask(first.url, "demo")
    const [before] = await breakersOf(first.url)
    expect(before?.state).toBe("Open")
    first.child.kill("SIGKILL")
    await first.ended
    const second = await serve(["demo", "--port", "0", "--data", data])
    const [after] = await breakersOf(second.url)
    expect(after?.state).toBe("Open")
    expect(Math.abs(Date.parse(after?.until ?? "") - Date.parse(before?.until ?? ""))).toBeLessThanOrEqual(100)
    const health = await (await fetch(`${second.url}/admin/health`)).text()
    expect(health).toContain('"name":"primary"')
  })

  it("takes another port if its own is taken", async () => {
    const first = await serve(["demo", "--port", "0"])
    const second = await serve(["demo", "--port", new URL(first.url).port])
    expect(second.url).not.toBe(first.url)
    expect((await ask(second.url, "demo")).status).toBe(200)
  })

  it("with OPENAI_API_KEY it serves OpenAI, and shows the key to nobody else", async () => {
    let authorization: string | undefined
    const openAi = createServer((request, response) => {
      authorization = request.headers.authorization
      request.resume().on("end", () => {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(
          '{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}'
        )
      })
    })
    await new Promise<void>((resolve) => openAi.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => {
      openAi.close()
      openAi.closeAllConnections()
    })
    const address = openAi.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const env = { OPENAI_API_KEY: "sk-canary-1357", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` }
    const { printed, url } = await serve(["demo", "--port", "0"], env)
    expect((await ask(url, "gpt-4o-mini")).status).toBe(200)
    expect(authorization).toBe("Bearer sk-canary-1357")
    expect(printed()).not.toContain("sk-canary")
  })

  it("a bad knob stops the start, by name", () => {
    const { status, stderr } = runWith({ SWITCHGEAR_PROVIDER_CIRCUIT_BREAKER_FAILURES: "0" }, "demo", "--port", "0")
    expect([status, stderr.includes("SWITCHGEAR_PROVIDER_CIRCUIT_BREAKER_FAILURES")]).toEqual([2, true])
  })
})
