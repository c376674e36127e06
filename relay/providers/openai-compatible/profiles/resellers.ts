import { billingDashboard, singleRequest } from '../balance-query.ts'
import { ANY_KEY, CHAT_PATH, OPENAI_LIKE, type Profile } from '../provider-profile.ts'
import { ORGANIZATION } from './international.ts'

/** Any other server of OpenAI's format, such as llama.cpp, vLLM, LM Studio or another gateway. */
export const custom: Profile = {
  ...OPENAI_LIKE,
  id: 8,
  name: 'Custom',
  fields: [ORGANIZATION],
  balance: billingDashboard,
}

export const submodel: Profile = {
  ...OPENAI_LIKE,
  id: 53,
  name: 'Submodel',
  baseUrl: 'https://llm.submodel.ai',
  models: [
    'deepseek-ai/DeepSeek-V3.1',
    'deepseek-ai/DeepSeek-R1-0528',
    'Qwen/Qwen3-235B-A22B-Instruct-2507',
    'zai-org/GLM-4.5-FP8',
    'openai/gpt-oss-120b',
  ],
}

export const fastGpt: Profile = {
  id: 22,
  name: 'FastGPT',
  baseUrl: 'https://fastgpt.run/api/openapi',
  chatPath: CHAT_PATH,
  modelsPath: null,
  keyHint: ANY_KEY,
  models: [],
}

export const aiProxy: Profile = {
  ...OPENAI_LIKE,
  id: 10,
  name: 'AI Proxy',
  balance: {
    ...singleRequest('/api/report/getUserOverview', ['data', 'totalPoints']),
    keyHeader: 'api-key',
  },
}

export const api2gpt: Profile = {
  ...OPENAI_LIKE,
  id: 12,
  name: 'API2GPT',
  balance: singleRequest('/dashboard/billing/credit_grants', ['total_remaining']),
}

export const aigc2d: Profile = {
  ...OPENAI_LIKE,
  id: 13,
  name: 'AIGC2D',
  balance: singleRequest('/dashboard/billing/credit_grants', ['total_available']),
}

export const openAiMax: Profile = {
  ...OPENAI_LIKE,
  id: 6,
  name: 'OpenAIMax',
}

export const ohMyGpt: Profile = {
  ...OPENAI_LIKE,
  id: 7,
  name: 'OhMyGPT',
}

export const ails: Profile = {
  ...OPENAI_LIKE,
  id: 9,
  name: 'AILS',
}
