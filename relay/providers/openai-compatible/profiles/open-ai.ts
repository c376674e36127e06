import { billingDashboard } from '../billing-dashboard.ts'
import { CHAT_PATH, MODELS_PATH, type Profile, type ProfileField } from '../profile.ts'

export const ORGANIZATION: ProfileField = {
  key: 'openai_organization',
  kind: 'text',
  label: { zh: '组织', en: 'Organization' },
  hint: { zh: '可选，org- 开头的组织 ID', en: 'Optional: the organization’s id, org-…' },
  default: '',
  isRequired: false,
}

export const openAi: Profile = {
  id: 1,
  name: 'OpenAI',
  baseUrl: 'https://api.openai.com',
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
  fields: [ORGANIZATION],
  balance: billingDashboard,
  models: [
    'gpt-5.1',
    'gpt-5',
    'gpt-5-mini',
    'gpt-5-nano',
    'gpt-4.1',
    'gpt-4.1-mini',
    'gpt-4.1-nano',
    'gpt-4o',
    'gpt-4o-mini',
    'gpt-4o-audio-preview',
    'chatgpt-4o-latest',
    'o4-mini',
    'o3',
    'o3-mini',
    'o1',
    'gpt-4-turbo',
    'gpt-4',
    'gpt-3.5-turbo',
  ],
}
