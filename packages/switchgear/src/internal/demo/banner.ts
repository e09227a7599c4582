const curl = (url: string, model: string): string =>
  `curl -i ${url}/v1/chat/completions -H 'content-type: application/json' \\
    -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`

const watch = (
  url: string,
  data: string
): string => `Watch the breakers (state, why, until when, transitions), and what providers did:
  npx switchgear breakers --watch --url ${url}
  curl -s ${url}/admin/breakers
  curl -s ${url}/admin/health

Breakers and telemetry are kept in ${data}: a restart remembers. Delete it to start anew.
`

export const scriptedBanner = (url: string, data: string): string => `
switchgear demo, listening on ${url}

Two scripted providers. The primary answers five calls, then fails four; the backup always answers.

Try this, ten times or so:
  ${curl(url, "demo")}

When the primary fails, the answer comes from the backup, with the headers X-Switchgear-Provider-Fallback and
X-Switchgear-Provider-Used. After three failures in a row the primary's breaker opens: for 10 seconds it gets no call,
then one probe, and when a probe succeeds it is back. Add "stream":true for a stream.

${watch(url, data)}
With a real key:
  OPENAI_API_KEY=sk-... npm start
or write a file that names your providers and models and run: npx switchgear gateway --config gateway.yaml

`

export const openAiBanner = (url: string, data: string): string => `
switchgear demo, listening on ${url}

OpenAI with your key from OPENAI_API_KEY: gpt-4o, and gpt-4o-mini when that fails.

Try:
  ${curl(url, "gpt-4o-mini")}

${watch(url, data)}
Without OPENAI_API_KEY it serves two scripted providers that fail now and then. For other providers and models write a
file that names them and run: npx switchgear gateway --config gateway.yaml

`
