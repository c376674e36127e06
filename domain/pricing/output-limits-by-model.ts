import { addOpenRouterNames } from './openrouter-aliases.ts'

/** The maximum output tokens per choice, including reasoning tokens, by model. */
export type OutputCaps = ReadonlyMap<string, number>

/** The output limits that the providers publish for the models with built-in prices. */
const ROWS: readonly (readonly [outputTokens: number, models: readonly string[]])[] = [
  [
    4_096,
    [
      'gpt-4o-2024-05-13',
      'gpt-4-turbo',
      'gpt-3.5-turbo',
      'claude-3-opus-20240229',
      'claude-3-haiku-20240307',
    ],
  ],
  [
    8_192,
    [
      'gpt-4',
      'claude-3-5-sonnet-20240620',
      'claude-3-5-sonnet-20241022',
      'claude-3-5-haiku-20241022',
      'gemini-2.0-flash',
      'gemini-2.0-flash-lite',
      'gemini-1.5-flash',
      'gemini-1.5-pro',
      'deepseek-chat',
    ],
  ],
  [16_384, ['gpt-4o', 'gpt-4o-2024-08-06', 'gpt-4o-mini', 'gpt-4o-mini-2024-07-18']],
  [32_000, ['claude-opus-4-20250514', 'claude-opus-4-1-20250805']],
  [
    32_768,
    [
      ...['gpt-4.1', 'gpt-4.1-mini', 'gpt-4.1-nano', 'gemini-2.5-flash-image'],
      ...['gemini-3-pro-image', 'gemini-3-pro-image-preview'],
      ...['gemini-3.1-flash-image', 'gemini-3.1-flash-image-preview'],
    ],
  ],
  [
    64_000,
    [
      'claude-3-7-sonnet-20250219',
      'claude-sonnet-4-20250514',
      'claude-sonnet-4-5',
      'claude-sonnet-4-5-20250929',
      'claude-haiku-4-5',
      'claude-haiku-4-5-20251001',
    ],
  ],
  [
    65_536,
    [
      ...['o1-mini', 'deepseek-reasoner', 'gemini-2.5-flash', 'gemini-2.5-pro'],
      ...['gemini-3-flash-preview', 'gemini-3.1-pro-preview', 'gemini-3.5-flash'],
      ...['gemini-3.5-flash-lite', 'gemini-3.6-flash', 'gemini-3.7-flash', 'gemini-3.8-flash'],
    ],
  ],
  [100_000, ['o1', 'o3', 'o3-mini', 'o4-mini']],
  [
    128_000,
    [
      ...['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-5.1', 'gpt-5.2', 'gpt-5.3-codex', 'gpt-5.4'],
      ...['gpt-5.4-mini', 'gpt-5.4-nano', 'gpt-5.4-pro', 'gpt-5.5', 'gpt-5.5-pro', 'gpt-5.6'],
      ...['gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-6-astra', 'gpt-6-sol'],
      ...['gpt-6-luna', 'gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-6.2-astra', 'gpt-6.2-sol'],
      ...['claude-fable-5-1', 'claude-opus-5-5', 'claude-opus-5', 'claude-sonnet-5-5'],
      ...['claude-sonnet-5', 'claude-haiku-5-5', 'glm-5.1', 'glm-5.2', 'glm-5.3'],
    ],
  ],
  [384_000, ['deepseek-flash', 'deepseek-v4-flash', 'deepseek-v4-pro']],
]

export const DEFAULT_OUTPUT_CAPS: OutputCaps = new Map(
  ROWS.flatMap(([outputTokens, models]) =>
    addOpenRouterNames(models).map((model) => [model, outputTokens] as const),
  ),
)

/** The options with output limits: limits by model, and the limit for all other models. */
export const OUTPUT_CAPS_KEY = 'MaxOutputTokens'
export const DEFAULT_OUTPUT_CAP_KEY = 'DefaultMaxOutputTokens'

/** Returns the built-in output limits, overridden by the option's validated `text`. */
export function readOutputCaps(text: string): OutputCaps {
  const set = JSON.parse(text) as Readonly<Record<string, number>>
  return new Map([...DEFAULT_OUTPUT_CAPS, ...Object.entries(set)])
}

export const outputCapsText = (): string => {
  const members = [...DEFAULT_OUTPUT_CAPS].map(
    ([model, cap]) => `  ${JSON.stringify(model)}: ${cap}`,
  )
  return `{\n${members.join(',\n')}\n}`
}
