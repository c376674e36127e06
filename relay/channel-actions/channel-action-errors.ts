import { type ErrorCatalogue, errorsOf, HttpError } from '#infra/http/http-errors.ts'
import type { Words } from '#infra/http/language.ts'

const CHANNEL_ACTION_ERRORS = {
  ChannelUnknown: [
    404,
    { zh: '渠道未找到，请刷新页面后重试。', en: 'Channel not found, please refresh the page.' },
  ],
  ChannelNotCallable: [
    200,
    {
      zh: '该渠道无法调用：类型、地址、密钥或必填项缺失或不被允许',
      en: 'This channel can’t be called: type, address, key or a field is missing or not allowed',
    },
  ],
  KeyRequired: [
    200,
    {
      zh: '请填写密钥：更改渠道类型、地址或代理时必须重新填写',
      en: 'Enter the key: a new type, address or proxy of a channel needs it again',
    },
  ],
  // NOTE: the same words whatever is at the address, or they would map a private network.
  AddressNotAllowed: [
    200,
    {
      zh: '参数 base_url 无效：不允许使用该地址（内网地址须列入 PRIVATE_UPSTREAMS）',
      en: 'Invalid field base_url: not an allowed address (PRIVATE_UPSTREAMS lists private ones)',
    },
  ],
  ProxyNotAllowed: [
    200,
    {
      zh: '参数 setting 无效：不允许使用 setting.proxy 的地址（内网地址须列入 PRIVATE_UPSTREAMS）',
      en: 'Invalid field setting: setting.proxy is no allowed address (see PRIVATE_UPSTREAMS)',
    },
  ],
  ModelsNotListed: [
    200,
    { zh: '该渠道类型不提供模型列表', en: 'This type of channel does not list its models' },
  ],
  ModelsUnavailable: [200, { zh: '获取模型列表失败', en: 'The models could not be fetched' }],
  BalanceNotOffered: [
    200,
    { zh: '该渠道类型不支持查询余额', en: 'This type of channel does not tell its balance' },
  ],
  BalanceUnavailable: [200, { zh: '查询余额失败', en: 'The balance could not be read' }],
  TestsRunning: [200, { zh: '测试已在运行中', en: 'A test of all channels is already running' }],
  BalancesRunning: [
    200,
    { zh: '余额更新已在运行中', en: 'The balances are being updated already' },
  ],
} satisfies ErrorCatalogue<string>

const errorOf = errorsOf(CHANNEL_ACTION_ERRORS)

/** An error to be thrown; `why` is appended to its message. */
export function channelActionError(
  code: keyof typeof CHANNEL_ACTION_ERRORS,
  why?: Words,
): HttpError {
  const error = errorOf(code)
  if (why === undefined) return error
  const { zh, en } = error.words
  return new HttpError(error.status, { zh: `${zh}：${why.zh}`, en: `${en}: ${why.en}` }, error)
}
