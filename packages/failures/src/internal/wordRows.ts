/** Words that refine a status, first match first; see `Tables.WordRow`. Patterns are bounded, so that none backtracks far. */
import type { WordRow } from "./tableModel.js"

const tooLong =
  /maximum (?:context|prompt|sequence|model) length|context (?:length|window|size|limit)|context_length|(?:prompt|input|conversation|request) (?:is |are |was )?too long|input token count|exceeds? (?:the )?(?:maximum|max)(?: allowed)? (?:number of )?(?:input |prompt )?tokens|(?<![a-z]_)tokens? (?:count |limit )?exceed(?:s|ed)?(?: the)? (?:model|maximum|max|limit|context)|exceed\w{0,3} (?:the )?model(?:'s)? token limit|must have less than \d{1,12} tokens|range of input length|prompt (?:has|contains|with) \d{1,12} (?:input )?tokens|max_tokens must be at least 1, got -|max_new_tokens`? must be <=|max_tokens.{0,40}context length|reduce the length of (?:the|your) (?:messages|prompt|input)|maximum allowed input length|input length .{0,60}exceed|too many (?:total |input |prompt )?tokens:|too large for model with/i

const byTheMinute =
  /per[-_ ]?(?:min\b|minute|sec\b|second|hour)|\/ ?(?:min|sec|hour)|\b[TR]P[MS]\b|concurren|(?:retry|try again)(?: in| after) \d{1,2}(?:\.\d{1,15})? ?s/i

export const wordRows: ReadonlyArray<WordRow> = [
  {
    on: [429, 413],
    kind: "context_length",
    words:
      /(?:request|prompt|input|body|message)s?(?: is| are| body)? too (?:large|long|big)[\s\S]{0,200}?(?:token|tpm|per min|context)|reduce your message size/i,
    says: "request too large, beside a limit in tokens"
  },
  {
    on: [400, 402, 403, 429],
    kind: "quota_exhausted",
    words:
      /credit balance .{0,20}(?:too low|insufficient|exhausted|depleted|negative)|(?:out of|insufficient|not enough|no|ran out of|run out of|used (?:up )?all (?:of )?(?:your|the)(?: \w{1,20})?|requires more)(?: remaining| available| prepaid)? (?:credits?|balance|funds)\b|credits? (?:are |is |have been |has been |were )?(?:all )?(?:exhausted|depleted|used up|expired)|insufficient[_ ]quota|billing (?:hard )?(?:cap|limit)|spend(?:ing)?[- ](?:limit|cap)|(?:key|credit) limit exceeded/i,
    says: "credits or balance are used up, a billing or spending cap"
  },
  {
    on: [400, 402, 403, 429],
    kind: "quota_exhausted",
    words:
      /(?:daily|monthly|weekly)[- ](?:[\w-]{1,20} ){0,3}(?:limit|quota|cap|allowance|budget)|(?:tokens?|requests?|calls?|messages?|models?|queries|generations?|limit(?:ed)?|quota|cap|\d)[\W_]{0,3}(?:[a-z]{1,12}[\W_]{1,3}){0,2}(?:per|a|\/)[-_ ]{0,2}(?:day|month|week)(?![a-z])|Per(?:Day|Month)|\b[TR]PD\b|per[- ](?:day|month) (?:\w{1,20} ){0,2}(?:limit|quota)|(?:limit|quota) (?:for the|of the|for this|this) (?:day|month)/i,
    // Whoever names both names the limit that was hit first.
    unless: /(?:per[-_ ]?min|\b[TR]PM\b)[\s\S]{0,400}(?:day|daily|month|\b[TR]PD\b)/i,
    says: "a limit or quota per day, week or month"
  },
  {
    on: [400, 402, 403, 429],
    kind: "quota_exhausted",
    words:
      /\bplan limit|individual quota reached|usage limits?(?: has been| was)? (?:reached|exceeded)|reached (?:your|the|its) (?:specified )?(?:workspace )?(?:api )?usage limit|out of call volume quota/i,
    says: "a plan's, a person's or a configured usage limit is reached"
  },
  {
    on: [400, 402, 403, 429],
    kind: "quota_exhausted",
    words: /exceeded your current quota/i,
    unless: byTheMinute,
    says: "exceeded your current quota, and nothing that counts by the minute or asks for seconds"
  },
  {
    on: [400],
    kind: "auth",
    words:
      /api[-_ ]?key (?:is |was |has )?(?:not valid|invalid|expired|not found|missing|disabled)|(?:invalid|incorrect|missing|expired|no|valid) (?:api[-_ ]?key|x-api-key|credentials|access token|authentication)|authentication (?:failed|required)|security token .{0,40}(?:invalid|expired)/i,
    says: "the key is wrong, missing or expired"
  },
  {
    on: [400, 403, 413, 422, "5xx"],
    kind: "context_length",
    words: tooLong,
    says: "too long for the model's context"
  },
  {
    on: [400, 403, 422],
    kind: "content_filter",
    words:
      /content[-_ ](?:filter|polic|management polic|moderation|safety)|content exists risk|\bflagged\b|safety (?:system|filter|reasons|polic|check|guideline|setting)|usage (?:polic|guideline)|responsible ai|(?:violat\w{1,6}|against) .{0,40}(?:polic|guideline|terms)|blocked by .{0,30}(?:guardrail|filter|polic|safety)|(?:inappropriate|prohibited|harmful|unsafe|sensitive) (?:content|information|words)|requires moderation/i,
    says: "refused by a safety system"
  },
  {
    on: [400],
    kind: "model_unavailable",
    words:
      /not a valid model|model not exist|model identifier is invalid|unknown model\b|invalid model(?: name| id)?:|invalid model name|model[`"' :=]{1,4}[\w./:@-]{1,100}[`"']{0,2} (?:does not exist|(?:was |is |could )?not (?:be )?found|has been (?:deprecated|decommissioned|retired|deleted)|is no longer (?:supported|available))|model .{0,60}end of (?:its )?life/i,
    says: "names no model there is (any more)"
  },
  {
    on: [404],
    kind: "client_fault",
    words:
      /^(?!.*(?:\bmodels?\b|deployment|endpoints? found)).*(?:item with id|previous response|no such (?:file|thread|assistant|vector store|container|prompt|response)|(?:file|thread|assistant|vector store|container|conversation|response|batch)(?: with id)? .{0,80}not found|invalid url|unknown request url)/is,
    says: "something other than the model is missing"
  },
  {
    on: [429, 503],
    kind: "overloaded",
    words:
      /overload|high (?:demand|load|traffic)|heavy (?:load|traffic)|peak load|(?:at|over|no|insufficient|out of|limited|not enough|lacks?|sufficient|full|maximum) (?:available |current )?(?:capacity|resources)|capacity (?:is |has been |was )?(?:exceeded|exhausted|reached|full|constrain|limited|unavailable|available)|lack of capacity|(?:currently|temporarily|server is|server|too) busy|no (?:available|healthy) (?:workers?|replicas?|instances?|servers?|capacity)|maximum pending requests|queue is full|unable to keep up/i,
    says: "high demand, or no capacity"
  },
  {
    on: [503],
    kind: "overloaded",
    words: /too many connections/i,
    says: "too many connections to the vendor"
  },
  {
    on: [503],
    kind: "model_unavailable",
    words:
      /loading (?:the )?model|model (?:\S{1,100} )?is (?:currently |still )?(?:loading|not ready|warming|starting)/i,
    says: "the model is not ready"
  }
]
