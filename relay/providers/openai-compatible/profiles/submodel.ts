import { ANY_KEY, CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const submodel: Profile = {
  id: 53,
  name: 'Submodel',
  baseUrl: 'https://llm.submodel.ai',
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  models: [
    'deepseek-ai/DeepSeek-V3.1',
    'deepseek-ai/DeepSeek-R1-0528',
    'Qwen/Qwen3-235B-A22B-Instruct-2507',
    'zai-org/GLM-4.5-FP8',
    'openai/gpt-oss-120b',
  ],
}
