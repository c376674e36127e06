import type { ContextTiers } from './context-tiers.ts'
import { decimalOf, decimalText, quotient } from './decimal.ts'
import { addOpenRouterNames } from './openrouter-aliases.ts'
import type { ContextTier, DecimalText } from './price-snapshot.ts'

/**
 * A row of models with the same list prices, in dollars per million tokens. `built-in-prices.md`
 * has the date and source of each row. Models whose price is uncertain are omitted.
 */
type PricedModels = {
  readonly models: readonly string[]
  readonly input: DecimalText
  readonly output: DecimalText
  readonly cacheRead?: DecimalText
  /** The price of a cache write with the shortest lifetime. */
  readonly cacheWrite?: DecimalText
  readonly audio?: DecimalText
  readonly audioOutput?: DecimalText
  readonly image?: DecimalText
  readonly imageOutput?: DecimalText
  readonly tiers?: readonly ContextTier[]
}

/** The date on which the prices were read. */
export const BUILT_IN_PRICES_AS_OF = '2026-11-27'

const above = (limit: number, input: DecimalText, output: DecimalText): readonly ContextTier[] => [
  { above: limit, input, output },
]
const OPENAI_LONG = above(272_000, '2', '1.5')
const GEMINI_LONG = above(200_000, '2', '1.5')
const GROK_LONG = above(200_000, '2', '2')

const OPENAI: readonly PricedModels[] = [
  ...[
    { models: ['gpt-6.2-astra'], input: '8', output: '40', cacheRead: '0.4', cacheWrite: '10' },
    { models: ['gpt-6.2-sol'], input: '2', output: '10', cacheRead: '0.1', cacheWrite: '2.5' },
    { models: ['gpt-6.1-sol'], input: '2', output: '10', cacheRead: '0.1', cacheWrite: '2.5' },
    { models: ['gpt-6.1-terra'], input: '1', output: '5', cacheRead: '0.05', cacheWrite: '1.25' },
    { models: ['gpt-6-astra'], input: '10', output: '50', cacheRead: '1', cacheWrite: '12.5' },
    { models: ['gpt-6-sol'], input: '2', output: '10', cacheRead: '0.2', cacheWrite: '2.5' },
    { models: ['gpt-6-luna'], input: '0.1', output: '0.5', cacheRead: '0.01', cacheWrite: '0.125' },
    {
      models: ['gpt-5.6', 'gpt-5.6-sol'],
      ...{ input: '5', output: '30', cacheRead: '0.5', cacheWrite: '6.25' },
    },
    { models: ['gpt-5.6-terra'], input: '2', output: '12', cacheRead: '0.2', cacheWrite: '2.5' },
    {
      models: ['gpt-5.6-luna'],
      input: '0.2',
      output: '1.2',
      cacheRead: '0.02',
      cacheWrite: '0.25',
    },
    { models: ['gpt-5.5'], input: '5', output: '30', cacheRead: '0.5' },
    { models: ['gpt-5.4'], input: '2.5', output: '15', cacheRead: '0.25' },
    { models: ['gpt-5.5-pro', 'gpt-5.4-pro'], input: '30', output: '180' },
  ].map((row) => ({ ...row, tiers: OPENAI_LONG })),
  { models: ['gpt-5.4-mini'], input: '0.75', output: '4.5', cacheRead: '0.075' },
  { models: ['gpt-5.4-nano'], input: '0.2', output: '1.25', cacheRead: '0.02' },
  { models: ['gpt-5.2', 'gpt-5.3-codex'], input: '1.75', output: '14', cacheRead: '0.175' },
  { models: ['gpt-5.1'], input: '1.25', output: '10', cacheRead: '0.125' },
  { models: ['gpt-5-pro'], input: '15', output: '120' },
  { models: ['gpt-audio'], input: '2.5', output: '10', audio: '32', audioOutput: '64' },
  // These models are priced by characters or seconds, which count as tokens (see decision 007).
  { models: ['tts-1'], input: '15', output: '15' },
  { models: ['tts-1-hd'], input: '30', output: '30' },
  {
    models: ['gpt-4o-mini-tts'],
    ...{ input: '0.6', output: '12', audio: '0.6', audioOutput: '12' },
  },
  { models: ['whisper-1'], input: '6', output: '6' },
  { models: ['gpt-4o-transcribe'], input: '2.5', output: '10', audio: '6' },
  { models: ['gpt-4o-mini-transcribe'], input: '1.25', output: '5', audio: '3' },
  {
    models: ['gpt-image-1'],
    ...{ input: '5', output: '40', image: '10', imageOutput: '40' },
  },
  {
    models: ['gpt-image-1-mini'],
    ...{ input: '2', output: '8', image: '2.5', imageOutput: '8' },
  },
  {
    models: ['gpt-image-1.5', 'chatgpt-image-latest'],
    ...{ input: '5', output: '10', image: '8', imageOutput: '32' },
  },
  { models: ['gpt-image-2'], input: '5', output: '30', image: '8', imageOutput: '30' },
  {
    models: ['gpt-realtime-2'],
    ...{ input: '4', output: '24', cacheRead: '0.4' },
    ...{ audio: '32', audioOutput: '64', image: '5' },
  },
  {
    models: ['gpt-realtime-1.5'],
    ...{ input: '4', output: '16', cacheRead: '0.4' },
    ...{ audio: '32', audioOutput: '64', image: '5' },
  },
]

