import { askedOnce, yuanAt } from '../balance-query.ts'
import { CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

/** Its streams bring usage inside of the last choice, too. */
export const moonshot: Profile = {
  id: 25,
  name: 'Moonshot',
  baseUrl: 'https://api.moonshot.cn',
  bases: [
    {
      keyword: 'kimi-coding-plan',
      name: { zh: 'Kimi 编程套餐', en: 'Kimi coding plan' },
      baseUrl: 'https://api.kimi.com/coding/v1',
    },
  ],
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: {
    zh: 'sk- 开头的 API 密钥；国际站密钥请填地址 https://api.moonshot.ai',
    en: 'An API key, sk-…; for international keys the address is https://api.moonshot.ai',
  },
  balance: askedOnce(
    '/v1/users/me/balance',
    ['data', 'available_balance'],
    yuanAt('api.moonshot.cn'),
  ),
  models: [
    'kimi-k2-thinking',
    'kimi-k2-turbo-preview',
    'kimi-k2-0905-preview',
    'kimi-latest',
    'moonshot-v1-8k',
    'moonshot-v1-32k',
    'moonshot-v1-128k',
    'moonshot-v1-auto',
  ],
}
