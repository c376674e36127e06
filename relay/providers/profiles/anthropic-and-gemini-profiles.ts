import type { ProfileRow } from './provider-profile.ts'

/** The channel types of Anthropic and Gemini. Callers can also use the formats of their APIs. */
export const ANTHROPIC_AND_GEMINI_ROWS: readonly ProfileRow[] = [
  {
    id: 14,
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com',
    endpoints: [{ format: 'messages', path: '/v1/messages' }],
    batches: 'anthropic',
    keyHeader: 'x-api-key',
    keyHint: { zh: 'sk-ant- 开头的 API 密钥', en: 'An API key, sk-ant-…' },
    models: `
      claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-opus-5 claude-sonnet-5
      claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-sonnet-4-6 claude-haiku-4-5
    `,
  },
  // The models are those that Google's documentation listed on 12 November 2026. Google withdrew
  // Gemini 2.5 on this day.
  {
    id: 24,
    name: 'Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com',
    endpoints: [
      {
        format: 'gemini',
        path: '/v1beta/models/{model}:generateContent',
        streamPath: '/v1beta/models/{model}:streamGenerateContent?alt=sse',
      },
    ],
    modelsPath: '/v1beta/models?pageSize=1000',
    batches: 'gemini',
    keyHeader: 'x-goog-api-key',
    videos: { vendor: 'veo', models: /^veo-/ },
    keyHint: { zh: 'AIza 开头的 API 密钥', en: 'An API key, AIza…' },
    models: `
      gemini-3.8-flash gemini-3.6-flash gemini-3.5-flash-lite gemini-3.1-pro-preview
      gemini-3.1-flash-lite gemini-3-flash-preview
      gemini-3.1-flash-image gemini-3.1-flash-lite-image gemini-3-pro-image
      gemini-embedding-001
    `,
  },
]
