import { ANY_KEY, CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const lingyiWanwu: Profile = {
  id: 31,
  name: 'LingYiWanWu',
  baseUrl: 'https://api.lingyiwanwu.com',
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  models: ['yi-lightning', 'yi-large', 'yi-large-turbo', 'yi-medium', 'yi-vision-v2', 'yi-spark'],
}
