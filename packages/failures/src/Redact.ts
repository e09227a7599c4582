/**
 * Masks what looks like a secret in a text that leaves the process. Vendors echo keys ("Incorrect API key provided:
 * sk-..."), proxies echo headers and addresses.
 *
 * @since 0.1.0
 */

const mask = "[masked]"

/** No message that leaves is longer, in UTF-16 units. */
const bound = 500

/** Read no further than this, so that a hostile body costs little. */
const readable = 4096

const patterns: ReadonlyArray<readonly [RegExp, string]> = [
  // userinfo in a URL, then keys in its query
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@?#"'<>]{1,400}@/gi, `$1${mask}@`],
  [/([?&][a-z0-9_.-]{0,40}(?:key|token|secret|sig|signature|password|auth|credential)=)[^&\s"'<>#]+/gi, `$1${mask}`],
  [/\b(bearer|basic)\s+(?!realm\b|auth|token|error|scheme)[a-z0-9+/_.~=*-]{4,}/gi, `$1 ${mask}`],
  // a name of a secret and its value, as header, JSON or assignment
  [
    /\b((?:x-)?(?:[a-z]{1,12}[-_])?(?:api[-_ ]?keys?|apikey|access[-_ ]?keys?(?:[-_ ]?id)?|access[-_ ]?token|auth[-_ ]?token|session[-_ ]?token|security[-_ ]?token|secret(?:[-_ ]?(?:access[-_ ]?)?key)?|client[-_ ]?secret|subscription[-_ ]?key|password|passwd|authorization)(?:["']{0,2}| provided| is| was){0,2}\\?["']?\s*[=:]\s*\\?["']?)(?!\[masked\]|Bearer |Basic )[^\s"'\\,;&<>]{3,}/gi,
    `$1${mask}`
  ],
  // keys known by their beginning
  [/\b(?:sk|rk|pk)[-_](?:ant|or|proj|svcacct|admin|live|test|lf)?[a-z0-9_*-]{4,}/gi, mask],
  [
    /\b(?:gsk|xai|pplx|hf|nvapi|fw|tgp|csk|r8|ghp|gho|ghs|glpat|github_pat|xox[abprs]|bfl|vcp|dop|AQ)[-_.][a-z0-9_*.-]{10,}/gi,
    mask
  ],
  [/\bAIza[a-z0-9_*-]{10,}/gi, mask],
  [/\bya29\.[a-z0-9_*.-]{6,}/gi, mask],
  [/\b(?:AKIA|ASIA|ABIA|ACCA|ABSK|bedrock-api-key-)[a-z0-9+/=*-]{12,}/gi, mask],
  [/\beyJ[a-z0-9_-]{6,}\.[a-z0-9_-]{6,}(?:\.[a-z0-9_-]*)?/gi, mask]
]

const ip =
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\[[0-9a-f:]*:[0-9a-f:.]{2,}\](?::\d{1,5})?|\b(?:localhost|(?:[a-z0-9-]{1,63}\.){1,8}(?:internal|local|svc|lan|corp|intranet))(?::\d{1,5})?\b/gi

/** A run of key characters is a secret when no word or version explains it. */
const isToken = (run: string): boolean => {
  if (/^[0-9a-f]{32,}$/i.test(run)) return true
  const mixed = /\d/.test(run) && /[a-z]/i.test(run)
  if (!mixed) return false
  if (/[A-Z]/.test(run) && /[a-z]/.test(run) && run.length >= 36 && !/[-_.].*[-_.].*[-_.]/.test(run)) return true
  return run.split(/[-_.+/=]/).some((part) => part.length >= 20 && /\d/.test(part) && /[a-z]/i.test(part))
}

/**
 * Masks keys, tokens, credentials in URLs and internal addresses, and the given secrets whatever they look like; then
 * cuts to 500 characters.
 *
 * @example
 * ```ts
 * import * as Redact from "@switchgear/failures/Redact"
 * import * as assert from "node:assert"
 *
 * assert.strictEqual(
 *   Redact.text("Incorrect API key provided: sk-proj-abcdef1234567890."),
 *   "Incorrect API key provided: [masked]"
 * )
 * ```
 *
 * @since 0.1.0
 * @category masking
 */
export const text = (input: string, secrets: ReadonlyArray<string> = []): string => {
  let out = input
  for (const secret of secrets) if (secret !== "") out = out.split(secret).join(mask)
  if (out.length > readable) {
    // What the cut would split is dropped whole: the first half of a key is part of a key.
    out = out.slice(0, readable).replace(/\S+$/, "")
  }
  for (const [pattern, replacement] of patterns) out = out.replace(pattern, replacement)
  out = out.replace(/[A-Za-z0-9_+/=.-]{20,}/g, (run) => (isToken(run) ? mask : run))
  out = out.replace(ip, "[address]")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a message goes into logs, one line each.
  out = out.replace(/[\u0000-\u001f\u007f]+/g, " ").trim()
  return out.length > bound ? `${out.slice(0, bound - 1).replace(/[\ud800-\udbff]$/, "")}…` : out
}

/**
 * As `text`, and without any URL: for what is thrown on our side of the wire, whose words name the upstream.
 *
 * @example
 * ```ts
 * import * as Redact from "@switchgear/failures/Redact"
 * import * as assert from "node:assert"
 *
 * assert.strictEqual(Redact.local("POST http://llm.corp:8000/v1 failed"), "POST [address] failed")
 * ```
 *
 * @since 0.1.0
 * @category masking
 */
export const local = (input: string, secrets: ReadonlyArray<string> = []): string =>
  text(
    input
      .slice(0, readable)
      .replace(/\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>)]+/gi, "[address]")
      .replace(/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|EHOSTUNREACH)\s+[^\s,;]+/g, "$1"),
    secrets
  )

/**
 * A vendor's code as it may be shown: short and printable, or nothing.
 *
 * @example
 * ```ts
 * import * as Redact from "@switchgear/failures/Redact"
 * import * as assert from "node:assert"
 *
 * assert.strictEqual(Redact.code("insufficient_quota"), "insufficient_quota")
 * assert.strictEqual(Redact.code("sk-proj-abcdef1234567890"), undefined)
 * ```
 *
 * @since 0.1.0
 * @category masking
 */
export const code = (input: string, secrets: ReadonlyArray<string> = []): string | undefined =>
  /^[\w.:-]{1,80}$/.test(input) && text(input, secrets) === input ? input : undefined
