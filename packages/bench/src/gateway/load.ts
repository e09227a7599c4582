/**
 * The load, from a process of its own: so many connections, each asking again as soon as it was answered, for so many
 * ms. Takes one order per line on stdin, answers with one line of JSON.
 */
import { createInterface } from "node:readline"
import { Pool } from "undici"

export interface Order {
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  readonly stream: boolean
  readonly connections: number
  readonly millis: number
}

export interface Load {
  readonly done: number
  /** Anything but a complete 200. */
  readonly failed: number
  readonly seconds: number
  /** ms */
  readonly p50: number
  readonly p99: number
  /** ms, medians. */
  readonly firstOutput: number
}

const quantile = (sorted: ReadonlyArray<number>, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0

const run = async ({ connections, headers, millis, origin, stream }: Order): Promise<Load> => {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const body = JSON.stringify({
    model: "m",
    messages: [
      { role: "system", content: "You are a helpful assistant. ".repeat(8) },
      { role: "user", content: "Say eighty words about circuit breakers." }
    ],
    ...(stream ? { stream: true } : {})
  })
  const latencies: Array<number> = []
  const firsts: Array<number> = []
  let failed = 0
  const started = performance.now()
  const end = started + millis
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      const at = performance.now()
      const answer = await pool.request({
        path: "/v1/chat/completions",
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body
      })
      let seen = false
      let ended = !stream
      for await (const chunk of answer.body) {
        const bytes: Buffer = chunk
        if (!seen && (!stream || bytes.includes("word0 "))) {
          seen = true
          firsts.push(performance.now() - at)
        }
        if (stream && bytes.includes("[DONE]")) ended = true
      }
      if (answer.statusCode !== 200 || !ended || !seen) failed++
      latencies.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  const seconds = (performance.now() - started) / 1000
  await pool.close()
  latencies.sort((a, b) => a - b)
  firsts.sort((a, b) => a - b)
  return {
    done: latencies.length,
    failed,
    seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    firstOutput: quantile(firsts, 0.5)
  }
}

process.stdout.write("listening 0\n")
for await (const line of createInterface({ input: process.stdin })) {
  const order: Order = JSON.parse(line)
  process.stdout.write(`${JSON.stringify(await run(order))}\n`)
}
