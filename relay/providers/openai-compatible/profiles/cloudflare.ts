import type { Profile } from '../profile.ts'

export const cloudflare: Profile = {
  id: 39,
  name: 'Cloudflare Workers AI',
  baseUrl: 'https://api.cloudflare.com',
  chatPath: '/client/v4/accounts/{other}/ai/v1/chat/completions',
  modelsPath: '/client/v4/accounts/{other}/ai/models/search?task=Text%20Generation&per_page=1000',
  keyHint: { zh: '有 Workers AI 权限的 API 令牌', en: 'An API token that may use Workers AI' },
  fields: [
    {
      key: 'other',
      kind: 'text',
      label: { zh: '账户 ID', en: 'Account id' },
      hint: {
        zh: '控制台地址中的 32 位账户 ID',
        en: 'The account’s 32 characters, as in the dashboard’s address',
      },
      default: '',
      isRequired: true,
    },
  ],
  models: [
    '@cf/openai/gpt-oss-120b',
    '@cf/openai/gpt-oss-20b',
    '@cf/meta/llama-3.3-70b-instruct-fp8-fast',
    '@cf/meta/llama-3.1-8b-instruct',
    '@cf/meta/llama-4-scout-17b-16e-instruct',
    '@cf/qwen/qwq-32b',
    '@cf/qwen/qwen2.5-coder-32b-instruct',
    '@cf/google/gemma-3-12b-it',
  ],
}
