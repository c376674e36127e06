import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { CHANNEL_TARGET_ERRORS } from '#infra/http/check-channel-address-and-proxy.ts'
import {
  type ErrorCatalogue,
  errorsOf,
  HttpError,
} from '#infra/http/http-error-class-and-catalogue.ts'

const CHANNEL_ACTION_ERRORS = {
  ...CHANNEL_TARGET_ERRORS,
  ChannelNotCallable: [
    200,
    {
      zh: '该渠道无法调用：类型、地址、密钥或必填项缺失或不被允许',
      en: 'This channel can’t be called: a required setting is missing or not allowed',
    },
  ],
  ModelsNotListed: [
    200,
    { zh: '该渠道类型不提供模型列表', en: 'This channel type does not list its models' },
  ],
  ModelsUnavailable: [200, { zh: '获取模型列表失败', en: 'The models could not be fetched' }],
  BalanceNotOffered: [
    200,
    { zh: '该渠道类型不支持查询余额', en: 'This channel type does not report a balance' },
  ],
  BalanceUnavailable: [200, { zh: '查询余额失败', en: 'The balance could not be read' }],
  TestsRunning: [200, { zh: '测试已在运行中', en: 'A test of all channels is already running' }],
  BalancesRunning: [
    200,
    { zh: '余额更新已在运行中', en: 'The balances are already being updated' },
  ],
} satisfies ErrorCatalogue<string>

const errorOf = errorsOf(CHANNEL_ACTION_ERRORS)

/** Creates an error for a route to throw. `why` is appended to the error's message. */
export function channelActionError(
  code: keyof typeof CHANNEL_ACTION_ERRORS,
  why?: TranslatedText,
): HttpError {
  const error = errorOf(code)
  if (why === undefined) return error
  const { zh, en } = error.translatedMessage
  return new HttpError(error.status, { zh: `${zh}：${why.zh}`, en: `${en}: ${why.en}` }, error)
}
