import type { Profile } from '../profile.ts'

/** By its compatibility API, which refuses `stream_options`. */
export const cohere: Profile = {
  id: 34,
  name: 'Cohere',
  baseUrl: 'https://api.cohere.ai',
  chatPath: '/compatibility/v1/chat/completions',
  modelsPath: '/v1/models?endpoint=chat&page_size=1000',
  keyHint: { zh: '控制台的 API 密钥', en: 'An API key of the dashboard' },
  isUsageUnasked: true,
  models: [
    'command-a-03-2025',
    'command-a-reasoning-08-2025',
    'command-a-vision-07-2025',
    'command-r7b-12-2024',
    'command-r-plus-08-2024',
    'command-r-08-2024',
  ],
}
