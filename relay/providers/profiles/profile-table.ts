import { ANTHROPIC_AND_GEMINI_ROWS } from './anthropic-and-gemini-profiles.ts'
import { audioAt, OPENAI_AUDIO, realtimeFor } from './audio-and-realtime-endpoints.ts'
import {
  billingDashboard,
  currencyByHost,
  deepSeekBalance,
  openRouterBalance,
  singleRequest,
} from './balance-queries.ts'
import { CLOUD_ROWS } from './cloud-profiles.ts'
import { MINIMAX_CHAT_ERRORS } from './minimax-errors.ts'
import { MODELS_WITH_CHATS } from './openai-models-with-chat-endpoint.ts'
import { PROPRIETARY_CHAT_ROWS } from './proprietary-chat-profiles.ts'
import type { CallEndpoint, ProfileField, ProfileRow } from './provider-profile.ts'
import { THINKING_AT_DASH_SCOPE, THINKING_AT_SILICON_FLOW } from './qwen-thinking-by-provider.ts'
import { VIDEO_ROWS } from './video-profiles.ts'

const chatAt = (path: string): CallEndpoint => ({ format: 'chat', path })
const CHAT = chatAt('/v1/chat/completions')
const responsesAt = (path: string): CallEndpoint => ({ format: 'responses', path })
const withCompaction = (endpoint: CallEndpoint): CallEndpoint => ({
  ...endpoint,
  compactPath: `${endpoint.path}/compact`,
})
const completionsAt = (path: string, models?: RegExp): CallEndpoint =>
  models === undefined ? { format: 'completions', path } : { format: 'completions', path, models }

const CHAT_AND_COMPLETIONS = [CHAT, completionsAt('/v1/completions')]
/** OpenAI's endpoint for chats. Some of OpenAI's models can't be called through it. */
const OPENAI_CHAT: CallEndpoint = { ...CHAT, models: MODELS_WITH_CHATS }
/** Matches OpenAI's models that can be called through the endpoint for completions. */
const COMPLETION_MODELS = /^(?:ft:)?(?:gpt-3\.5-turbo-instruct|davinci-002|babbage-002)/

const ORGANIZATION: ProfileField = {
  key: 'openai_organization',
  kind: 'text',
  label: { zh: '组织', en: 'Organization' },
  hint: { zh: '可选，org- 开头的组织 ID', en: 'Optional: the organization’s id, org-…' },
  default: '',
  isRequired: false,
}

/**
 * The properties that the channel types for drawings share. In the price list, each drawing action
 * has a name like a model. `models` lists these names.
 */
const MIDJOURNEY = {
  tasks: { kind: 'drawing', path: '/mj/submit/imagine' },
  modelsPath: null,
  keyHeader: 'mj-api-secret',
  keyHint: {
    zh: '绘图代理的访问密钥（mj-api-secret）',
    en: 'The access key of the drawing proxy (mj-api-secret)',
  },
  models: `
    mj_imagine mj_upscale mj_variation mj_high_variation mj_low_variation mj_reroll mj_pan
    mj_zoom mj_custom_zoom mj_inpaint mj_modal mj_blend mj_describe mj_shorten mj_upload
    mj_edits mj_video swap_face
  `,
} satisfies Partial<ProfileRow>

/**
 * All channel types, in the order in which the channel form lists them. Types 11 (PaLM, whose API
 * Google withdrew in 2024) and 21 (AI Proxy's knowledge library, which reports no usage to price)
 * are missing. The models of AI Proxy are available as type 10.
 */
