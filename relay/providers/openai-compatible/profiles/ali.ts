import type { Profile } from '../profile.ts'

export const ali: Profile = {
  id: 17,
  name: 'Ali DashScope',
  baseUrl: 'https://dashscope.aliyuncs.com',
  chatPath: '/compatible-mode/v1/chat/completions',
  modelsPath: '/compatible-mode/v1/models',
  keyHint: { zh: '百炼平台的 API Key，sk- 开头', en: 'An API key of Model Studio, sk-…' },
  models: [
    'qwen3-max',
    'qwen-max',
    'qwen-plus',
    'qwen-turbo',
    'qwen-flash',
    'qwen-long',
    'qwen3-coder-plus',
    'qwen3-vl-plus',
    'qwen-vl-max',
    'qwq-plus',
    'deepseek-v3',
    'deepseek-r1',
  ],
}
