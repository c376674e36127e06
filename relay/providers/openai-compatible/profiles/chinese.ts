import { isObject } from '#domain/shared/json-text.ts'
import { amountAt, currencyByHost, memberAt, singleRequest } from '../balance-query.ts'
import { CHAT_PATH, OPENAI_LIKE, type Profile } from '../provider-profile.ts'

/** DeepSeek reports cached input as `prompt_cache_hit_tokens`. */
export const deepSeek: Profile = {
  id: 43,
  name: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  chatPath: CHAT_PATH,
  modelsPath: '/models',
  keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
  balance: {
    pathAfter: (answers) => (answers.length === 0 ? '/user/balance' : null),
    // If the response lists two currencies, dollars are used because they need no conversion.
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

/** Moonshot's streams also contain usage inside the last choice. */
export const moonshot: Profile = {
  ...OPENAI_LIKE,
  id: 25,
  name: 'Moonshot',
  baseUrl: 'https://api.moonshot.cn',
  bases: [
    {
      keyword: 'kimi-coding-plan',
      name: { zh: 'Kimi 编程套餐', en: 'Kimi coding plan' },
      baseUrl: 'https://api.kimi.com/coding/v1',
    },
  ],
  keyHint: {
    zh: 'sk- 开头的 API 密钥；国际站密钥请填地址 https://api.moonshot.ai',
    en: 'An API key, sk-…; for international keys the address is https://api.moonshot.ai',
  },
  balance: singleRequest(
    '/v1/users/me/balance',
    ['data', 'available_balance'],
    currencyByHost('api.moonshot.cn'),
  ),
  models: [
    'kimi-k2-thinking',
    'kimi-k2-turbo-preview',
    'kimi-k2-0905-preview',
    'kimi-latest',
    'moonshot-v1-8k',
    'moonshot-v1-32k',
    'moonshot-v1-128k',
    'moonshot-v1-auto',
  ],
}

/** Zhipu reports cached input as `cached_tokens`, outside the `prompt_tokens_details`. */
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

export const siliconFlow: Profile = {
  id: 40,
  name: 'SiliconFlow',
  baseUrl: 'https://api.siliconflow.cn',
  chatPath: CHAT_PATH,
  modelsPath: '/v1/models?type=text',
  keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
  balance: singleRequest(
    '/v1/user/info',
    ['data', 'totalBalance'],
    currencyByHost('api.siliconflow.cn'),
  ),
  models: [
    'deepseek-ai/DeepSeek-V3.1',
    'deepseek-ai/DeepSeek-V3',
    'deepseek-ai/DeepSeek-R1',
    'Qwen/Qwen3-235B-A22B-Instruct-2507',
    'Qwen/Qwen3-32B',
    'Qwen/Qwen3-8B',
    'moonshotai/Kimi-K2-Instruct-0905',
    'zai-org/GLM-4.5',
    'THUDM/GLM-4-9B-0414',
  ],
}

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

export const miniMax: Profile = {
  id: 35,
  name: 'MiniMax',
  baseUrl: 'https://api.minimax.chat',
  chatPath: '/v1/text/chatcompletion_v2',
  modelsPath: null,
  keyHint: { zh: '接口密钥', en: 'An interface key' },
  models: ['MiniMax-M2', 'MiniMax-M1', 'MiniMax-Text-01', 'abab6.5s-chat'],
}

export const lingyiWanwu: Profile = {
  ...OPENAI_LIKE,
  id: 31,
  name: 'LingYiWanWu',
  baseUrl: 'https://api.lingyiwanwu.com',
  models: ['yi-lightning', 'yi-large', 'yi-large-turbo', 'yi-medium', 'yi-vision-v2', 'yi-spark'],
}

export const ai360: Profile = {
  ...OPENAI_LIKE,
  id: 19,
  name: '360',
  baseUrl: 'https://api.360.cn',
  models: ['360gpt2-o1', '360gpt2-pro', '360gpt-pro', '360gpt-turbo', '360zhinao2-o1'],
}

export const mokaAi: Profile = {
  ...OPENAI_LIKE,
  id: 44,
  name: 'MokaAI',
  baseUrl: 'https://api.moka.ai',
}
