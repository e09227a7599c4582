import { accessSync, constants, existsSync, mkdirSync, renameSync, statSync } from "node:fs"
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

export type Problem = "Folder" | "ReadOnly" | "Foreign" | "Full" | "Busy" | "Unreadable"

/** Why a file cannot be used. */
export class Unusable extends Error {
  constructor(readonly problem: Problem) {
    super(problem)
  }
}

const codeOf = (error: unknown): string => {
  const code = Predicate.hasProperty(error, "code") ? error.code : undefined
  return typeof code === "string" ? code : ""
}

class Damaged extends Error {
  readonly code = "SQLITE_CORRUPT"
}

const isDamage = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")
}

const writable = (file: string): boolean => {
  try {
    accessSync(existsSync(file) ? file : dirname(file), constants.W_OK)
    accessSync(dirname(file), constants.W_OK)
    return true
  } catch {
    return false
  }
}

const unusable = (error: unknown, file: string): Unusable => {
  if (error instanceof Unusable) return error
  const code = codeOf(error)
  if (code === "SQLITE_FULL") return new Unusable("Full")
  if (code.startsWith("SQLITE_BUSY")) return new Unusable("Busy")
  return new Unusable(code.startsWith("SQLITE_READONLY") || !writable(file) ? "ReadOnly" : "Unreadable")
}

/** Marks a file as ours, in its header: "SWGR". */
const applicationId = 0x53574752

type Owner = "ours" | "nobody" | "another"

/** Whose file it is, before anything is changed in it. */
const ownerOf = async (client: Client): Promise<Owner> => {
  const [id] = (await client.execute("PRAGMA application_id")).rows
  if (id?.[0] === applicationId) return "ours"
  const { rows } = await client.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
  return rows.length === 0 || rows.some(({ name }) => name === "switchgear_migrations") ? "nobody" : "another"
}

/** Shows that it can be written; that another process does just now shows it too. */
const write = async (client: Client, owner: Owner): Promise<void> => {
  try {
    if (owner === "ours") await client.executeMultiple("BEGIN IMMEDIATE; ROLLBACK")
    else await client.execute(`PRAGMA application_id = ${applicationId}`)
  } catch (error) {
    if (!codeOf(error).startsWith("SQLITE_BUSY")) throw error
  }
}

const connect = async (path: string, synchronous: "NORMAL" | "FULL"): Promise<Client> => {
  const client = createClient({ url: path === ":memory:" ? path : pathToFileURL(path).href })
  try {
    // Waiting for another process blocks the event loop: no more than 50 ms of it.
    await client.execute("PRAGMA busy_timeout = 50")
    const owner = await ownerOf(client)
    if (owner === "another") throw new Unusable("Foreign")
    await client.execute("PRAGMA journal_mode = WAL")
    await client.execute(`PRAGMA synchronous = ${synchronous}`)
    // Broken pages show in nothing else until they are read.
    const { rows } = await client.execute("PRAGMA quick_check(1)")
    if (rows[0]?.[0] !== "ok") throw new Damaged("quick_check failed")
    await write(client, owner)
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

const folderOf = (file: string): void => {
  try {
    mkdirSync(dirname(file), { recursive: true })
  } catch {
    throw new Unusable("Folder")
  }
}

const identity = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino

export interface Opened {
  readonly client: Client
  /** Where a damaged file was moved to; a fresh one was begun in its place. */
  readonly aside: string | undefined
}

/** Fails with `Unusable`. */
export const open = async (path: string, synchronous: "NORMAL" | "FULL"): Promise<Opened> => {
  if (path === ":memory:") return { client: onOneConnection(await connect(path, synchronous)), aside: undefined }
  const file = resolve(path)
  folderOf(file)
  const opened = async (): Promise<Client> => onOneConnection(await connect(file, synchronous))
  const before = identity(file)
  try {
    return { client: await opened(), aside: undefined }
  } catch (error) {
    if (!isDamage(error)) throw unusable(error, file)
    try {
      // Another process that found the damage too may have begun a fresh one meanwhile.
      const aside = identity(file) === before ? setAside(file) : undefined
      return { client: await opened(), aside }
    } catch (second) {
      throw unusable(second, file)
    }
  }
}
