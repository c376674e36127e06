import { ANY_KEY, CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const mokaAi: Profile = {
  id: 44,
  name: 'MokaAI',
  baseUrl: 'https://api.moka.ai',
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  models: [],
}
