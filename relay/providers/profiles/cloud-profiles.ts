import { BEDROCK_ENVELOPE, openBedrock } from '../clouds/bedrock-access.ts'
import { openVertex, VERTEX_ENVELOPE } from '../clouds/vertex-access.ts'
import { audioAt } from './audio-and-realtime-endpoints.ts'
import { MODELS_WITH_CHATS } from './openai-models-with-chat-endpoint.ts'
import type { ProfileRow } from './provider-profile.ts'

const AZURE_FORMATS = ['speech', 'transcriptions', 'translations'] as const
/**
 * The audio endpoints of Azure's newer API, whose paths contain no deployment, and of its older
 * API, whose paths contain one.
 */
const AZURE_AUDIO = [
  ...audioAt('/openai/v1', AZURE_FORMATS).map((endpoint) => ({
    ...endpoint,
    bases: /\/openai\/v1\/?$/,
  })),
  ...audioAt('/openai/deployments/{model}', AZURE_FORMATS, '?api-version={other}'),
]

const VERTEX_PATH = '/v1/projects/{project}/locations/{region}/publishers'

/**
 * The channel types of cloud providers. The operator has an account there and deploys or enables
 * models in it.
 */
export const CLOUD_ROWS: readonly ProfileRow[] = [
  // Azure identifies a model by its deployment. An address that ends in `/openai/v1` belongs to the
  // newer API, whose paths contain neither deployments nor versions. Only the newer API serves
  // responses, and every Azure resource offers it.
  {
    id: 3,
    name: 'Azure OpenAI',
    endpoints: [
      {
        format: 'chat',
        path: '/openai/deployments/{model}/chat/completions?api-version={other}',
        models: MODELS_WITH_CHATS,
      },
      {
        format: 'responses',
        path: '/openai/v1/responses',
        compactPath: '/openai/v1/responses/compact',
      },
      ...AZURE_AUDIO,
      {
        format: 'realtime',
        path: '/openai/v1/realtime?model={model}',
        betaPath: '/openai/realtime?api-version={other}&deployment={model}',
      },
    ],
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
    models: 'gpt-4.1 gpt-4.1-mini gpt-4o gpt-4o-mini o3-mini o1 gpt-35-turbo',
  },
  {
    id: 33,
    name: 'AWS Bedrock',
    baseUrl: 'https://bedrock-runtime.amazonaws.com',
    cloud: openBedrock,
    endpoints: [
      {
        format: 'messages',
        path: '/model/{model}/invoke',
        streamPath: '/model/{model}/invoke-with-response-stream',
        envelope: BEDROCK_ENVELOPE,
      },
    ],
    modelsPath: null,
    keyHint: {
      zh: 'Access Key|Secret Key|区域（临时凭证再加 |Session Token），或 API Key|区域',
      en: 'Access key|secret key|region (with |session token if temporary), or API key|region',
    },
    models: `
      claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-opus-5 claude-sonnet-5
      claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-sonnet-4-6 claude-haiku-4-5
    `,
  },
  {
    id: 41,
    name: 'Vertex AI',
    baseUrl: 'https://aiplatform.googleapis.com',
    cloud: openVertex,
    endpoints: [
      {
        format: 'gemini',
        path: `${VERTEX_PATH}/google/models/{model}:generateContent`,
        streamPath: `${VERTEX_PATH}/google/models/{model}:streamGenerateContent?alt=sse`,
        models: /^(?!claude-)/,
      },
      {
        format: 'messages',
        path: `${VERTEX_PATH}/anthropic/models/{model}:rawPredict`,
        streamPath: `${VERTEX_PATH}/anthropic/models/{model}:streamRawPredict`,
        models: /^claude-/,
        envelope: VERTEX_ENVELOPE,
      },
    ],
    modelsPath: null,
    videos: { vendor: 'veo-on-vertex', models: /^veo-/ },
    keyHint: {
      zh: '服务账号的 JSON 密钥文件；只用 Gemini 时也可填 API 密钥',
      en: 'A service account’s key file (JSON), or an API key if only Gemini is used',
    },
    fields: [
      {
        key: 'other',
        kind: 'json',
        label: { zh: '区域', en: 'Region' },
        hint: {
          zh: '例如 us-central1，或按模型：{"default":"global","claude-opus-5":"us-east5"}',
          en: 'Such as us-central1, or by model: {"default":"global","claude-opus-5":"us-east5"}',
        },
        default: 'global',
        isRequired: false,
      },
    ],
    models: `
      gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite claude-opus-5-5 claude-sonnet-5-5
      claude-haiku-5-5 claude-opus-5 claude-sonnet-5 claude-opus-4-8 claude-sonnet-4-6
      claude-haiku-4-5
    `,
  },
]
