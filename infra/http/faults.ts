import type { Words } from './language.ts'

/**
 * A request that is answered with an error of the envelope: thrown by hooks and handlers, worded
 * by the error handler in the caller's language. `code` is stable, for programs.
 */
export class HttpRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly words: Words
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    words: Words,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(`${code}: ${words.en}`)
    this.name = 'HttpRefusal'
    this.status = status
    this.code = code
    this.words = words
    this.headers = headers
  }
}

/** Faults of the request itself; refusals of a business rule are worded where they are made. */
const FAULTS = {
  InvalidJson: [400, '请求内容不是合法的 JSON', 'The request body is not valid JSON'],
  InvalidText: [400, '请求内容不是合法的 UTF-8 文本', 'The request body is not valid UTF-8'],
  TooDeep: [400, '请求内容嵌套过深', 'The request body is nested too deeply'],
  TooManyValues: [400, '请求内容包含过多的值', 'The request body has too many values'],
  InvalidAddress: [400, '请求地址格式错误', 'The request address is malformed'],
  InvalidRequest: [400, '请求格式错误', 'The request is malformed'],
  NotLoggedIn: [401, '未登录或登录已过期，请重新登录！', 'Not logged in, or the login has expired'],
  CrossSite: [403, '拒绝跨站请求', 'Requests from other sites are refused'],
  SessionRequired: [
    403,
    '系统访问令牌不能进行此操作，请登录后操作',
    'An access token can not do this: log in for it',
  ],
  PasswordNotOwn: [
    403,
    '当前密码是临时密码，请先修改密码',
    'Your password is a temporary one: change it first',
  ],
  Forbidden: [403, '无权进行此操作，权限不足', 'You do not have permission to do this'],
  NoSuchRoute: [404, '接口不存在', 'No such route'],
  NotFound: [404, '对象不存在', 'Not found'],
  DemoSite: [
    405,
    '本站仅作演示之用，无服务端！',
    'This site is for demonstration only: it has no server',
  ],
  TooLarge: [413, '请求内容过大', 'The request body is too large'],
  WrongContentType: [
    415,
    '请求类型必须为 application/json',
    'The content type must be application/json',
  ],
  TooManyRequests: [429, '请求次数过多，请稍后再试！', 'Too many requests, please try again later'],
  TooManyExports: [
    429,
    '同时进行的导出过多，请稍后再试',
    'Too many exports are under way, please try again later',
  ],
  Timeout: [408, '请求超时', 'The request took too long to arrive'],
  Unavailable: [503, '服务繁忙，请稍后再试', 'The service is busy, please try again later'],
  Draining: [503, '服务正在停止，请稍后再试', 'The service is stopping, please try again soon'],
  Internal: [500, '服务器内部错误，请联系管理员！', 'Internal server error'],
} as const satisfies Record<string, readonly [number, string, string]>

export type FaultCode = keyof typeof FAULTS

/** The error to throw for a fault; `retryAfterSeconds` is told to the caller. */
export function fault(code: FaultCode, retryAfterSeconds?: number): HttpRefusal {
  const [status, zh, en] = FAULTS[code]
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return new HttpRefusal(status, code, { zh, en }, headers)
}

/** A field can't be used: 400, naming the field and what is wrong with it. */
export function invalidField(field: string, fault: Words): HttpRefusal {
  return new HttpRefusal(400, 'InvalidField', {
    zh: `参数 ${field} 无效：${fault.zh}`,
    en: `Invalid field ${field}: ${fault.en}`,
  })
}

/** An object that is not there, or is not the caller's: the two look alike. */
export const notFound = (words: Words): HttpRefusal => new HttpRefusal(404, 'NotFound', words)
