import type { Settings } from "./walkModel.js"

/** The one place where data becomes `Settings` without the decoder: these literals, which the tests decode. */
const literal = (settings: Omit<Settings, symbol>): Settings => settings as Settings

export const recommended_ = literal({
  on: [
    "circuit_open",
    "server_error",
    "overloaded",
    "timeout",
    "network_error",
    "rate_limit",
    "quota_exhausted",
    "model_unavailable",
    "auth",
    "saturated",
    // only to a target with a larger window, by F4
    "context_length"
  ],
  never: [],
  maxDepth: 1,
  depthCounts: "attempts",
  surface: "primary",
  reorderByHealth: false,
  preferHealthyState: true,
  lastResort: "none",
  budget: 0.5
})

export const ibex_ = literal({
  on: ["circuit_open", "5xx", "timeout"],
  never: ["4xx"],
  maxDepth: 1,
  depthCounts: "listed",
  surface: "primary",
  reorderByHealth: false,
  preferHealthyState: false,
  lastResort: "none",
  budget: 1
})

export const nrLlm_ = literal({
  on: ["network_error", "timeout", "server_error", "overloaded", "rate_limit", "circuit_open"],
  never: [],
  maxDepth: 8,
  depthCounts: "attempts",
  surface: "exhausted",
  reorderByHealth: false,
  preferHealthyState: false,
  lastResort: "none",
  budget: 1
})
