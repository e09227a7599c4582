/** Codes of Node, OpenSSL and undici, and the words of errors that have nothing better. */
import type { Kind } from "../Failure.js"

const codes: ReadonlyArray<readonly [Kind, RegExp]> = [
  [
    "timeout",
    /^(?:ETIMEDOUT|ESOCKETTIMEDOUT|ETIME|ERR_SOCKET_CONNECTION_TIMEOUT|ERR_HTTP_REQUEST_TIMEOUT|UND_ERR_\w*TIMEOUT\w*)$/
  ],
  ["cancelled", /^(?:ABORT_ERR|ERR_CANCELED|UND_ERR_ABORTED|ECANCELED)$/],
  [
    "client_fault",
    /^(?:ERR_INVALID_URL|ERR_INVALID_PROTOCOL|ERR_INVALID_CHAR|ERR_HTTP_INVALID_HEADER_VALUE|UND_ERR_INVALID_ARG|UND_ERR_REQ_CONTENT_LENGTH_MISMATCH|UND_ERR_NOT_SUPPORTED)$/
  ],
  [
    "network_error",
    /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ENOTFOUND|ENODATA|EAI_\w+|E(?:HOST|NET)(?:UNREACH|DOWN)|ENETRESET|EADDRNOTAVAIL|EPROTO|ENOTCONN|ESHUTDOWN|UND_ERR_(?:SOCKET|CLOSED|DESTROYED|INFO|RES_CONTENT_LENGTH_MISMATCH|RESPONSE|HEADERS_OVERFLOW|PRX_TLS)|UND_ERR|HPE_\w+|ERR_STREAM_PREMATURE_CLOSE|ERR_SSL_\w+|ERR_TLS_\w+|ERR_HTTP2_\w+|CERT_\w+|CRL_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+|HOSTNAME_MISMATCH|INVALID_CA|Z_(?:DATA|BUF)_ERROR|ConnectionRefused|ConnectionClosed|FailedToOpenSocket)$/
  ]
]

/** The kind a system error's code stands for. */
export const codeRow = (code: string): Kind | undefined =>
  code === "" ? undefined : codes.find(([, pattern]) => pattern.test(code))?.[0]

const phrases: ReadonlyArray<readonly [Kind, RegExp]> = [
  ["timeout", /\b(?:ETIMEDOUT|UND_ERR_\w{1,20}_TIMEOUT)\b|timed[ -]?out|\btime-?out\b|deadline exceeded/i],
  [
    "cancelled",
    /\b(?:operation|request) was (?:aborted|cancell?ed)|\baborted by the (?:user|caller|client)|^aborted$/i
  ],
  [
    "network_error",
    /\b(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|UND_ERR_SOCKET)\b|socket hang up|other side closed|^terminated$|^fetch failed$|failed to fetch|load failed|network ?error|connection (?:error|refused|reset|closed|terminated)|premature close|certificate (?:has expired|verif)|self-signed certificate|getaddrinfo/i
  ]
]

const statusWords: ReadonlyArray<readonly [Kind, RegExp]> = [
  ["quota_exhausted", /insufficient_quota|exceeded your current quota/i],
  ["rate_limit", /\b429\b|rate[-_ ]?limit|too many requests/i],
  ["overloaded", /\b529\b|overloaded/i],
  ["context_length", /context_length_exceeded|maximum context length/i],
  ["auth", /\b401\b|invalid_api_key|authentication_error/i]
]

/** The kind an error's words stand for; with `answer`, words of an answer that surfaced as a decoding error too. */
export const phraseRow = (words: string, answer: boolean): Kind | undefined => {
  const text = words.slice(0, 4096)
  return (answer ? [...statusWords, ...phrases] : phrases).find(([, pattern]) => pattern.test(text))?.[0]
}
