import { connect, createServer, type Server, type Socket } from "node:net"

/** What becomes of what a client sends. */
export type Mode = "passes" | "hangs" | "hangs up" | "errors"

const commands = /(?:^|\r\n)\*\d+\r\n\$/g

/** Stands before a server, counts what is sent to it, and is away when told to. */
export class Proxy {
  /** Pieces that clients have sent. */
  sent = 0
  private mode: Mode = "passes"
  private readonly sockets = new Set<Socket>()

  private constructor(
    private readonly server: Server,
    readonly port: number
  ) {}

  static start(target: number): Promise<Proxy> {
    return new Promise((resolve) => {
      const server = createServer()
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const proxy = new Proxy(server, typeof address === "object" && address !== null ? address.port : 0)
        server.on("connection", (client) => proxy.join(client, target))
        resolve(proxy)
      })
    })
  }

  set(mode: Mode): void {
    this.mode = mode
    // What was kept back is never delivered, as from a server that has died.
    if (mode !== "errors") this.hangUp()
  }

  end(): void {
    this.hangUp()
    this.server.close()
  }

  private hangUp(): void {
    if (this.mode === "hangs") return
    for (const socket of this.sockets) socket.destroy()
    this.sockets.clear()
  }

  private join(client: Socket, target: number): void {
    if (this.mode === "hangs up") return void client.destroy()
    const upstream = connect(target, "127.0.0.1")
    for (const socket of [client, upstream]) {
      this.sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        this.sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on("data", (data) => {
      this.sent++
      if (this.mode === "passes") upstream.write(data)
      if (this.mode === "errors") {
        for (const _ of data.toString("latin1").matchAll(commands)) client.write("-ERR out of order\r\n")
      }
    })
    upstream.on("data", (data) => {
      if (this.mode === "passes") client.write(data)
    })
  }
}
