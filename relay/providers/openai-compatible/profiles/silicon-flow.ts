import { askedOnce, yuanAt } from '../balance-query.ts'
import { CHAT_PATH, type Profile } from '../profile.ts'

export const siliconFlow: Profile = {
  id: 40,
  name: 'SiliconFlow',
  baseUrl: 'https://api.siliconflow.cn',
  chatPath: CHAT_PATH,
  modelsPath: '/v1/models?type=text',
  keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
  balance: askedOnce('/v1/user/info', ['data', 'totalBalance'], yuanAt('api.siliconflow.cn')),
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
