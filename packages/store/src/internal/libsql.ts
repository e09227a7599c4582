import { existsSync, mkdirSync, renameSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { type Client, createClient, type Transaction } from "@libsql/client"
import * as Predicate from "effect/Predicate"

/**
 * libsql gives its connection to a transaction and opens another for what follows: two file descriptors a transaction,
 * and the PRAGMAs are gone. This one runs BEGIN IMMEDIATE to COMMIT on the one connection, which is safe because
 * SqlClient lets nobody else in meanwhile.
 */
const onOneConnection = (client: Client): Client => {
  const begin = async (): Promise<Transaction> => {
    await client.execute("BEGIN IMMEDIATE")
    let open = true
    const end = async (statement: string): Promise<void> => {
      if (!open) return
      await client.execute(statement)
      open = false
    }
    return {
      execute: (statement) => client.execute(statement),
      batch: (statements) => Promise.all(statements.map((statement) => client.execute(statement))),
      executeMultiple: (statements) => client.executeMultiple(statements),
      commit: () => end("COMMIT"),
      rollback: () => end("ROLLBACK"),
      close: () => void end("ROLLBACK").catch(() => {}),
      get closed() {
        return !open
      }
    }
  }
  return new Proxy(client, {
    get: (target, key) => {
      if (key === "transaction") return begin
      const value: unknown = Reflect.get(target, key, target)
      // libsql keeps its connection in private fields, which a proxy has not.
      return typeof value === "function" ? value.bind(target) : value
    }
  })
}

const isDamage = (error: unknown): boolean => {
  const code = Predicate.hasProperty(error, "code") ? error.code : undefined
  return code === "SQLITE_NOTADB" || (typeof code === "string" && code.startsWith("SQLITE_CORRUPT"))
}

class Damaged extends Error {
  readonly code = "SQLITE_CORRUPT"
}

const connect = async (path: string, synchronous: "NORMAL" | "FULL"): Promise<Client> => {
  const client = createClient({ url: path === ":memory:" ? path : pathToFileURL(path).href })
  try {
    // Waiting for another process blocks the event loop: no more than 50 ms of it.
    await client.execute("PRAGMA busy_timeout = 50")
    await client.execute("PRAGMA journal_mode = WAL")
    await client.execute(`PRAGMA synchronous = ${synchronous}`)
    // Broken pages show in nothing else until they are read.
    const { rows } = await client.execute("PRAGMA quick_check(1)")
    if (rows[0]?.[0] !== "ok") throw new Damaged("quick_check failed")
    return client
  } catch (error) {
    client.close()
    throw error
  }
}

/** Moves a file and what belongs to it to a name that is free. */
const setAside = (path: string): string => {
  let count = 1
  while (existsSync(`${path}.corrupt-${count}`)) count++
  const aside = `${path}.corrupt-${count}`
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  }
  return aside
}

export interface Opened {
  readonly client: Client
  /** Where a damaged file was moved to; a fresh one was begun in its place. */
  readonly aside: string | undefined
}

export const open = async (path: string, synchronous: "NORMAL" | "FULL"): Promise<Opened> => {
  if (path === ":memory:") return { client: onOneConnection(await connect(path, synchronous)), aside: undefined }
  const file = resolve(path)
  mkdirSync(dirname(file), { recursive: true })
  try {
    return { client: onOneConnection(await connect(file, synchronous)), aside: undefined }
  } catch (error) {
    if (!isDamage(error)) throw error
    const aside = setAside(file)
    return { client: onOneConnection(await connect(file, synchronous)), aside }
  }
}
