import { CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

/** Refuses `stream_options` with a 422; the last chunk has the usage. */
export const mistral: Profile = {
  id: 42,
  name: 'Mistral',
  baseUrl: 'https://api.mistral.ai',
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: { zh: '控制台的 API 密钥', en: 'An API key of the console' },
  isUsageUnasked: true,
  models: [
    'mistral-large-latest',
    'mistral-medium-latest',
    'mistral-small-latest',
    'magistral-medium-latest',
    'magistral-small-latest',
    'codestral-latest',
    'devstral-medium-latest',
    'ministral-8b-latest',
    'ministral-3b-latest',
    'pixtral-large-latest',
    'open-mistral-nemo',
  ],
}
