/** What is used of pg, which has no types of its own. */
declare module "pg" {
  export interface Config {
    readonly connectionString: string
    readonly connectionTimeoutMillis: number
    readonly query_timeout?: number
    readonly max?: number
    readonly keepAlive?: boolean
    readonly options?: string
  }
  export interface Notification {
    readonly channel: string
    readonly payload?: string
  }
  export class Pool {
    constructor(config: Config)
    on(event: "error", listener: (error: Error) => void): this
    end(): Promise<void>
  }
  export class Client {
    constructor(config: Config)
    connect(): Promise<void>
    query(statement: string): Promise<unknown>
    on(event: "notification", listener: (notification: Notification) => void): this
    on(event: "error" | "end", listener: () => void): this
    end(): Promise<void>
  }
  const pg: { readonly Pool: typeof Pool; readonly Client: typeof Client }
  export default pg
}
