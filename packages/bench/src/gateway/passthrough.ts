/** What a gateway can be compared with at best: node:http in, an undici Pool out, nothing looked at. Prints its port. */
import { createServer } from "node:http"
import { Pool } from "undici"

const pool = new Pool(process.argv[2] ?? "")

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    pool
      .request({
        path: request.url ?? "/",
        method: "POST",
        headers: { "content-type": "application/json" },
        body: Buffer.concat(chunks)
      })
      .then(({ body, headers, statusCode }) => {
        const length = headers["content-length"]
        response.writeHead(statusCode, {
          "content-type": String(headers["content-type"]),
          ...(typeof length === "string" ? { "content-length": length } : {})
        })
        body.pipe(response)
      })
      .catch(() => response.destroy())
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`listening ${typeof address === "object" && address !== null ? address.port : 0}\n`)
})
