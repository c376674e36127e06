import { billingDashboard } from '../billing-dashboard.ts'
import { ANY_KEY, CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'
import { ORGANIZATION } from './open-ai.ts'

/** Whatever else speaks this format: llama.cpp, vLLM, LM Studio, another gateway. */
export const custom: Profile = {
  id: 8,
  name: 'Custom',
  baseUrl: null,
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  fields: [ORGANIZATION],
  balance: billingDashboard,
  models: [],
}