const ANTHROPIC: readonly PricedModels[] = [
  {
    models: ['claude-fable-5-1', 'claude-mythos-5-1'],
    ...{ input: '10', output: '50', cacheRead: '0.25', cacheWrite: '12.5' },
  },
  {
    models: ['claude-fable-5', 'claude-mythos-5'],
    ...{ input: '10', output: '50', cacheRead: '1', cacheWrite: '12.5' },
  },
  { models: ['claude-opus-5-5'], input: '4', output: '20', cacheRead: '0.2', cacheWrite: '5' },
  {
    models: [
      ...['claude-opus-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6'],
      ...['claude-opus-4-5', 'claude-opus-4-5-20251101'],
    ],
    ...{ input: '5', output: '25', cacheRead: '0.5', cacheWrite: '6.25' },
  },
  { models: ['claude-sonnet-5-5'], input: '2', output: '10', cacheRead: '0.1', cacheWrite: '2.5' },
  { models: ['claude-sonnet-5'], input: '2', output: '10', cacheRead: '0.2', cacheWrite: '2.5' },
  { models: ['claude-sonnet-4-6'], input: '3', output: '15', cacheRead: '0.3', cacheWrite: '3.75' },
  {
    models: ['claude-haiku-5-5'],
    ...{ input: '0.1', output: '0.5', cacheRead: '0.01', cacheWrite: '0.125' },
    tiers: above(100_000, '5', '5'),
  },
]

const GOOGLE: readonly PricedModels[] = [
  {
    models: ['gemini-3.6-flash', 'gemini-3.7-flash', 'gemini-3.8-flash'],
    ...{ input: '0.75', output: '3.75', cacheRead: '0.075' },
  },
  { models: ['gemini-3.5-flash'], input: '1.5', output: '9', cacheRead: '0.15' },
  { models: ['gemini-3.5-flash-lite'], input: '0.3', output: '2.5', cacheRead: '0.03' },
  {
    models: ['gemini-3.1-pro-preview'],
    ...{ input: '2', output: '12', cacheRead: '0.2' },
    tiers: GEMINI_LONG,
  },
  { models: ['gemini-3-flash-preview'], input: '0.5', output: '3', cacheRead: '0.05', audio: '1' },
  {
    models: ['gemini-2.5-pro'],
    ...{ input: '1.25', output: '10', cacheRead: '0.125' },
    tiers: GEMINI_LONG,
  },
  { models: ['gemini-2.5-flash'], input: '0.3', output: '2.5', cacheRead: '0.03', audio: '1' },
  {
    models: ['gemini-3-pro-image', 'gemini-3-pro-image-preview'],
    ...{ input: '2', output: '12', imageOutput: '120' },
  },
  {
    models: ['gemini-3.1-flash-image', 'gemini-3.1-flash-image-preview'],
    ...{ input: '0.5', output: '3', imageOutput: '60' },
  },
  { models: ['gemini-2.5-flash-image'], input: '0.3', output: '2.5', imageOutput: '30' },
]

