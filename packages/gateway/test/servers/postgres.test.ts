import { describe, it } from "@effect/vitest"
import pg from "pg"
import { afterAll } from "vitest"
import { answersTravel, breakersTravel, policiesTravel } from "../replicas.js"

const url = process.env["SWITCHGEAR_POSTGRES_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres"
const schema = (name: string) => `gatewaytest_${name}_${process.pid}`
const store = (name: string) => `{ kind: postgres, url: "${url}", namespace: ${schema(name)}, pollInterval: 100 }`

afterAll(async () => {
  const client = new pg.Client(url)
  await client.connect()
  for (const name of ["breakers", "answers", "policies"])
    await client.query(`DROP SCHEMA IF EXISTS ${schema(name)} CASCADE`)
  await client.end()
})

describe("gateways over one PostgreSQL", () => {
  it.scopedLive("a breaker opened on one is open on the other", () => breakersTravel(store("breakers")))
  it.scopedLive("a key that one has answered is replayed by the other", () => answersTravel(store("answers")))
  it.scopedLive("clients and policies put on one are in force on the other", () => policiesTravel(store("policies")))
})
