import * as Classifier from "@switchgear/failures/Classifier"
import * as Redact from "@switchgear/failures/Redact"
import * as Thrown from "@switchgear/failures/Thrown"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const chars = (alphabet: string, minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength, maxLength }).map((list) => list.join(""))
const word = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const hex = "0123456789abcdef"
const key = fc.oneof(
  chars(`${word}_-`, 20, 60).map((rest) => `sk-proj-${rest}`),
  chars(`${word}_-`, 20, 90).map((rest) => `sk-ant-api03-${rest}`),
  chars(hex, 64, 64).map((rest) => `sk-or-v1-${rest}`),
  chars(word, 40, 52).map((rest) => `gsk_${rest}`),
  chars(`${word}_-`, 35, 35).map((rest) => `AIza${rest}`),
  chars("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 16, 16).map((rest) => `AKIA${rest}`),
  chars(hex, 32, 32),
  chars(word, 20, 30).map((rest) => `xai-${rest}`)
)
const around = fc.constantFrom(
  (k: string) => `Incorrect API key provided: ${k}. You can find your key at https://example.com/keys`,
  (k: string) => `Authorization: Bearer ${k}`,
  (k: string) => `{"x-api-key":"${k}","a":1}`,
  (k: string) => `GET https://api.example.com/v1/models?key=${k}&alt=sse failed`,
  (k: string) => `https://user:${k}@example.com/`,
  (k: string) => `api_key=${k}`,
  (k: string) => `'${k}' is not a key`,
  (k: string) => `(${k})`,
  (k: string) => `${"x ".repeat(2047)}${k}`,
  (k: string) => `${"words ".repeat(60)}api-key: ${k}`
)

describe("a message that leaves", () => {
  it("holds no key that the body had, and is 500 characters long at most", () => {
    fc.assert(
      fc.property(key, around, fc.constantFrom(400, 401, 429, 500), (secret, wrap, status) => {
        const message = wrap(secret)
        const verdict = Classifier.classify({
          provider: "openai",
          status,
          body: { error: { message, code: secret, type: message } },
          now: 0
        })
        expect(JSON.stringify(verdict)).not.toContain(secret)
        expect(JSON.stringify(Thrown.classify(new Error(message), { now: 0 }))).not.toContain(secret)
        expect(JSON.stringify(Thrown.classify(message, { now: 0 }))).not.toContain(secret)
        expect(Redact.text(message).length).toBeLessThanOrEqual(500)
      }),
      { numRuns: 700 }
    )
  })

  it("holds no secret it was told of, whatever that looks like", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 4 }).filter((secret) => !"[masked]".includes(secret)),
        fc.string(),
        (secret, rest) => {
          expect(Redact.text(`${rest}${secret}${rest}`, [secret])).not.toContain(secret)
        }
      ),
      { numRuns: 500 }
    )
  })

  it("is masked once: masking again changes nothing", () => {
    fc.assert(
      fc.property(key, around, (secret, wrap) => {
        const once = Redact.text(wrap(secret))
        expect(Redact.text(once)).toBe(once)
      }),
      { numRuns: 500 }
    )
  })

  it.each([
    "The model `claude-3-5-sonnet-20241022` does not exist",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
    "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
    "Please go here: https://aka.ms/oai/quotaincrease",
    "meta-llama/Llama-3.3-70B-Instruct-Turbo is overloaded",
    "You exceeded your current quota, please check your plan and billing details.",
    "Basic authentication error; a Bearer token is required"
  ])("keeps words, models and links: %s", (words) => {
    expect(Redact.text(words)).toBe(words)
  })

  it("names no address of ours", () => {
    expect(Redact.text("upstream connect error 10.2.3.4:8080 [fe80::1]:90 at llm.default.svc:80")).toBe(
      "upstream connect error [address] [address] at [address]"
    )
    expect(Redact.local("connect ECONNREFUSED llm.corp:8000 https://llm.corp/v1?x=1")).toBe(
      "connect ECONNREFUSED [address]"
    )
  })

  it("is one line", () => {
    expect(Redact.text("a\r\nb\u0000c")).toBe("a b c")
  })
})
