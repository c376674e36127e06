import { isObject } from '#domain/shared/json-text.ts'
import { amountAt, memberAt } from '../balance-query.ts'
import { CHAT_PATH, type Profile } from '../profile.ts'

/** Tells cached input as `prompt_cache_hit_tokens`. */
export const deepSeek: Profile = {
  id: 43,
  name: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  chatPath: CHAT_PATH,
  modelsPath: '/models',
  keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
  balance: {
    pathAfter: (answers) => (answers.length === 0 ? '/user/balance' : null),
    // An account has one currency; where it says two, dollars need no conversion.
    read: ([answer = null]) => {
      const infos = memberAt(answer, 'balance_infos')
      const entries = Array.isArray(infos) ? infos.filter(isObject) : []
      const entry = entries.find((info) => info.get('currency') === 'USD') ?? entries[0]
      const currency = entry?.get('currency')
      const amount = entry === undefined ? null : amountAt(entry, 'total_balance')
      if (amount === null || (currency !== 'USD' && currency !== 'CNY')) return null
      return { amount, currency }
    },
  },
  models: ['deepseek-chat', 'deepseek-reasoner'],
}
