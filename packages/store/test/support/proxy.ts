import { connect, createServer, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** What stands between a client and its server. */
export interface Proxy {
  readonly port: number
  /** Ends every connection now, in the middle of whatever is on its way. */
  readonly cut: Effect.Effect<void>
  /** `through`: as if it were not there. `hang`: takes everything and answers nothing. `refuse`: hangs up at once. */
  readonly become: (mode: Mode) => Effect.Effect<void>
  /** The next so many bytes that clients send pass, then their connections are cut; they may connect again. */
  readonly cutAfter: (bytes: number) => Effect.Effect<void>
}

export type Mode = "through" | "hang" | "refuse"

/** In front of a server on 127.0.0.1. */
export const proxy = (target: number): Effect.Effect<Proxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<Proxy & { readonly close: () => void }>((resume) => {
      const sockets = new Set<Socket>()
      let mode: Mode = "through"
      let allowance = Number.POSITIVE_INFINITY
      const track = (socket: Socket): Socket => {
        sockets.add(socket)
        return socket.on("error", () => {}).on("close", () => sockets.delete(socket))
      }
      const cut = (): void => {
        for (const socket of sockets) socket.destroy()
      }
      const server = createServer((client) => {
        track(client)
        if (mode === "refuse") return void client.destroy()
        const upstream = track(connect({ host: "127.0.0.1", port: target }))
        client.on("close", () => upstream.destroy())
        upstream.on("close", () => client.destroy())
        upstream.on("data", (data) => (mode === "hang" ? undefined : client.write(data)))
        client.on("data", (data) => {
          if (mode === "hang") return
          const passing = data.subarray(0, allowance)
          allowance -= passing.length
          upstream.write(passing, () => {
            if (allowance > 0) return
            allowance = Number.POSITIVE_INFINITY
            cut()
          })
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(
          Effect.succeed({
            port: typeof address === "object" && address !== null ? address.port : 0,
            cut: Effect.sync(cut),
            become: (next) =>
              Effect.sync(() => {
                mode = next
                if (next !== "through") cut()
              }),
            cutAfter: (bytes) =>
              Effect.sync(() => {
                allowance = bytes
              }),
            close: () => {
              cut()
              server.close()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )
