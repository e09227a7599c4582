/** An upstream that costs next to nothing: one Chat Completions answer, as JSON or as 33 events. Prints its port. */
import { createServer } from "node:http"

const answer = Buffer.from(
  JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "m",
    choices: [
      { index: 0, message: { role: "assistant", content: "word ".repeat(80) }, finish_reason: "stop", logprobs: null }
    ],
    usage: { prompt_tokens: 20, completion_tokens: 80, total_tokens: 100 }
  })
)

const frame = (delta: unknown, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }]
  })}\n\n`

/** 33 events: the role, 30 words, the finish, the end. */
const frames: ReadonlyArray<Buffer> = [
  frame({ role: "assistant", content: "" }, null),
  ...Array.from({ length: 30 }, (_, i) => frame({ content: `word${i} ` }, null)),
  frame({}, "stop"),
  "data: [DONE]\n\n"
].map((text) => Buffer.from(text))

const server = createServer((request, response) => {
  let stream = false
  request.on("data", (chunk: Buffer) => {
    stream ||= chunk.includes('"stream":true')
  })
  request.on("end", () => {
    if (!stream) {
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.length })
      response.end(answer)
      return
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    let at = 0
    // An event per turn, so that they do not arrive as one chunk: as a model's do not.
    const next = () => {
      const chunk = frames[at++]
      if (chunk === undefined) response.end()
      else if (!response.destroyed) {
        response.write(chunk)
        setImmediate(next)
      }
    }
    next()
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`listening ${typeof address === "object" && address !== null ? address.port : 0}\n`)
})
