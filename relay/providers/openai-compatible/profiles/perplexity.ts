import type { Profile } from '../profile.ts'

/** Sends usage with every chunk; the last one counts. */
export const perplexity: Profile = {
  id: 27,
  name: 'Perplexity',
  baseUrl: 'https://api.perplexity.ai',
  chatPath: '/chat/completions',
  modelsPath: null,
  keyHint: { zh: 'pplx- 开头的 API 密钥', en: 'An API key, pplx-…' },
  isUsageUnasked: true,
  models: ['sonar', 'sonar-pro', 'sonar-reasoning', 'sonar-reasoning-pro', 'sonar-deep-research'],
}
