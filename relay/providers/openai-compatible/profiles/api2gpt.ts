import { askedOnce } from '../balance-query.ts'
import { ANY_KEY, CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const api2gpt: Profile = {
  id: 12,
  name: 'API2GPT',
  baseUrl: null,
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  balance: askedOnce('/dashboard/billing/credit_grants', ['total_remaining']),
  models: [],
}
