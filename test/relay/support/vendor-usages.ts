/** How a vendor with OpenAI's format reports the usage of one answer, plain and streamed. */
export type VendorUsage = {
  readonly name: string
  readonly type: number
  /** The members of the plain answer besides its choices. */
  readonly plain: object
  /** The events of the stream, from the first to the last one with data. */
  readonly stream: readonly object[]
  /** The counts that must be billed. */
  readonly billed: object
}

const delta = (content: string, more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }],
})
const HELLO = delta('Hello')
const STOP = delta('', { finish_reason: 'stop' })
/** An event without choices, with the usage. */
const atEnd = (usage: object) => ({ id: 'c1', choices: [], usage })

const row = (
  [type, name]: readonly [number, string],
  usage: object,
  billed: object,
  stream: readonly object[] = [HELLO, STOP, atEnd(usage)],
): VendorUsage => ({ name, type, plain: { usage }, stream, billed })

const [TOTALS, BILLED] = [
  { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  { inputUncached: 100, output: 20 },
]
const CACHED = { inputUncached: 36, cacheRead: 64, output: 20 }

const DEEPSEEK = {
  ...TOTALS,
  prompt_tokens_details: { cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 12 },
  prompt_cache_hit_tokens: 64,
  prompt_cache_miss_tokens: 36,
}
const { prompt_tokens_details: _, ...OLDER_DEEPSEEK } = DEEPSEEK
const MOONSHOT = { ...TOTALS, cached_tokens: 64 }
const DASH_SCOPE = {
  ...TOTALS,
  prompt_tokens_details: {
    ...{ cached_tokens: 30, cache_creation_input_tokens: 50, cache_type: 'ephemeral' },
    cache_creation: { ephemeral_5m_input_tokens: 50 },
  },
}
const XAI = {
  ...{ prompt_tokens: 100, completion_tokens: 20, total_tokens: 420 },
  prompt_tokens_details: { text_tokens: 100, audio_tokens: 0, image_tokens: 0, cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 300, audio_tokens: 0 },
  ...{ num_sources_used: 0, cost_in_usd_ticks: 56_918 },
}
const MISTRAL = {
  ...{ ...TOTALS, prompt_audio_seconds: null, num_cached_tokens: 64 },
  prompt_tokens_details: { cached_tokens: 64 },
}
const VOXTRAL = {
  ...{ prompt_audio_seconds: 12, prompt_tokens: 3, total_tokens: 419, completion_tokens: 41 },
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 375 },
}
const OPEN_ROUTER = {
  ...{ ...TOTALS, cost: 0.00042, is_byok: false },
  prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 50, audio_tokens: 0 },
  cost_details: { upstream_inference_cost: null, upstream_inference_prompt_cost: 0.0001 },
  completion_tokens_details: { reasoning_tokens: 12, image_tokens: 0 },
}
const SONAR = {
  ...{ ...TOTALS, search_context_size: 'low' },
  cost: { input_tokens_cost: 0, output_tokens_cost: 0, request_cost: 0.005, total_cost: 0.005 },
}
const RESEARCH = {
  ...{ prompt_tokens: 1_188, completion_tokens: 4_240, total_tokens: 5_428 },
  ...{ citation_tokens: 8_014, num_search_queries: 54, reasoning_tokens: 92_431 },
  cost: { input_tokens_cost: 0.00238, output_tokens_cost: 0.03392, total_cost: 0.59962 },
}
const SILICON_FLOW = {
  ...{ ...TOTALS, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
  completion_tokens_details: { reasoning_tokens: 12 },
  prompt_tokens_details: { cached_tokens: 64 },
}
const MINIMAX = { ...TOTALS, total_characters: 0 }
const MINIMAX_END = {
  ...{ id: 'c1', object: 'chat.completion', usage: MINIMAX },
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
  base_resp: { status_code: 0, status_msg: '' },
}
const GROQ = { ...TOTALS, queue_time: 0.01, prompt_time: 0.002, total_time: 0.1 }
/** A usage of every event, whose output grows. */
const growing = (usage: object) => [
  { ...HELLO, usage: { ...usage, completion_tokens: 1, total_tokens: 101 } },
  { ...STOP, usage },
]

/** Each vendor's usage as its documents and its answers show it. */
export const VENDOR_USAGES: readonly VendorUsage[] = [
  row([43, 'DeepSeek'], DEEPSEEK, { ...CACHED, reasoning: 12 }, [
    HELLO,
    { ...STOP, usage: DEEPSEEK },
  ]),
  row([43, 'DeepSeek without details'], OLDER_DEEPSEEK, { ...CACHED, reasoning: 12 }),
  row([25, 'Moonshot, in a choice'], MOONSHOT, CACHED, [
    HELLO,
    delta('', { finish_reason: 'stop', usage: MOONSHOT }),
  ]),
  row([26, 'Zhipu v4'], { ...TOTALS, prompt_tokens_details: { cached_tokens: 64 } }, CACHED),
  row([17, 'DashScope with an explicit cache'], DASH_SCOPE, {
    ...{ inputUncached: 20, cacheRead: 30, cacheWrite5m: 50, output: 20 },
  }),
  row([48, 'xAI'], XAI, { inputUncached: 36, cacheRead: 64, output: 320, reasoning: 300 }),
  row([42, 'Mistral'], MISTRAL, CACHED, [HELLO, { ...STOP, usage: MISTRAL }]),
  row([42, 'Mistral with audio'], VOXTRAL, { inputUncached: 3, inputAudio: 375, output: 41 }),
  row([20, 'OpenRouter'], OPEN_ROUTER, {
    ...{ inputUncached: 20, cacheRead: 30, cacheWrite5m: 50, output: 20, reasoning: 12 },
  }),
  row([27, 'Perplexity'], SONAR, BILLED, growing(SONAR)),
  row([27, 'Perplexity’s deep research'], RESEARCH, {
    ...{ inputUncached: 9_202, output: 96_671, reasoning: 92_431 },
  }),
  row([40, 'SiliconFlow'], SILICON_FLOW, { ...CACHED, reasoning: 12 }, growing(SILICON_FLOW)),
  row([35, 'MiniMax'], MINIMAX, BILLED, [HELLO, MINIMAX_END]),
  row([45, 'VolcEngine Ark'], DEEPSEEK, { ...CACHED, reasoning: 12 }),
  row([31, 'LingYiWanWu'], TOTALS, BILLED, [HELLO, { ...STOP, usage: TOTALS }]),
  row([8, 'Groq'], GROQ, BILLED, [HELLO, { ...STOP, x_groq: { id: 'req_1', usage: GROQ } }]),
  row(
    [8, 'StepFun'],
    { ...TOTALS, cached_tokens: 64 },
    CACHED,
    growing({ ...TOTALS, cached_tokens: 64 }),
  ),
  row([8, 'Together'], { ...TOTALS, cached_tokens: 64 }, CACHED, [
    { ...HELLO, usage: null },
    { ...STOP, usage: { ...TOTALS, cached_tokens: 64 } },
  ]),
  row([8, 'Fireworks'], { ...TOTALS, prompt_tokens_details: { cached_tokens: 64 } }, CACHED),
  row(
    [8, 'LiteLLM'],
    { ...TOTALS, prompt_tokens_details: { cached_tokens: 30, cache_creation_tokens: 50 } },
    { inputUncached: 20, cacheRead: 30, cacheWrite5m: 50, output: 20 },
  ),
  row(
    [8, 'New API'],
    { ...TOTALS, prompt_tokens_details: { cached_tokens: 30, cached_creation_tokens: 50 } },
    { inputUncached: 20, cacheRead: 30, cacheWrite5m: 50, output: 20 },
  ),
]
