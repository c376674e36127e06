import { askedOnce } from '../balance-query.ts'
import { ANY_KEY, CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const aiProxy: Profile = {
  id: 10,
  name: 'AI Proxy',
  baseUrl: null,
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  balance: {
    ...askedOnce('/api/report/getUserOverview', ['data', 'totalPoints']),
    keyHeader: 'api-key',
  },
  models: [],
}
