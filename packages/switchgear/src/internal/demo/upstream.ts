import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** An upstream for trying things out: it speaks Chat Completions, as JSON and as SSE, and fails by a script. */
export interface DemoUpstream {
  readonly baseUrl: string
}

export interface Script {
  readonly name: string
  /** Whether the call with this number (from 0) is answered. */
  readonly answers: (call: number) => boolean
}

const words = (name: string, call: number): ReadonlyArray<string> =>
  `Hello from the ${name} provider, call ${call + 1}.`.split(/(?<= )/)

const completion = (name: string, model: string, call: number) => ({
  id: `chatcmpl-${name}-${call}`,
  object: "chat.completion",
  created: Math.floor(Date.now() / 1000),
  model,
  choices: [{ index: 0, message: { role: "assistant", content: words(name, call).join("") }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: words(name, call).length, total_tokens: 5 + words(name, call).length }
})

const overloaded = {
  error: { message: "The scripted provider is failing now.", type: "server_error", param: null, code: null }
}

const read = async (request: IncomingMessage): Promise<{ readonly model: string; readonly stream: boolean }> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
  const fields = typeof body === "object" && body !== null ? body : {}
  return {
    model: "model" in fields ? String(fields.model) : "demo",
    stream: "stream" in fields && fields.stream === true
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const drip = async (response: ServerResponse, name: string, model: string, call: number): Promise<void> => {
  const frame = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({
      id: `chatcmpl-${name}-${call}`,
      object: "chat.completion.chunk",
      created: Math.floor(Date.now() / 1000),
      model,
      choices: [{ index: 0, delta, finish_reason: finish }]
    })}\n\n`
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(frame({ role: "assistant", content: "" }, null))
  for (const word of words(name, call)) {
    await pause(60)
    if (response.destroyed) return
    response.write(frame({ content: word }, null))
  }
  response.end(`${frame({}, "stop")}data: [DONE]\n\n`)
}

const answer = async (
  script: Script,
  call: number,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> => {
  const { model, stream } = await read(request)
  if (script.answers(call)) {
    if (stream) return drip(response, script.name, model, call)
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify(completion(script.name, model, call)))
  } else {
    response.writeHead(500, { "content-type": "application/json" })
    response.end(JSON.stringify(overloaded))
  }
}

/** Starts one on a free port; it ends with the scope. */
export const demoUpstream = (script: Script): Effect.Effect<DemoUpstream, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
      let calls = 0
      const server = createServer((request, response) => {
        answer(script, calls++, request, response).catch(() => response.destroy())
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          server.close()
          server.closeAllConnections()
        }
        resume(Effect.succeed({ port, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ port }) => ({ baseUrl: `http://127.0.0.1:${port}/v1` })))
