import { expect, it } from 'vitest'
import { callerNames } from '#relay/conversion/caller-names.ts'
import type { ConvertedFormatName } from '#relay/dialects/wire-format.ts'

const LOSSES = [
  'promptCacheKey',
  'system[0].cache',
  'messages[0].parts[0].cache',
  'messages[1].parts[2].parts[0] (audio)',
  'sampling.topK',
  'sampling.stop[4]',
  'tools[3].schema.properties.cache.$ref',
]

it.each<[ConvertedFormatName, readonly string[]]>([
  [
    'chat',
    [
      'prompt_cache_key',
      'messages[].content[].cache_control',
      'messages[].content[].content[] (audio)',
      'top_k',
      'stop[4]',
      'tools[].function.parameters.properties.cache.$ref',
    ],
  ],
  [
    'messages',
    [
      'prompt_cache_key',
      'system[].cache_control',
      'messages[].content[].cache_control',
      'messages[].content[].content[] (audio)',
      'top_k',
      'stop_sequences[4]',
      'tools[].input_schema.properties.cache.$ref',
    ],
  ],
])('a loss has the name that the format of the caller uses: %s', (format, names) => {
  expect(callerNames(LOSSES, format)).toEqual(names)
})

it('a loss in Gemini’s format is in its configuration or contents', () => {
  expect(
    callerNames(['sampling.topK', 'messages[0] (system)', 'thinking (off)'], 'gemini'),
  ).toEqual([
    'generationConfig.topK',
    'contents[] (system)',
    'generationConfig.thinkingConfig (off)',
  ])
})

it('a loss without a name in the format of the caller is unchanged', () => {
  expect(callerNames(['endUser', 'constructor', ''], 'gemini')).toEqual([
    'endUser',
    'constructor',
    '',
  ])
})

it('a loss with a very long name is translated at once', () => {
  const rest = '.a'.repeat(500_000)
  const [name] = callerNames([`tools[0].schema${rest}`], 'messages')
  expect(name === `tools[].input_schema${rest}`).toBe(true)
})
