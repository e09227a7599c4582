/** Names of errors, per vendor. Lower case; see `Tables.SignalRow`. */
import type { ProviderKind } from "../ProviderKind.js"
import type { SignalRow } from "./tableModel.js"

export const rows: { readonly [K in ProviderKind | "common"]?: ReadonlyArray<SignalRow> } = {
  anthropic: [
    { kind: "rate_limit", refine: true, signals: ["rate_limit_error"] },
    { kind: "client_fault", signals: ["conflict_error"] }
  ],
  gemini: [
    // The Interactions API's code for a daily cap; its per-minute sibling is `rate_limit_exceeded`.
    { kind: "quota_exhausted", signals: ["quota_exceeded", "quota_exhausted", "billing_disabled", "payment_required"] },
    { kind: "overloaded", signals: ["model_capacity_exhausted"] },
    {
      kind: "auth",
      signals: [
        "api_key_*",
        "access_token_*",
        "credentials_missing",
        "account_state_invalid",
        "service_disabled",
        "consumer_invalid",
        "consumer_suspended"
      ]
    }
  ],
  bedrock: [
    {
      kind: "rate_limit",
      refine: true,
      signals: ["throttlingexception", "toomanyrequestsexception", "servicequotaexceededexception"]
    },
    { kind: "model_unavailable", signals: ["modelnotreadyexception", "resourcenotfoundexception", "ftuformnotfilled"] },
    { kind: "timeout", signals: ["modeltimeoutexception"] },
    {
      kind: "server_error",
      signals: ["modelerrorexception", "modelstreamerrorexception", "internalserverexception", "internalfailure"]
    },
    {
      kind: "auth",
      signals: [
        "unrecognizedclientexception",
        "invalidsignatureexception",
        "incompletesignature*",
        "expiredtoken*",
        "missingauthenticationtoken*",
        "invalidclienttokenid",
        "requestexpired",
        "notauthorized",
        "optinrequired"
      ]
    }
  ],
  mistral: [
    { kind: "rate_limit", refine: true, signals: ["1300", "rate_limited"] },
    { kind: "overloaded", signals: ["3505"] },
    { kind: "model_unavailable", signals: ["1500", "invalid_model"] },
    { kind: "context_length", signals: ["3050", "3051"] }
  ],
  groq: [{ kind: "model_unavailable", signals: ["model_terms_required", "model_not_active"] }],
  openrouter: [
    // A budget for what is running now: it refills in seconds, and comes with a Retry-After.
    { kind: "rate_limit", signals: ["openrouter_in_flight_budget", "in_flight_budget_exhausted"] },
    { kind: "rate_limit", scope: "provider+model", refine: true, signals: ["upstream_provider_shared_pool"] },
    { kind: "quota_exhausted", scope: "key", signals: ["openrouter_key_limit"] },
    {
      kind: "quota_exhausted",
      scope: "project",
      signals: ["openrouter_workspace_budget", "openrouter_guardrail_budget"]
    },
    { kind: "quota_exhausted", signals: ["*_daily", "*_monthly", "openrouter_credits", "weight_exceeds_budget"] },
    { kind: "client_fault", signals: ["invalid_prompt", "string_too_long", "max_tokens_exceeded"] }
  ],
  common: [
    { kind: "quota_exhausted", scope: "project", signals: ["project_spend_limit_*", "workspace_spend_limit_*"] },
    {
      kind: "quota_exhausted",
      signals: [
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "*_spend_limit_*",
        "spend_limit_*",
        "credit_balance_*",
        "credit_limit",
        "organization_usage_limit_exceeded",
        "usage_limit_reached",
        "insufficient_credits",
        "insufficient_balance",
        "insufficient_funds",
        "payment_required",
        "budget_exceeded",
        "exceeded_current_quota_error"
      ]
    },
    {
      kind: "overloaded",
      signals: [
        "overloaded_error",
        "overloaded",
        "server_is_overloaded",
        "server_overloaded",
        "engine_overloaded*",
        "provider_overloaded",
        "capacity_exceeded",
        "*_capacity_exceeded",
        "over_capacity",
        "model_overloaded",
        "nocapacity",
        "no_capacity",
        "insufficient_system_resource"
      ]
    },
    {
      kind: "auth",
      signals: [
        "invalid_api_key",
        "incorrect_api_key",
        "missing_api_key",
        "no_api_key",
        "api_key_invalid",
        "api_key_expired",
        "api_key_disabled",
        "invalid_authentication*",
        "authentication_error",
        "authenticationerror",
        "unauthenticated",
        "account_deactivated",
        "access_terminated",
        "ip_not_authorized"
      ]
    },
    {
      kind: "context_length",
      signals: [
        "context_length*",
        "context_window_exceeded*",
        "contextwindowexceedederror",
        "model_context_window_exceeded",
        "model_max_prompt_tokens_exceeded",
        "tokens_limit_reached",
        "exceed_context_size_error",
        "prompt_too_long"
      ]
    },
    {
      kind: "content_filter",
      signals: [
        "content_filter*",
        "content_policy_violation",
        "contentpolicyviolationerror",
        "content_management_policy",
        "responsibleaipolicyviolation",
        "image_content_policy_violation",
        "moderation_blocked",
        "moderation_flagged",
        "invalid_prompt",
        "data_inspection_failed",
        "datainspectionfailed",
        "safety_violation",
        "prompt_blocked"
      ]
    },
    {
      kind: "model_unavailable",
      signals: [
        "model_not_found",
        "model_not_available",
        "model_unavailable",
        "model_not_ready",
        "model_decommissioned",
        "model_deprecated",
        "deploymentnotfound",
        "deployment_not_found"
      ]
    },
    { kind: "client_fault", signals: ["previous_response_not_found", "unknown_url", "unknown_parameter"] },
    {
      kind: "rate_limit",
      refine: true,
      signals: [
        "rate_limit*",
        "ratelimiterror",
        "ratelimitreached",
        "too_many_requests",
        "toomanyrequests",
        "throttling*",
        "slow_down"
      ]
    }
  ]
}
