import { minus } from '#domain/channel-checks/amount.ts'
import { amountAt } from '../balance-query.ts'
import { CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const openRouter: Profile = {
  id: 20,
  name: 'OpenRouter',
  baseUrl: 'https://openrouter.ai/api',
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: { zh: 'sk-or- 开头的 API 密钥', en: 'An API key, sk-or-…' },
  balance: {
    pathAfter: (answers) => (answers.length === 0 ? '/v1/credits' : null),
    read: ([answer = null]) => {
      const bought = amountAt(answer, 'data', 'total_credits')
      const used = amountAt(answer, 'data', 'total_usage')
      if (bought === null || used === null) return null
      return { amount: minus(bought, used), currency: 'USD' }
    },
  },
  models: [
    'openai/gpt-5',
    'openai/gpt-4o-mini',
    'anthropic/claude-sonnet-4.5',
    'google/gemini-2.5-pro',
    'google/gemini-2.5-flash',
    'deepseek/deepseek-chat',
    'meta-llama/llama-3.3-70b-instruct',
    'qwen/qwen3-235b-a22b',
    'x-ai/grok-4',
  ],
}
