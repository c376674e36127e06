import { ANY_KEY, CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const ohMyGpt: Profile = {
  id: 7,
  name: 'OhMyGPT',
  baseUrl: null,
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  models: [],
}
