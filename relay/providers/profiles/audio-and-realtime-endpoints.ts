import type { CallEndpoint } from './provider-profile.ts'

/**
 * Returns the audio endpoints for `formats` below the path `root`. `query` is appended to each
 * path.
 */
export const audioAt = (
  root: string,
  formats: readonly ('speech' | 'transcriptions' | 'translations')[],
  query = '',
): readonly CallEndpoint[] =>
  formats.map((format) => ({ format, path: `${root}/audio/${format}${query}` }))

/** OpenAI's audio endpoints, which most servers with OpenAI's format offer too. */
export const OPENAI_AUDIO = audioAt('/v1', ['speech', 'transcriptions', 'translations'])

/**
 * Returns the endpoint for realtime sessions with the models that `models` matches. The default is
 * all models.
 */
export const realtimeFor = (models?: RegExp): CallEndpoint => ({
  ...{ format: 'realtime', path: '/v1/realtime?model={model}' },
  ...(models === undefined ? {} : { models }),
})
