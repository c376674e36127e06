import type { Profile } from '../profile.ts'

export const miniMax: Profile = {
  id: 35,
  name: 'MiniMax',
  baseUrl: 'https://api.minimax.chat',
  chatPath: '/v1/text/chatcompletion_v2',
  modelsPath: null,
  keyHint: { zh: '接口密钥', en: 'An interface key' },
  models: ['MiniMax-M2', 'MiniMax-M1', 'MiniMax-Text-01', 'abab6.5s-chat'],
}
