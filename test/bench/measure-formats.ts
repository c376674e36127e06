import { closedLoop, type LoadResult, quantiles } from './apply-load.ts'
import type { BenchSetup } from './bench-setup.ts'
import type { BenchLength } from './measure-load.ts'
import { cpuSeconds } from './pinned-processes.ts'
import type { Table } from './results-file.ts'

/** A channel type for each format of a provider. */
const PROVIDERS = {
  chat: 8,
  messages: 14,
  responses: 1,
  gemini: 24,
} as const
type Format = keyof typeof PROVIDERS

/** The format of the caller and that of the provider. */
const ROUTES: readonly (readonly [Format, Format])[] = [
  ['chat', 'chat'],
  ['messages', 'messages'],
  ['responses', 'responses'],
  ['gemini', 'gemini'],
  ['messages', 'chat'],
  ['responses', 'chat'],
  ['gemini', 'chat'],
  ['chat', 'messages'],
  ['chat', 'gemini'],
  ['messages', 'gemini'],
]
const BODIES_KB = [1, 100, 1_000]
const CONNECTIONS = 32
/** The seconds of each load: the loads of one body size are many. */
const MAX_SECONDS = 2

const modelOf = (provider: Format): string => `bench-${provider}`

/** Adds a channel of each format in front of a provider that answers in all of them. */
export async function addFormatChannels(rig: BenchSetup): Promise<void> {
  const prices: Record<string, number> = { 'sim-small': 0.001, timed: 0.001 }
  for (const provider of Object.keys(PROVIDERS) as Format[]) {
    prices[modelOf(provider)] = 0.001
    await rig.console.must('POST', '/api/channel/', {
      name: modelOf(provider),
      type: PROVIDERS[provider],
      key: 'sk-upstream',
      base_url: rig.allFormatsUrl,
      models: modelOf(provider),
      group: 'default',
    })
  }
  const value = JSON.stringify(prices)
  await rig.console.must('PUT', '/api/option/', { key: 'ModelRatio', value })
}

type Measured = LoadResult & { readonly cpuUs: number }

/** Measures the formats with each size of body, and shows each table as soon as it is known. */
export async function measureFormats(
  rig: BenchSetup,
  length: BenchLength,
  show: (table: Table) => void,
): Promise<void> {
  await addFormatChannels(rig)
  for (const kb of BODIES_KB) show(await measureBodySize(rig, kb, length))
}

/** Measures streams and plain answers of each route, one after another in each round. */
async function measureBodySize(rig: BenchSetup, kb: number, length: BenchLength): Promise<Table> {
  const loads = [true, false].flatMap((isStream) => ROUTES.map((route) => ({ isStream, route })))
  const results = loads.map((load) => ({ load, rounds: [] as Measured[] }))
  const seconds = Math.min(length.seconds, MAX_SECONDS)
  for (let round = -1; round < length.rounds; round += 1) {
    for (const { load, rounds } of results) {
      const { route, isStream } = load
      const target = targetOf(rig, route, isStream)
      const before = cpuSeconds(rig.pids.tallygate)
      const body = bodyOf(route, kb, isStream)
      const result = await closedLoop(target, body, { connections: CONNECTIONS, seconds })
      const cpuUs = ((cpuSeconds(rig.pids.tallygate) - before) * 1e6) / Math.max(1, result.count)
      if (round >= 0) rounds.push({ ...result, cpuUs })
    }
  }
  const cpuOf = (rounds: readonly Measured[]) => quantiles(rounds.map(({ cpuUs }) => cpuUs)).p50
  const rows = results.map(({ load: { isStream, route }, rounds }) => {
    const chat = results.find(({ load }) => load.isStream === isStream && load.route === ROUTES[0])
    const [caller, provider] = route
    return [
      isStream ? 'streamed' : 'plain',
      caller === provider ? caller : `${caller} → ${provider}`,
      quantiles(rounds.map(({ count, seconds: time }) => count / time)).p50.toFixed(0),
      cpuOf(rounds).toFixed(0),
      (cpuOf(rounds) / cpuOf(chat?.rounds ?? rounds)).toFixed(2),
      String(rounds.reduce((sum, { errors }) => sum + errors, 0)),
    ]
  })
  return {
    title: `Formats and conversions, bodies of ${kb} KB, ${CONNECTIONS} connections`,
    head: ['load', 'format', 'calls/s', 'CPU µs', '÷ chat', 'errors'],
    rows,
  }
}

function targetOf(
  rig: BenchSetup,
  [caller, provider]: readonly [Format, Format],
  isStream: boolean,
) {
  const { url, headers } = rig.targets.tallygate
  const { origin } = new URL(url)
  const action = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const path = {
    chat: '/v1/chat/completions',
    messages: '/v1/messages',
    responses: '/v1/responses',
    gemini: `/v1beta/models/${modelOf(provider)}:${action}`,
  }[caller]
  return { url: `${origin}${path}`, headers }
}

const SENTENCE = 'Explain in plain words how a gateway accounts for every call that it relays. '

/** Returns the body of an agent's turn: instructions, tools and a conversation. */
function bodyOf(
  [caller, provider]: readonly [Format, Format],
  kb: number,
  isStream: boolean,
): string {
  const model = modelOf(provider)
  const turns = Math.max(1, Math.round(kb / 4))
  const text = SENTENCE.repeat(Math.ceil((kb * 1_000) / turns / SENTENCE.length))
  const texts = Array.from({ length: turns }, (_, at) => [at % 2 === 0, text] as const)
  const roleOf = (isUser: boolean, assistant: string) => (isUser ? 'user' : assistant)
  const stream = isStream ? { stream: true } : {}
  const content = texts.map(([isUser, value]) => ({
    role: roleOf(isUser, 'assistant'),
    content: value,
  }))
  switch (caller) {
    case 'chat':
      return JSON.stringify({ model, messages: content, max_tokens: 100, ...stream })
    case 'messages':
      return JSON.stringify({ model, messages: content, max_tokens: 100, ...stream })
    case 'responses':
      return JSON.stringify({
        model,
        input: content,
        max_output_tokens: 100,
        store: false,
        ...stream,
      })
    case 'gemini': {
      const contents = texts.map(([isUser, value]) => ({
        role: roleOf(isUser, 'model'),
        parts: [{ text: value }],
      }))
      return JSON.stringify({ contents, generationConfig: { maxOutputTokens: 100 } })
    }
  }
}
