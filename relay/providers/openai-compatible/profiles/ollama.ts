import { CHAT_PATH, MODELS_PATH, type Profile } from '../profile.ts'

export const ollama: Profile = {
  id: 4,
  name: 'Ollama',
  baseUrl: 'http://localhost:11434',
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: { zh: '本地服务可填任意内容', en: 'Anything will do for a local server' },
  models: ['llama3.3', 'llama3.2', 'qwen3', 'gemma3', 'deepseek-r1', 'gpt-oss', 'mistral'],
}
