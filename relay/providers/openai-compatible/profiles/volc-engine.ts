import type { Profile } from '../profile.ts'

export const volcEngine: Profile = {
  id: 45,
  name: 'VolcEngine Ark',
  baseUrl: 'https://ark.cn-beijing.volces.com',
  bases: [
    {
      keyword: 'doubao-coding-plan',
      name: { zh: '豆包编程套餐', en: 'Doubao coding plan' },
      baseUrl: 'https://ark.cn-beijing.volces.com/api/coding/v3',
    },
  ],
  chatPath: '/api/v3/chat/completions',
  modelsPath: '/api/v3/models',
  keyHint: { zh: '方舟平台的 API Key', en: 'An API key of Ark' },
  models: [
    'doubao-seed-1-6-251015',
    'doubao-seed-1-6-flash-250828',
    'doubao-seed-1-6-thinking-250715',
    'doubao-1-5-pro-32k-250115',
    'doubao-1-5-lite-32k-250115',
    'deepseek-v3-1-terminus',
    'deepseek-r1-250528',
    'kimi-k2-250905',
  ],
}
