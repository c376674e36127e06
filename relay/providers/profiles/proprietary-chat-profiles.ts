import { BAIDU_V1, openBaiduV1 } from '../proprietary-chat-apis/baidu-v1.ts'
import { COHERE } from '../proprietary-chat-apis/cohere.ts'
import { COZE } from '../proprietary-chat-apis/coze.ts'
import { DIFY } from '../proprietary-chat-apis/dify.ts'
import { openReplicate, REPLICATE } from '../proprietary-chat-apis/replicate.ts'
import { openTencent, TENCENT } from '../proprietary-chat-apis/tencent.ts'
import { openXunfei, XUNFEI } from '../proprietary-chat-apis/xunfei.ts'
import { openZhipuV3, ZHIPU_V3 } from '../proprietary-chat-apis/zhipu-v3.ts'
import type { ProfileRow } from './provider-profile.ts'

/**
 * The channel types of providers with their own formats, from and to which chats are translated.
 */
export const PROPRIETARY_CHAT_ROWS: readonly ProfileRow[] = [
  // If the address ends with Cohere's compatibility API, Cohere is called in OpenAI's format.
  {
    id: 34,
    name: 'Cohere',
    baseUrl: 'https://api.cohere.ai',
    endpoints: [
      {
        format: 'chat',
        path: '/compatibility/v1/chat/completions',
        bases: /^[^/]+\/compatibility\/v1\/?$/,
      },
      { format: 'chat', path: '/v2/chat', translation: COHERE },
    ],
    modelsPath: '/v1/models?endpoint=chat&page_size=1000',
    keyHint: { zh: '控制台的 API 密钥', en: 'An API key from the dashboard' },
    sendsUsageByDefault: true,
    models: `
      command-a-03-2025 command-a-reasoning-08-2025 command-a-vision-07-2025 command-r7b-12-2024
      command-r-plus-08-2024 command-r-08-2024
      embed-v4.0 rerank-v4.0-pro rerank-v4.0-fast rerank-v3.5
    `,
  },
  {
    id: 15,
    name: 'Baidu (v1)',
    baseUrl: 'https://aip.baidubce.com',
    cloud: openBaiduV1,
    endpoints: [
      {
        format: 'chat',
        path: '/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/{model}',
        translation: BAIDU_V1,
      },
    ],
    modelsPath: null,
    keyHint: { zh: 'API Key|Secret Key', en: 'API key|secret key' },
    models: `
      ERNIE-4.0-8K ERNIE-4.0-Turbo-8K ERNIE-3.5-8K ERNIE-3.5-128K ERNIE-Speed-8K
      ERNIE-Speed-128K ERNIE-Lite-8K ERNIE-Tiny-8K
    `,
  },
  {
    id: 16,
    name: 'Zhipu v3',
    baseUrl: 'https://open.bigmodel.cn',
    cloud: openZhipuV3,
    endpoints: [
      {
        format: 'chat',
        path: '/api/paas/v3/model-api/{model}/invoke',
        streamPath: '/api/paas/v3/model-api/{model}/sse-invoke',
        translation: ZHIPU_V3,
      },
    ],
    modelsPath: null,
    ignoresOutputLimit: true,
    keyHint: { zh: '旧版 API Key，形如 id.secret', en: 'An API key of the form id.secret' },
    models: 'chatglm_turbo chatglm_pro chatglm_std chatglm_lite',
  },
  {
    id: 18,
    name: 'Xunfei Spark',
    baseUrl: 'https://spark-api.xf-yun.com',
    cloud: openXunfei,
    endpoints: [{ format: 'chat', path: '/{model}', translation: XUNFEI }],
    modelsPath: null,
    keyHint: { zh: 'APPID|APISecret|APIKey', en: 'App id|API secret|API key' },
    fields: [
      {
        key: 'other',
        kind: 'text',
        label: { zh: '默认版本', en: 'Default version' },
        hint: {
          zh: '模型名不含版本时使用，例如 v3.5、v4.0、pro-128k、max-32k',
          en: 'For models without a version in the name, such as v3.5, v4.0, pro-128k, max-32k',
        },
        default: 'v2.1',
        isRequired: false,
      },
    ],
    models: `
      SparkDesk-v4.0 SparkDesk-v3.5 SparkDesk-v3.1 SparkDesk-v1.1 SparkDesk-max-32k
      SparkDesk-pro-128k
    `,
  },
  {
    id: 23,
    name: 'Tencent Hunyuan',
    baseUrl: 'https://hunyuan.tencentcloudapi.com',
    cloud: openTencent,
    endpoints: [{ format: 'chat', path: '/', translation: TENCENT }],
    modelsPath: null,
    ignoresOutputLimit: true,
    keyHint: {
      zh: 'SecretId|SecretKey（也可在前面加 AppId|）',
      en: 'Secret id|secret key (app id| may precede them)',
    },
    models: `
      hunyuan-turbos-latest hunyuan-t1-latest hunyuan-lite hunyuan-large hunyuan-standard
      hunyuan-standard-256K hunyuan-vision hunyuan-functioncall
    `,
  },
  {
    id: 37,
    name: 'Dify',
    baseUrl: 'https://api.dify.ai',
    endpoints: [{ format: 'chat', path: '/v1/chat-messages', translation: DIFY }],
    modelsPath: null,
    ignoresOutputLimit: true,
    keyHint: { zh: '应用的 API 密钥，app- 开头', en: 'The API key of an app, app-…' },
    models: 'dify',
  },
  {
    id: 49,
    name: 'Coze',
    baseUrl: 'https://api.coze.cn',
    endpoints: [{ format: 'chat', path: '/v3/chat', translation: COZE }],
    modelsPath: null,
    ignoresOutputLimit: true,
    keyHint: { zh: '访问令牌，pat_ 开头', en: 'An access token, pat_…' },
    fields: [
      {
        key: 'other',
        kind: 'text',
        label: { zh: '智能体 ID', en: 'Bot id' },
        hint: {
          zh: '智能体页面地址末尾的数字',
          en: 'The number at the end of the address of the bot’s page',
        },
        default: '',
        isRequired: true,
      },
    ],
    models: 'coze',
  },
  {
    id: 56,
    name: 'Replicate',
    baseUrl: 'https://api.replicate.com',
    cloud: openReplicate,
    endpoints: [{ format: 'chat', path: '/v1/models/{model}/predictions', translation: REPLICATE }],
    modelsPath: null,
    // Only some of the models accept an output limit.
    ignoresOutputLimit: true,
    keyHint: { zh: 'r8_ 开头的 API 令牌', en: 'An API token, r8_…' },
    models: `
      meta/meta-llama-3-70b-instruct meta/meta-llama-3-8b-instruct
      meta/meta-llama-3.1-405b-instruct deepseek-ai/deepseek-r1 ibm-granite/granite-3.3-8b-instruct
    `,
  },
]
