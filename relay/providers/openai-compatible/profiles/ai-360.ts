import { ANY_KEY, CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const ai360: Profile = {
  id: 19,
  name: '360',
  baseUrl: 'https://api.360.cn',
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  models: ['360gpt2-o1', '360gpt2-pro', '360gpt-pro', '360gpt-turbo', '360zhinao2-o1'],
}
