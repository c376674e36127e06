import { CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const xAi: Profile = {
  id: 48,
  name: 'xAI',
  baseUrl: 'https://api.x.ai',
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: { zh: 'xai- 开头的 API 密钥', en: 'An API key, xai-…' },
  isOutputTotalLessPrompt: true,
  models: [
    'grok-4',
    'grok-4-fast-reasoning',
    'grok-4-fast-non-reasoning',
    'grok-code-fast-1',
    'grok-3',
    'grok-3-mini',
    'grok-2-vision-1212',
  ],
}
