import { builtInRatios } from './built-in-prices.ts'
import type { DecimalText } from './price-snapshot.ts'
import { DEFAULT_TOOL_PRICES, TOOL_PRICES_KEY } from './tool-prices.ts'
import { VIDEO_MODEL_PRICES } from './video-prices.ts'

/**
 * A row of models with the same list prices, as ratios. This table contains models that were known
 * before November 2026. The prices of all later models are in `built-in-prices.ts`. A model ratio
 * of 1 means $2 per million input tokens. Models whose price is uncertain are omitted.
 */
type Row = {
  readonly models: readonly string[]
  readonly model: DecimalText
  readonly completion: DecimalText
  readonly cacheRead?: DecimalText
  readonly cacheWrite?: DecimalText
}

const CLAUDE = { completion: '5', cacheRead: '0.1', cacheWrite: '1.25' }

const ROWS: readonly Row[] = [
  { models: ['gpt-4o', 'gpt-4o-2024-08-06'], model: '1.25', completion: '4', cacheRead: '0.5' },
  { models: ['gpt-4o-2024-05-13'], model: '2.5', completion: '3' },
  {
    models: ['gpt-4o-mini', 'gpt-4o-mini-2024-07-18'],
    model: '0.075',
    completion: '4',
    cacheRead: '0.5',
  },
  { models: ['gpt-4.1'], model: '1', completion: '4', cacheRead: '0.25' },
  { models: ['gpt-4.1-mini'], model: '0.2', completion: '4', cacheRead: '0.25' },
  { models: ['gpt-4.1-nano'], model: '0.05', completion: '4', cacheRead: '0.25' },
  { models: ['gpt-5'], model: '0.625', completion: '8', cacheRead: '0.1' },
  { models: ['gpt-5-mini'], model: '0.125', completion: '8', cacheRead: '0.1' },
  { models: ['gpt-5-nano'], model: '0.025', completion: '8', cacheRead: '0.1' },
  { models: ['gpt-4-turbo'], model: '5', completion: '3' },
  { models: ['gpt-4'], model: '15', completion: '2' },
  { models: ['gpt-3.5-turbo'], model: '0.25', completion: '3' },
  { models: ['o1'], model: '7.5', completion: '4', cacheRead: '0.5' },
  { models: ['o3'], model: '1', completion: '4', cacheRead: '0.25' },
  { models: ['o3-mini', 'o1-mini'], model: '0.55', completion: '4', cacheRead: '0.5' },
  { models: ['o4-mini'], model: '0.55', completion: '4', cacheRead: '0.25' },
  { models: ['text-embedding-3-small'], model: '0.01', completion: '1' },
  { models: ['text-embedding-3-large'], model: '0.065', completion: '1' },
  { models: ['text-embedding-ada-002'], model: '0.05', completion: '1' },
  {
    models: [
      'claude-3-5-sonnet-20240620',
      'claude-3-5-sonnet-20241022',
      'claude-3-7-sonnet-20250219',
      'claude-sonnet-4-20250514',
      'claude-sonnet-4-5',
      'claude-sonnet-4-5-20250929',
    ],
    model: '1.5',
    ...CLAUDE,
  },
  {
    models: ['claude-3-opus-20240229', 'claude-opus-4-20250514', 'claude-opus-4-1-20250805'],
    model: '7.5',
    ...CLAUDE,
  },
  { models: ['claude-3-5-haiku-20241022'], model: '0.4', ...CLAUDE },
  { models: ['claude-haiku-4-5', 'claude-haiku-4-5-20251001'], model: '0.5', ...CLAUDE },
  {
    models: ['claude-3-haiku-20240307'],
    model: '0.125',
    completion: '5',
    cacheRead: '0.12',
    cacheWrite: '1.2',
  },
  { models: ['gemini-2.0-flash'], model: '0.05', completion: '4', cacheRead: '0.25' },
  { models: ['gemini-2.0-flash-lite'], model: '0.0375', completion: '4' },
  { models: ['gemini-1.5-flash'], model: '0.0375', completion: '4', cacheRead: '0.25' },
  { models: ['gemini-1.5-pro'], model: '0.625', completion: '4', cacheRead: '0.25' },
  { models: ['deepseek-chat'], model: '0.14', completion: '1.5', cacheRead: '0.1' },
  { models: ['deepseek-reasoner'], model: '0.14', completion: '1.5', cacheRead: '0.1' },
  // The prices of videos that are billed by tokens, from the list prices of BytePlus ModelArk.
  { models: ['doubao-seedance-1-0-pro-250528'], model: '1.25', completion: '1' },
  {
    models: ['doubao-seedance-1-0-lite-t2v-250428', 'doubao-seedance-1-0-lite-i2v-250428'],
    ...{ model: '0.9', completion: '1' },
  },
]

