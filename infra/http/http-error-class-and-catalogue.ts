import type { CodedError, ErrorParams } from '#domain/shared/coded-error.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'

/** The message about an invalid field. `problem` alone is shown next to the field in a form. */
type InvalidFieldMessage = TranslatedText & {
  readonly field: string
  readonly problem: TranslatedText
}

export const invalidFieldMessage = (
  field: string,
  problem: TranslatedText,
): InvalidFieldMessage => ({
  zh: `参数 ${field} 无效：${problem.zh}`,
  en: `Invalid field ${field}: ${problem.en}`,
  field,
  problem,
})

/**
 * A coded error, which the error handler sends in the caller's language. `retryAfter` is in
 * seconds.
 */
export class HttpError extends Error implements CodedError {
  readonly status: number
  readonly code: string
  readonly params: ErrorParams
  readonly translatedMessage: TranslatedText | InvalidFieldMessage
  readonly retryAfter?: number

  constructor(
    status: number,
    translatedMessage: HttpError['translatedMessage'],
    { code, params, retryAfter }: CodedError,
  ) {
    super(`${code}: ${translatedMessage.en}`)
    this.name = 'HttpError'
    this.status = status
    this.code = code
    this.params = params
    this.translatedMessage = translatedMessage
    if (retryAfter !== undefined) this.retryAfter = retryAfter
  }
}

/**
 * The HTTP status and message of each error. Status 200 means that a business rule rejected the
 * request.
 */
export type ErrorCatalogue<Code extends string> = Readonly<
  Record<
    Code,
    readonly [status: number, TranslatedText | ((params: ErrorParams) => TranslatedText)]
  >
>

/**
 * Returns a function that creates errors of a catalogue. The function's parameter `retryAfter` is
 * in seconds.
 */
export const errorsOf =
  <Code extends string>(catalogue: ErrorCatalogue<Code>) =>
  (code: Code, params: ErrorParams = {}, retryAfter?: number): HttpError => {
    const [status, message] = catalogue[code]
    const error = retryAfter === undefined ? { code, params } : { code, params, retryAfter }
    return new HttpError(status, typeof message === 'function' ? message(params) : message, error)
  }

const HTTP_ERRORS = {
  InvalidJson: [400, { zh: '请求内容不是合法的 JSON', en: 'The request body is not valid JSON' }],
  InvalidText: [
    400,
    { zh: '请求内容不是合法的 UTF-8 文本', en: 'The request body is not valid UTF-8' },
  ],
  TooDeep: [400, { zh: '请求内容嵌套过深', en: 'The request body is nested too deeply' }],
  TooManyValues: [400, { zh: '请求内容包含过多的值', en: 'The request body has too many values' }],
  InvalidAddress: [400, { zh: '请求地址格式错误', en: 'The request address is malformed' }],
  InvalidRequest: [400, { zh: '请求格式错误', en: 'The request is malformed' }],
  NotLoggedIn: [
    401,
    {
      zh: '未登录或登录已过期，请重新登录！',
      en: 'You are not signed in, or your session has expired',
    },
  ],
  CrossSite: [403, { zh: '拒绝跨站请求', en: 'Requests from other sites are refused' }],
  SessionRequired: [
    403,
    {
      zh: '系统访问令牌不能进行此操作，请登录后操作',
      en: 'An access token cannot be used for this action. Sign in instead',
    },
  ],
  PasswordNotOwn: [
    403,
    {
      zh: '当前密码是临时密码，请先修改密码',
      en: 'Your password is temporary. Change it first',
    },
  ],
  Forbidden: [403, { zh: '无权进行此操作，权限不足', en: 'You do not have permission to do this' }],
  NoSuchRoute: [404, { zh: '接口不存在', en: 'No such route' }],
  NotFound: [404, { zh: '对象不存在', en: 'Not found' }],
  DemoSite: [
    405,
    {
      zh: '本站仅作演示之用，无服务端！',
      en: 'This site is for demonstration only: it has no server',
    },
  ],
  ScratchCopyUnknown: [
    404,
    { zh: '该临时副本不存在或已删除', en: 'The scratch copy does not exist any more' },
  ],
  ScratchCopyNotReady: [409, { zh: '临时副本尚未建好', en: 'The scratch copy is not ready yet' }],
  ScratchCopyReadOnly: [
    409,
    {
      zh: '正在查看临时副本，不能修改。请先退出副本',
      en: 'A scratch copy cannot be changed. Leave the copy first',
    },
  ],
  NotInScratchCopy: [
    409,
    {
      zh: '临时副本中没有此内容。请先退出副本',
      en: 'Scratch copies do not have this. Leave the copy first',
    },
  ],
  TooLarge: [413, { zh: '请求内容过大', en: 'The request body is too large' }],
  WrongContentType: [
    415,
    { zh: '请求类型必须为 application/json', en: 'The content type must be application/json' },
  ],
  TooManyRequests: [
    429,
    { zh: '请求次数过多，请稍后再试！', en: 'Too many requests, please try again later' },
  ],
  TooManyExports: [
    429,
    {
      zh: '同时进行的导出过多，请稍后再试',
      en: 'Too many exports are running, please try again later',
    },
  ],
  Timeout: [408, { zh: '请求超时', en: 'The request took too long to arrive' }],
  Unavailable: [
    503,
    { zh: '服务繁忙，请稍后再试', en: 'The service is busy, please try again later' },
  ],
  Rebuilding: [
    503,
    {
      zh: '系统升级中，读取数据正在重建，请稍后再试',
      en: 'The read models are being rebuilt after an upgrade, please try again later',
    },
  ],
  Draining: [
    503,
    { zh: '服务正在停止，请稍后再试', en: 'The service is stopping, please try again soon' },
  ],
  Internal: [500, { zh: '服务器内部错误，请联系管理员！', en: 'Internal server error' }],
} as const satisfies ErrorCatalogue<string>

export type HttpErrorCode = keyof typeof HTTP_ERRORS

export const httpError = errorsOf<HttpErrorCode>(HTTP_ERRORS)

export function invalidField(field: string, problem: TranslatedText): HttpError {
  const message = invalidFieldMessage(field, problem)
  return new HttpError(400, message, { code: 'InvalidField', params: { field } })
}

/** The messages for objects that do not exist. The write and read APIs share these messages. */
export const UNKNOWN_OBJECTS = {
  channel: {
    zh: '渠道未找到，请刷新页面后重试。',
    en: 'The channel does not exist. Refresh the page',
  },
  message: { zh: '消息不存在', en: 'The message does not exist' },
  session: { zh: '会话不存在', en: 'The session does not exist' },
  token: { zh: '令牌不存在', en: 'The token does not exist' },
  user: { zh: '用户不存在', en: 'The user does not exist' },
} satisfies Record<string, TranslatedText>

/**
 * Returns the error for an object that does not exist. Routes also use this error for another
 * user's object, so that callers can't tell the two cases apart.
 */
export const notFound = (object: keyof typeof UNKNOWN_OBJECTS): HttpError =>
  new HttpError(404, UNKNOWN_OBJECTS[object], { code: 'NotFound', params: {} })
