import { ANY_KEY, CHAT_PATH, type Profile } from '../profile.ts'

export const fastGpt: Profile = {
  id: 22,
  name: 'FastGPT',
  baseUrl: 'https://fastgpt.run/api/openapi',
  chatPath: CHAT_PATH,
  modelsPath: null,
  keyHint: ANY_KEY,
  models: [],
}