const OTHERS: readonly PricedModels[] = [
  {
    models: ['deepseek-flash', 'deepseek-v4-flash'],
    ...{ input: '0.3', output: '1.2', cacheRead: '0.006' },
  },
  { models: ['deepseek-v4-pro'], input: '1.32', output: '3.96', cacheRead: '0.044' },
  {
    models: ['grok-4.5', 'grok-4.6'],
    ...{ input: '2', output: '6', cacheRead: '0.5' },
    tiers: GROK_LONG,
  },
  {
    models: ['grok-4.3', 'grok-4.3-latest'],
    ...{ input: '1.25', output: '2.5', cacheRead: '0.2' },
    tiers: GROK_LONG,
  },
  {
    models: ['mistral-medium-3.5', 'mistral-medium-3-5', 'mistral-medium-latest'],
    ...{ input: '1.5', output: '7.5' },
  },
  { models: ['kimi-k3'], input: '3', output: '15', cacheRead: '0.3' },
  { models: ['kimi-k2.7-code'], input: '0.95', output: '4', cacheRead: '0.19' },
  { models: ['kimi-k2.7-code-highspeed'], input: '1.9', output: '8', cacheRead: '0.38' },
  { models: ['kimi-k2.6'], input: '0.95', output: '4', cacheRead: '0.16' },
  { models: ['glm-5.3', 'glm-5.2', 'glm-5.1'], input: '1.4', output: '4.4', cacheRead: '0.26' },
  { models: ['glm-4.5', 'glm-4.6', 'glm-4.7'], input: '0.6', output: '2.2', cacheRead: '0.11' },
]

/** The prices of embedding and reranking models. Their answers have no output tokens. */
const INPUT_ONLY: readonly PricedModels[] = [
  { models: ['gemini-embedding-001'], input: '0.15', output: '0.15' },
  { models: ['mistral-embed'], input: '0.1', output: '0.1' },
  { models: ['embed-v4.0'], input: '0.12', output: '0.12', image: '0.47' },
  { models: ['rerank-v5.0-pro'], input: '0.05', output: '0.05' },
  { models: ['rerank-v5.0-fast'], input: '0.02', output: '0.02' },
  { models: ['pplx-embed-v1-0.6b'], input: '0.004', output: '0.004' },
]

const ROWS = [...OPENAI, ...ANTHROPIC, ...GOOGLE, ...OTHERS, ...INPUT_ONLY].map((row) => ({
  ...row,
  models: addOpenRouterNames(row.models),
}))

/**
 * Returns the ratios of one row by option. A model ratio of 1 means $2 per million input tokens.
 */
function ratiosOf(row: PricedModels): ReadonlyMap<string, DecimalText> {
  const { input, output, cacheRead, cacheWrite, image, imageOutput, audio, audioOutput } = row
  const ratios = [
    ['ModelRatio', input, '2'],
    ['CompletionRatio', output, input],
    ['CacheRatio', cacheRead, input],
    ['CreateCacheRatio', cacheWrite, input],
    ['ImageRatio', image, input],
    ['AudioRatio', audio, input],
    ['AudioCompletionRatio', audioOutput, audio],
    ['ImageCompletionRatio', imageOutput, input],
  ] as const
  return new Map(
    ratios.flatMap(([key, price, base]) => {
      if (price === undefined || base === undefined) return []
      return [[key, decimalText(quotient(decimalOf(price), decimalOf(base)))] as const]
    }),
  )
}

/** Returns the built-in ratios of the option, by model. */
export const builtInRatios = (option: string): ReadonlyMap<string, DecimalText> =>
  new Map(
    ROWS.flatMap((row) => {
      const ratio = ratiosOf(row).get(option)
      return ratio === undefined ? [] : row.models.map((model) => [model, ratio] as const)
    }),
  )

export const DEFAULT_CONTEXT_TIERS: ContextTiers = new Map(
  ROWS.flatMap(({ models, tiers = [] }) =>
    tiers.length === 0 ? [] : models.map((model) => [model, tiers] as const),
  ),
)
