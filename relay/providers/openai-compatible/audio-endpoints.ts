import type { CallEndpoint } from './provider-profile.ts'

/** Returns the audio endpoints below a path. `query` is added to each. */
export const audioAt = (
  root: string,
  formats: readonly ('speech' | 'transcriptions' | 'translations')[],
  query = '',
): readonly CallEndpoint[] =>
  formats.map((format) => ({ format, path: `${root}/audio/${format}${query}` }))

/** OpenAI's audio endpoints, which most servers with OpenAI's format copy. */
export const OPENAI_AUDIO = audioAt('/v1', ['speech', 'transcriptions', 'translations'])

/** Returns the endpoint of realtime sessions with the models; by default with all models. */
export const realtimeFor = (models?: RegExp): CallEndpoint => ({
  ...{ format: 'realtime', path: '/v1/realtime?model={model}' },
  ...(models === undefined ? {} : { models }),
})
