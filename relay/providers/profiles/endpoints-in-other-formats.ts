import type { CallEndpoint } from './provider-profile.ts'

const messages = (bases: RegExp, path: string): CallEndpoint => ({
  format: 'messages',
  path,
  bases,
})
const responses = (bases: RegExp, path: string): CallEndpoint => ({
  format: 'responses',
  path,
  bases,
})

const MINIMAX = /^api\.(?:minimax\.io|minimaxi\.com)\//
const MOONSHOT = /^api\.moonshot\.(?:cn|ai)\//
const OPEN_ROUTER = /^openrouter\.ai\//

/**
 * The endpoints in other formats that providers document in addition to OpenAI's format, by channel
 * type. These endpoints take the key as `Authorization: Bearer`. An endpoint is used only at the
 * addresses for which it is documented. At any other address, such as that of another gateway,
 * calls are converted.
 */
export const ENDPOINTS_IN_OTHER_FORMATS: ReadonlyMap<number, readonly CallEndpoint[]> = new Map([
  [17, [messages(/^dashscope(?:-intl)?\.aliyuncs\.com\//, '/apps/anthropic/v1/messages')]],
  [20, [messages(OPEN_ROUTER, '/api/v1/messages'), responses(OPEN_ROUTER, '/api/v1/responses')]],
  [
    25,
    [
      messages(MOONSHOT, '/anthropic/v1/messages'),
      messages(/^api\.kimi\.com\/coding\b/, '/coding/v1/messages'),
      responses(MOONSHOT, '/v1/responses'),
    ],
  ],
  [26, [messages(/^(?:open\.bigmodel\.cn|api\.z\.ai)\//, '/api/anthropic/v1/messages')]],
  [35, [messages(MINIMAX, '/anthropic/v1/messages'), responses(MINIMAX, '/v1/responses')]],
  [40, [messages(/^api\.siliconflow\.(?:cn|com)\//, '/v1/messages')]],
  [43, [messages(/^api\.deepseek\.com\//, '/anthropic/v1/messages')]],
  [
    45,
    [
      messages(/^ark\.[\w-]+\.volces\.com\/api\/coding\b/, '/api/coding/v1/messages'),
      responses(/^ark\.[\w-]+\.volces\.com\/(?:api\/v3)?$/, '/api/v3/responses'),
    ],
  ],
  [48, [responses(/^(?:us\.)?api\.x\.ai\//, '/v1/responses')]],
])
