import type { Profile } from '../profile.ts'

export const baiduV2: Profile = {
  id: 46,
  name: 'Baidu v2 (Qianfan)',
  baseUrl: 'https://qianfan.baidubce.com',
  chatPath: '/v2/chat/completions',
  modelsPath: '/v2/models',
  keyHint: { zh: '千帆平台的 API Key，bce-v3/ 开头', en: 'An API key of Qianfan, bce-v3/…' },
  models: [
    'ernie-4.5-turbo-128k',
    'ernie-4.5-turbo-32k',
    'ernie-4.5-8k-preview',
    'ernie-x1-turbo-32k',
    'ernie-4.0-turbo-8k',
    'ernie-3.5-8k',
    'ernie-speed-128k',
    'ernie-lite-8k',
    'deepseek-v3',
    'deepseek-r1',
  ],
}
