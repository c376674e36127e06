import { minus } from '#domain/channel-checks/provider-balance-amount.ts'
import { amountAt, billingDashboard } from '../balance-query.ts'
import { OPENAI_LIKE, type Profile, type ProfileField } from '../provider-profile.ts'

export const ORGANIZATION: ProfileField = {
  key: 'openai_organization',
  kind: 'text',
  label: { zh: '组织', en: 'Organization' },
  hint: { zh: '可选，org- 开头的组织 ID', en: 'Optional: the organization’s id, org-…' },
  default: '',
  isRequired: false,
}

export const openAi: Profile = {
  ...OPENAI_LIKE,
  id: 1,
  name: 'OpenAI',
  baseUrl: 'https://api.openai.com',
  keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
  fields: [ORGANIZATION],
  balance: billingDashboard,
  models: [
    'gpt-5.1',
    'gpt-5',
    'gpt-5-mini',
    'gpt-5-nano',
    'gpt-4.1',
    'gpt-4.1-mini',
    'gpt-4.1-nano',
    'gpt-4o',
    'gpt-4o-mini',
    'gpt-4o-audio-preview',
    'chatgpt-4o-latest',
    'o4-mini',
    'o3',
    'o3-mini',
    'o1',
    'gpt-4-turbo',
    'gpt-4',
    'gpt-3.5-turbo',
  ],
}

/**
 * Azure identifies a model by its deployment. An address that ends in `/openai/v1` belongs to the
 * newer API, whose paths contain neither deployments nor versions.
 */
export const azure: Profile = {
  id: 3,
  name: 'Azure OpenAI',
  baseUrl: null,
  chatPath: '/openai/deployments/{model}/chat/completions?api-version={other}',
  modelsPath: null,
  keyHeader: 'api-key',
  keyHint: { zh: '资源的密钥（KEY 1 或 KEY 2）', en: 'A key of the resource (KEY 1 or KEY 2)' },
  fields: [
    {
      key: 'other',
      kind: 'text',
      label: { zh: 'API 版本', en: 'API version' },
      hint: {
        zh: '例如 2024-10-21；模型名即部署名，不同时请用模型映射',
        en: 'For example 2024-10-21. The model is the deployment’s name, unless it is mapped',
      },
      default: '2024-10-21',
      isRequired: false,
    },
  ],
  models: ['gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini', 'o3-mini', 'o1', 'gpt-35-turbo'],
}

export const openRouter: Profile = {
  ...OPENAI_LIKE,
  id: 20,
  name: 'OpenRouter',
  baseUrl: 'https://openrouter.ai/api',
  keyHint: { zh: 'sk-or- 开头的 API 密钥', en: 'An API key, sk-or-…' },
  balance: {
    pathAfter: (answers) => (answers.length === 0 ? '/v1/credits' : null),
    read: ([answer = null]) => {
      const bought = amountAt(answer, 'data', 'total_credits')
      const used = amountAt(answer, 'data', 'total_usage')
      if (bought === null || used === null) return null
      return { amount: minus(bought, used), currency: 'USD' }
    },
  },
  models: [
    'openai/gpt-5',
    'openai/gpt-4o-mini',
    'anthropic/claude-sonnet-4.5',
    'google/gemini-2.5-pro',
    'google/gemini-2.5-flash',
    'deepseek/deepseek-chat',
    'meta-llama/llama-3.3-70b-instruct',
    'qwen/qwen3-235b-a22b',
    'x-ai/grok-4',
  ],
}

/** Mistral rejects `stream_options` with status 422. Its last chunk always contains the usage. */
export const mistral: Profile = {
  ...OPENAI_LIKE,
  id: 42,
  name: 'Mistral',
  baseUrl: 'https://api.mistral.ai',
  keyHint: { zh: '控制台的 API 密钥', en: 'An API key from the console' },
  sendsUsageByDefault: true,
  models: [
    'mistral-large-latest',
    'mistral-medium-latest',
    'mistral-small-latest',
    'magistral-medium-latest',
    'magistral-small-latest',
    'codestral-latest',
    'devstral-medium-latest',
    'ministral-8b-latest',
    'ministral-3b-latest',
    'pixtral-large-latest',
    'open-mistral-nemo',
  ],
}

/** Cohere is called through its compatibility API, which rejects `stream_options`. */
export const cohere: Profile = {
  id: 34,
  name: 'Cohere',
  baseUrl: 'https://api.cohere.ai',
  chatPath: '/compatibility/v1/chat/completions',
  modelsPath: '/v1/models?endpoint=chat&page_size=1000',
  keyHint: { zh: '控制台的 API 密钥', en: 'An API key from the dashboard' },
  sendsUsageByDefault: true,
  models: [
    'command-a-03-2025',
    'command-a-reasoning-08-2025',
    'command-a-vision-07-2025',
    'command-r7b-12-2024',
    'command-r-plus-08-2024',
    'command-r-08-2024',
  ],
}

/** Perplexity sends usage with every chunk. The last usage is billed. */
export const perplexity: Profile = {
  id: 27,
  name: 'Perplexity',
  baseUrl: 'https://api.perplexity.ai',
  chatPath: '/chat/completions',
  modelsPath: null,
  keyHint: { zh: 'pplx- 开头的 API 密钥', en: 'An API key, pplx-…' },
  sendsUsageByDefault: true,
  models: ['sonar', 'sonar-pro', 'sonar-reasoning', 'sonar-reasoning-pro', 'sonar-deep-research'],
}

export const xAi: Profile = {
  ...OPENAI_LIKE,
  id: 48,
  name: 'xAI',
  baseUrl: 'https://api.x.ai',
  keyHint: { zh: 'xai- 开头的 API 密钥', en: 'An API key, xai-…' },
  isOutputTotalLessPrompt: true,
  models: [
    'grok-4',
    'grok-4-fast-reasoning',
    'grok-4-fast-non-reasoning',
    'grok-code-fast-1',
    'grok-3',
    'grok-3-mini',
    'grok-2-vision-1212',
  ],
}

export const cloudflare: Profile = {
  id: 39,
  name: 'Cloudflare Workers AI',
  baseUrl: 'https://api.cloudflare.com',
  chatPath: '/client/v4/accounts/{other}/ai/v1/chat/completions',
  modelsPath: '/client/v4/accounts/{other}/ai/models/search?task=Text%20Generation&per_page=1000',
  keyHint: { zh: '有 Workers AI 权限的 API 令牌', en: 'An API token with access to Workers AI' },
  fields: [
    {
      key: 'other',
      kind: 'text',
      label: { zh: '账户 ID', en: 'Account id' },
      hint: {
        zh: '控制台地址中的 32 位账户 ID',
        en: 'The 32 characters of the account in the dashboard’s address',
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

export const ollama: Profile = {
  ...OPENAI_LIKE,
  id: 4,
  name: 'Ollama',
  baseUrl: 'http://localhost:11434',
  keyHint: { zh: '本地服务可填任意内容', en: 'A local server accepts any text' },
  models: ['llama3.3', 'llama3.2', 'qwen3', 'gemma3', 'deepseek-r1', 'gpt-oss', 'mistral'],
}

export const xinference: Profile = {
  ...OPENAI_LIKE,
  id: 47,
  name: 'Xinference',
}
