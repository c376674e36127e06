import type { Profile } from '../profile.ts'

/** Tells cached input as `cached_tokens`, beside the counts and not within their details. */
export const zhipuV4: Profile = {
  id: 26,
  name: 'Zhipu v4',
  baseUrl: 'https://open.bigmodel.cn',
  bases: [
    {
      keyword: 'glm-coding-plan',
      name: { zh: 'GLM 编程套餐（国内）', en: 'GLM coding plan (China)' },
      baseUrl: 'https://open.bigmodel.cn/api/coding/paas/v4',
    },
    {
      keyword: 'glm-coding-plan-international',
      name: { zh: 'GLM 编程套餐（国际）', en: 'GLM coding plan (international)' },
      baseUrl: 'https://api.z.ai/api/coding/paas/v4',
    },
  ],
  chatPath: '/api/paas/v4/chat/completions',
  modelsPath: '/api/paas/v4/models',
  keyHint: {
    zh: '开放平台的 API Key；国际站密钥请填地址 https://api.z.ai',
    en: 'An API key; for international keys the address is https://api.z.ai',
  },
  models: [
    'glm-4.6',
    'glm-4.5',
    'glm-4.5-air',
    'glm-4.5-flash',
    'glm-4.5v',
    'glm-4-plus',
    'glm-4-flash',
    'glm-4-long',
    'glm-z1-air',
  ],
}