type RatioColumn = Exclude<keyof Row, 'models'>

const column = (name: RatioColumn, option: string): ReadonlyMap<string, DecimalText> =>
  new Map([
    ...builtInRatios(option),
    ...ROWS.flatMap((row) => {
      const ratio = row[name]
      return ratio === undefined ? [] : row.models.map((model) => [model, ratio] as const)
    }),
  ])

/** The fixed prices of models in dollars per call, or per second for some videos. */
const PRICES_PER_CALL: ReadonlyMap<string, DecimalText> = new Map([
  ['dall-e-2', '0.04'],
  ['dall-e-3', '0.04'],
  // These prices are per search unit (see `built-in-prices.md`).
  ['rerank-v3.5', '0.002'],
  ['rerank-v4.0-fast', '0.002'],
  ['rerank-v4.0-pro', '0.0025'],
  ['imagen-4.0-generate-001', '0.04'],
  ['imagen-4.0-ultra-generate-001', '0.06'],
  ['imagen-4.0-fast-generate-001', '0.02'],
  ['mj_imagine', '0.1'],
  ['mj_edits', '0.1'],
  ['mj_variation', '0.1'],
  ['mj_high_variation', '0.1'],
  ['mj_low_variation', '0.1'],
  ['mj_reroll', '0.1'],
  ['mj_blend', '0.1'],
  ['mj_modal', '0.1'],
  ['mj_zoom', '0.1'],
  ['mj_shorten', '0.1'],
  ['mj_pan', '0.1'],
  ['mj_describe', '0.05'],
  ['mj_upscale', '0.05'],
  ['mj_upload', '0.05'],
  ['mj_video', '0.8'],
  ['swap_face', '0.05'],
  // These tasks cost 0, because the action `mj_modal` completes each of them and is charged.
  ['mj_inpaint', '0'],
  ['mj_custom_zoom', '0'],
  ['suno_music', '0.1'],
  ['suno_lyrics', '0.01'],
  ...VIDEO_MODEL_PRICES,
])

/** The built-in ratios by option key. They apply to models for which the admin has set no ratio. */
export const DEFAULT_RATIOS: ReadonlyMap<string, ReadonlyMap<string, DecimalText>> = new Map([
  ['ModelRatio', column('model', 'ModelRatio')],
  ['CompletionRatio', column('completion', 'CompletionRatio')],
  ['CacheRatio', column('cacheRead', 'CacheRatio')],
  ['CreateCacheRatio', column('cacheWrite', 'CreateCacheRatio')],
  ['ImageRatio', builtInRatios('ImageRatio')],
  ['AudioRatio', builtInRatios('AudioRatio')],
  ['AudioCompletionRatio', builtInRatios('AudioCompletionRatio')],
  ['ImageCompletionRatio', builtInRatios('ImageCompletionRatio')],
  ['ModelPrice', PRICES_PER_CALL],
  [TOOL_PRICES_KEY, DEFAULT_TOOL_PRICES],
])

export const DEFAULT_GROUP_RATIOS: ReadonlyMap<string, DecimalText> = new Map([
  ['default', '1'],
  ['vip', '1'],
  ['svip', '1'],
])

/** Returns the ratios as the JSON text of an option, with all digits. */
export function ratiosText(ratios: ReadonlyMap<string, DecimalText>): string {
  const members = [...ratios].map(([name, ratio]) => `  ${JSON.stringify(name)}: ${ratio}`)
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n}`
}