export const PROFILE_ROWS: readonly ProfileRow[] = [
  {
    id: 1,
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com',
    endpoints: [
      OPENAI_CHAT,
      withCompaction(responsesAt('/v1/responses')),
      completionsAt('/v1/completions', COMPLETION_MODELS),
      ...OPENAI_AUDIO,
      realtimeFor(/realtime|^gpt-audio/),
    ],
    keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
    fields: [ORGANIZATION],
    balance: billingDashboard,
    batches: 'openai',
    videos: { vendor: 'sora', models: /^sora-/ },
    models: `
      gpt-5.1 gpt-5 gpt-5-mini gpt-5-nano gpt-4.1 gpt-4.1-mini gpt-4.1-nano gpt-4o gpt-4o-mini
      gpt-4o-audio-preview chatgpt-4o-latest o4-mini o3 o3-mini o1 gpt-4-turbo gpt-4
      gpt-3.5-turbo tts-1 tts-1-hd gpt-4o-mini-tts whisper-1 gpt-4o-transcribe
      gpt-4o-mini-transcribe text-embedding-3-small text-embedding-3-large omni-moderation-latest
    `,
  },
  // Any other server with OpenAI's format, such as llama.cpp, vLLM, LM Studio or another gateway.
  {
    id: 8,
    name: 'Custom',
    endpoints: [...CHAT_AND_COMPLETIONS, ...OPENAI_AUDIO, realtimeFor()],
    fields: [ORGANIZATION],
    balance: billingDashboard,
  },
  ...CLOUD_ROWS,
  ...ANTHROPIC_AND_GEMINI_ROWS,
  // DeepSeek reports cached input tokens as `prompt_cache_hit_tokens`. Its completions are a beta.
  {
    id: 43,
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    endpoints: [CHAT, completionsAt('/beta/completions', /^deepseek-(?!reasoner)/)],
    modelsPath: '/models',
    keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
    balance: deepSeekBalance,
    models: 'deepseek-chat deepseek-reasoner',
  },
  {
    id: 20,
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api',
    endpoints: CHAT_AND_COMPLETIONS,
    keyHint: { zh: 'sk-or- 开头的 API 密钥', en: 'An API key, sk-or-…' },
    balance: openRouterBalance,
    models: `
      openai/gpt-5 openai/gpt-4o-mini anthropic/claude-sonnet-4.5 google/gemini-2.5-pro
      google/gemini-2.5-flash deepseek/deepseek-chat meta-llama/llama-3.3-70b-instruct
      qwen/qwen3-235b-a22b x-ai/grok-4
    `,
  },
  // Moonshot's streams also contain the usage inside the last choice.
  {
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
    models: `
      kimi-k2-thinking kimi-k2-turbo-preview kimi-k2-0905-preview kimi-latest moonshot-v1-8k
      moonshot-v1-32k moonshot-v1-128k moonshot-v1-auto
    `,
  },
  // Zhipu reports cached input tokens as `cached_tokens`, outside `prompt_tokens_details`.
  {
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
    endpoints: [
      chatAt('/api/paas/v4/chat/completions'),
      ...audioAt('/api/paas/v4', ['speech', 'transcriptions']),
    ],
    modelsPath: '/api/paas/v4/models',
    keyHint: {
      zh: '开放平台的 API Key；国际站密钥请填地址 https://api.z.ai',
      en: 'An API key; for international keys the address is https://api.z.ai',
    },
    models: `
      glm-4.6 glm-4.5 glm-4.5-air glm-4.5-flash glm-4.5v glm-4-plus glm-4-flash glm-4-long
      glm-z1-air
    `,
  },
  {
    id: 17,
    name: 'Ali DashScope',
    baseUrl: 'https://dashscope.aliyuncs.com',
    endpoints: [chatAt('/compatible-mode/v1/chat/completions')],
    modelsPath: '/compatible-mode/v1/models',
    videos: { vendor: 'wan', models: /^wanx?\d(?!.*-(?:t2i|i2i|image))/ },
    ...THINKING_AT_DASH_SCOPE,
    keyHint: { zh: '百炼平台的 API Key，sk- 开头', en: 'An API key of Model Studio, sk-…' },
    models: `
      qwen3-max qwen-max qwen-plus qwen-turbo qwen-flash qwen-long qwen3-coder-plus
      qwen3-vl-plus qwen-vl-max qwq-plus deepseek-v3 deepseek-r1
    `,
  },
  {
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
    endpoints: [chatAt('/api/v3/chat/completions')],
    modelsPath: '/api/v3/models',
    videos: { vendor: 'doubao', models: /seedance/ },
    keyHint: { zh: '方舟平台的 API Key', en: 'An API key of Ark' },
    models: `
      doubao-seed-1-6-251015 doubao-seed-1-6-flash-250828 doubao-seed-1-6-thinking-250715
      doubao-1-5-pro-32k-250115 doubao-1-5-lite-32k-250115 deepseek-v3-1-terminus
      deepseek-r1-250528 kimi-k2-250905
    `,
  },
  {
    id: 40,
    name: 'SiliconFlow',
    baseUrl: 'https://api.siliconflow.cn',
    endpoints: [CHAT, ...audioAt('/v1', ['speech', 'transcriptions'])],
    modelsPath: '/v1/models?type=text',
    ...THINKING_AT_SILICON_FLOW,
    keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
    balance: singleRequest(
      '/v1/user/info',
      ['data', 'totalBalance'],
      currencyByHost('api.siliconflow.cn'),
    ),
    models: `
      deepseek-ai/DeepSeek-V3.1 deepseek-ai/DeepSeek-V3 deepseek-ai/DeepSeek-R1
      Qwen/Qwen3-235B-A22B-Instruct-2507 Qwen/Qwen3-32B Qwen/Qwen3-8B
      moonshotai/Kimi-K2-Instruct-0905 zai-org/GLM-4.5 THUDM/GLM-4-9B-0414
    `,
  },
  {
    id: 46,
    name: 'Baidu v2 (Qianfan)',
    baseUrl: 'https://qianfan.baidubce.com',
    endpoints: [chatAt('/v2/chat/completions')],
    modelsPath: '/v2/models',
    keyHint: { zh: '千帆平台的 API Key，bce-v3/ 开头', en: 'An API key of Qianfan, bce-v3/…' },
    models: `
      ernie-4.5-turbo-128k ernie-4.5-turbo-32k ernie-4.5-8k-preview ernie-x1-turbo-32k
      ernie-4.0-turbo-8k ernie-3.5-8k ernie-speed-128k ernie-lite-8k deepseek-v3 deepseek-r1
    `,
  },
  {
    id: 35,
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.chat',
    endpoints: [{ ...chatAt('/v1/text/chatcompletion_v2'), decoder: MINIMAX_CHAT_ERRORS }],
    modelsPath: null,
    videos: { vendor: 'hailuo', models: /Hailuo|^[TIS]2V-/i },
    keyHint: { zh: '接口密钥', en: 'An API key' },
    models: 'MiniMax-M2 MiniMax-M1 MiniMax-Text-01 abab6.5s-chat',
  },
  {
    id: 48,
    name: 'xAI',
    baseUrl: 'https://api.x.ai',
    keyHint: { zh: 'xai- 开头的 API 密钥', en: 'An API key, xai-…' },
    isOutputTotalLessPrompt: true,
    models: `
      grok-4 grok-4-fast-reasoning grok-4-fast-non-reasoning grok-code-fast-1 grok-3 grok-3-mini
      grok-2-vision-1212
    `,
  },
  // Mistral rejects `stream_options` with status 422. The last chunk of its streams always contains
  // the usage.
  {
    id: 42,
    name: 'Mistral',
    baseUrl: 'https://api.mistral.ai',
    endpoints: [CHAT, ...audioAt('/v1', ['transcriptions'])],
    keyHint: { zh: '控制台的 API 密钥', en: 'An API key from the console' },
    sendsUsageByDefault: true,
    models: `
      mistral-large-latest mistral-medium-latest mistral-small-latest magistral-medium-latest
      magistral-small-latest codestral-latest devstral-medium-latest ministral-8b-latest
      ministral-3b-latest pixtral-large-latest open-mistral-nemo
    `,
  },
  ...PROPRIETARY_CHAT_ROWS,
  // Jina has no chats, only embeddings and rerank.
  {
    id: 38,
    name: 'Jina',
    baseUrl: 'https://api.jina.ai',
    endpoints: [],
    modelsPath: null,
    keyHint: { zh: 'jina_ 开头的 API 密钥', en: 'An API key, jina_…' },
    models: `
      jina-embeddings-v4 jina-embeddings-v3 jina-clip-v2 jina-reranker-v3
      jina-reranker-v2-base-multilingual
    `,
  },
  // Perplexity sends a usage with every chunk. The usage in the last chunk is billed.
  {
    id: 27,
    name: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    endpoints: [chatAt('/chat/completions')],
    modelsPath: null,
    keyHint: { zh: 'pplx- 开头的 API 密钥', en: 'An API key, pplx-…' },
    sendsUsageByDefault: true,
    models: 'sonar sonar-pro sonar-reasoning sonar-reasoning-pro sonar-deep-research',
  },
  {
    id: 39,
    name: 'Cloudflare Workers AI',
    baseUrl: 'https://api.cloudflare.com',
    endpoints: [chatAt('/client/v4/accounts/{other}/ai/v1/chat/completions')],
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
    models: `
      @cf/openai/gpt-oss-120b @cf/openai/gpt-oss-20b @cf/meta/llama-3.3-70b-instruct-fp8-fast
      @cf/meta/llama-3.1-8b-instruct @cf/meta/llama-4-scout-17b-16e-instruct @cf/qwen/qwq-32b
      @cf/qwen/qwen2.5-coder-32b-instruct @cf/google/gemma-3-12b-it
    `,
  },
  {
    id: 4,
    name: 'Ollama',
    baseUrl: 'http://localhost:11434',
    endpoints: CHAT_AND_COMPLETIONS,
    keyHint: { zh: '本地服务可填任意内容', en: 'A local server accepts any text' },
    models: 'llama3.3 llama3.2 qwen3 gemma3 deepseek-r1 gpt-oss mistral',
  },
  { id: 47, name: 'Xinference', endpoints: [...CHAT_AND_COMPLETIONS, ...OPENAI_AUDIO] },
  {
    id: 31,
    name: 'LingYiWanWu',
    baseUrl: 'https://api.lingyiwanwu.com',
    models: 'yi-lightning yi-large yi-large-turbo yi-medium yi-vision-v2 yi-spark',
  },
  {
    id: 19,
    name: '360',
    baseUrl: 'https://api.360.cn',
    models: '360gpt2-o1 360gpt2-pro 360gpt-pro 360gpt-turbo 360zhinao2-o1',
  },
  { id: 44, name: 'MokaAI', baseUrl: 'https://api.moka.ai' },
  {
    id: 53,
    name: 'Submodel',
    baseUrl: 'https://llm.submodel.ai',
    models: `
      deepseek-ai/DeepSeek-V3.1 deepseek-ai/DeepSeek-R1-0528 Qwen/Qwen3-235B-A22B-Instruct-2507
      zai-org/GLM-4.5-FP8 openai/gpt-oss-120b
    `,
  },
  { id: 22, name: 'FastGPT', baseUrl: 'https://fastgpt.run/api/openapi', modelsPath: null },
  {
    id: 10,
    name: 'AI Proxy',
    balance: {
      ...singleRequest('/api/report/getUserOverview', ['data', 'totalPoints']),
      keyHeader: 'api-key',
    },
  },
  {
    id: 12,
    name: 'API2GPT',
    balance: singleRequest('/dashboard/billing/credit_grants', ['total_remaining']),
  },
  {
    id: 13,
    name: 'AIGC2D',
    balance: singleRequest('/dashboard/billing/credit_grants', ['total_available']),
  },
  { id: 6, name: 'OpenAIMax' },
  { id: 7, name: 'OhMyGPT' },
  { id: 9, name: 'AILS' },
  { ...MIDJOURNEY, id: 2, name: 'Midjourney' },
  // Another product with the same API as Midjourney's.
  { ...MIDJOURNEY, id: 5, name: 'Midjourney Plus' },
  {
    id: 36,
    name: 'Suno API',
    tasks: { kind: 'music', path: '/suno/submit/MUSIC' },
    modelsPath: null,
    keyHint: { zh: '音乐服务的访问密钥', en: 'The key of the music service' },
    models: 'suno_music suno_lyrics',
  },
  ...VIDEO_ROWS,
]
