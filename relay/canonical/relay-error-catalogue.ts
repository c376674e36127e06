import { CONVERSION_ERRORS } from './conversion-error-catalogue.ts'
import { PROVIDER_AND_TASK_ERRORS } from './provider-and-task-error-catalogue.ts'
import { type HttpError, httpError, type RelayError, type RelayErrorCode } from './relay-error.ts'
import { REQUEST_URL_AND_METHOD_ERRORS } from './request-url-and-method-error-catalogue.ts'
import { STORED_CONTENT_ERRORS } from './stored-content-error-catalogue.ts'

/** Returns the HTTP status with which an error is sent. */
export const httpStatusOf = ({ code, status }: RelayError): number =>
  status ?? RELAY_ERRORS[code].status

/** The HTTP status and message of every error. */
export const RELAY_ERRORS: Record<RelayErrorCode, HttpError> = {
  invalid_request: httpError(400, 'invalid_request_error', 'Invalid request.', '请求无效。'),
  empty_body: httpError(
    400,
    'invalid_request_error',
    'The request body is empty: send a JSON object.',
    '请求体为空：请发送 JSON 对象。',
  ),
  invalid_json: httpError(
    400,
    'invalid_request_error',
    'The request body is not valid JSON: the fault is at {subject}.',
    '请求体不是有效的 JSON：错误位于 {subject}。',
  ),
  json_incomplete: httpError(
    400,
    'invalid_request_error',
    'The request body is not valid JSON: it ends before it is complete.',
    '请求体不是有效的 JSON：内容不完整。',
  ),
  json_not_object: httpError(
    400,
    'invalid_request_error',
    'The request body must be a JSON object, with its parameters as members.',
    '请求体必须是 JSON 对象。',
  ),
  json_too_deep: httpError(
    400,
    'invalid_request_error',
    'The request body is nested more than {subject} levels deep.',
    '请求体嵌套超过 {subject} 层。',
  ),
  json_too_long: httpError(
    400,
    'invalid_request_error',
    'The request body has more than {subject} values.',
    '请求体包含超过 {subject} 个值。',
  ),
  json_too_wide: httpError(
    400,
    'invalid_request_error',
    'The request body has more than {subject} fields.',
    '请求体包含超过 {subject} 个字段。',
  ),
  json_too_many_objects: httpError(
    400,
    'invalid_request_error',
    'The request body has more than {subject} objects and arrays.',
    '请求体包含超过 {subject} 个对象和数组。',
  ),
  arguments_too_large: httpError(
    400,
    'invalid_request_error',
    'The arguments of tool calls have more than {subject} fields, objects and arrays together.',
    '工具调用的参数共包含超过 {subject} 个字段、对象和数组。',
  ),
  json_name_too_long: httpError(
    400,
    'invalid_request_error',
    'A field name in the request body is longer than {subject} bytes.',
    '请求体中有字段名超过 {subject} 字节。',
  ),
  invalid_text: httpError(
    400,
    'invalid_request_error',
    'The text at {subject} contains a NUL character or an unpaired surrogate.',
    '位于 {subject} 的文本包含 NUL 或不完整的代理对。',
  ),
  invalid_utf8: httpError(
    400,
    'invalid_request_error',
    'The request body is not valid UTF-8.',
    '请求体不是有效的 UTF-8 文本。',
  ),
  duplicate_key: httpError(
    400,
    'invalid_request_error',
    "The request body gives '{param}' more than once.",
    '请求体中 “{param}” 重复出现。',
  ),
  ambiguous_key: httpError(
    400,
    'invalid_request_error',
    "'{param}' can be read as '{subject}': send that field once, spelled exactly like this.",
    '“{param}” 可能被识别为 “{subject}”：该字段只能出现一次，且必须按此拼写。',
  ),
  missing_parameter: httpError(
    400,
    'invalid_request_error',
    "Missing required parameter: '{param}'.",
    '缺少必填参数：“{param}”。',
  ),
  invalid_parameter: httpError(
    400,
    'invalid_request_error',
    "Invalid value for '{param}'.",
    '参数 “{param}” 的值无效。',
  ),
  integer_out_of_range: {
    ...httpError(
      400,
      'invalid_request_error',
      "Invalid value for '{param}': it must be an integer in the range {subject}.",
      '参数 “{param}” 的值无效：必须为 {subject} 范围内的整数。',
    ),
    code: 'invalid_parameter',
  },
  parameter_not_supported: httpError(
    400,
    'invalid_request_error',
    "'{param}' is not supported here: leave it out.",
    '此处不支持参数 “{param}”，请删除该参数。',
  ),
  string_above_max_length: httpError(
    400,
    'invalid_request_error',
    "'{param}' is longer than {subject} characters.",
    '参数 “{param}” 超过 {subject} 个字符。',
  ),
  request_too_large: httpError(
    413,
    'invalid_request_error',
    'The request body is larger than {subject} MiB.',
    '请求体超过 {subject} MiB。',
  ),
  unsupported_media_type: httpError(
    415,
    'invalid_request_error',
    'Send the request body as application/json.',
    '请求体必须为 application/json。',
  ),
  unsupported_content_encoding: httpError(
    415,
    'invalid_request_error',
    'Content-Encoding must be one of gzip, deflate, br and zstd, or be omitted.',
    'Content-Encoding 只能是 gzip、deflate、br、zstd 之一，或省略。',
  ),
  invalid_content_encoding: httpError(
    400,
    'invalid_request_error',
    'The request body cannot be decompressed with its Content-Encoding.',
    '请求体无法按 Content-Encoding 解压。',
  ),
  compressed_too_far: httpError(
    413,
    'invalid_request_error',
    'The request body has more than {subject} times its compressed size. Send it uncompressed.',
    '请求体解压后超过压缩大小的 {subject} 倍：请不要压缩。',
  ),
  form_expected: httpError(
    415,
    'invalid_request_error',
    'Send the request body as multipart/form-data with a boundary, not compressed.',
    '请求体必须为未压缩、带 boundary 的 multipart/form-data。',
  ),
  invalid_form: httpError(
    400,
    'invalid_request_error',
    'The request body is not a valid multipart/form-data form.',
    '请求体不是有效的 multipart/form-data 表单。',
  ),
  form_too_long: httpError(
    413,
    'invalid_request_error',
    'The form has more than {subject}.',
    '表单超过上限：{subject}。',
  ),
  request_incomplete: httpError(
    400,
    'invalid_request_error',
    'The request body ended early.',
    '请求体不完整。',
  ),
  not_logged_in: httpError(
    401,
    'authentication_error',
    'You are not logged in, or your login has expired.',
    '未登录或登录已过期，请重新登录！',
  ),
  session_required: httpError(
    403,
    'permission_error',
    'An access token cannot be used for this action. Log in instead.',
    '系统访问令牌不能进行此操作，请登录后操作。',
  ),
  session_ended: httpError(
    401,
    'authentication_error',
    'The session that started this call has ended.',
    '发起本次调用的登录会话已结束。',
  ),
  password_not_own: httpError(
    403,
    'permission_error',
    'Your password is temporary. Change it first.',
    '当前密码是临时密码，请先修改密码。',
  ),
  cross_site: httpError(
    403,
    'permission_error',
    'Requests from other sites are refused.',
    '拒绝跨站请求。',
  ),
  missing_key: httpError(
    401,
    'authentication_error',
    'No API key was given. Send it as "Authorization: Bearer sk-…", x-api-key or x-goog-api-key.',
    '未提供令牌，请使用 “Authorization: Bearer sk-…”、x-api-key 或 x-goog-api-key。',
  ),
  invalid_key: httpError(401, 'authentication_error', 'Invalid API key.', '无效的令牌。'),
  token_disabled: httpError(
    401,
    'authentication_error',
    'This token is disabled.',
    '该令牌已禁用。',
  ),
  token_expired: httpError(
    401,
    'authentication_error',
    'This token has expired.',
    '该令牌已过期。',
  ),
  token_exhausted: httpError(
    402,
    'insufficient_quota',
    "This token's remaining quota does not cover the call.",
    '该令牌剩余额度不足以支付本次调用。',
  ),
  user_disabled: httpError(
    403,
    'permission_error',
    'The owner of this token has been banned.',
    '用户已被封禁。',
  ),
  ip_not_allowed: httpError(
    403,
    'permission_error',
    'This token may not be used from your address.',
    '您的 IP 不在该令牌允许访问的列表中。',
  ),
  origin_not_allowed: httpError(
    403,
    'permission_error',
    'Calls from browser extensions are not allowed.',
    '不允许浏览器扩展访问。',
  ),
  model_not_allowed: httpError(
    403,
    'permission_error',
    "This token may not use the model '{subject}'.",
    '该令牌无权使用模型 “{subject}”。',
  ),
  group_not_allowed: httpError(
    403,
    'permission_error',
    "The group '{subject}' is not available to you.",
    '无权访问分组 “{subject}”。',
  ),
  channel_not_allowed: httpError(
    403,
    'permission_error',
    'Only an admin may choose the channel.',
    '普通用户不支持指定渠道。',
  ),
  sensitive_prompt: httpError(
    400,
    'invalid_request_error',
    'The request contains words that this site blocks.',
    '请求包含本站屏蔽的词语。',
  ),
  sensitive_answer: httpError(
    400,
    'invalid_request_error',
    'The answer was stopped because it contains words that this site blocks.',
    '回答包含本站屏蔽的词语，已停止输出。',
  ),
  model_unpriced: httpError(
    400,
    'invalid_request_error',
    "The model '{subject}' has no price yet. Ask the admin to set one.",
    '模型 “{subject}” 的倍率或价格未配置，请联系管理员设置。',
  ),
  model_not_found: httpError(
    404,
    'invalid_request_error',
    "The model '{subject}' does not exist or you have no access to it.",
    '模型 “{subject}” 不存在或无权访问。',
  ),
  ...CONVERSION_ERRORS,
  ...STORED_CONTENT_ERRORS,
  ...REQUEST_URL_AND_METHOD_ERRORS,
  insufficient_quota: httpError(
    402,
    'insufficient_quota',
    'Your quota does not cover this call.',
    '用户额度不足。',
  ),
  balance_spent: httpError(
    402,
    'insufficient_quota',
    'Your quota is used up, so the answer ends here.',
    '额度已用尽，回答到此结束。',
  ),
  output_limit_ignored: httpError(
    502,
    'upstream_error',
    'The provider exceeded the output limit of this call, so the answer ends here.',
    '上游输出超过本次调用的上限，回答到此结束。',
  ),
  idempotency_in_progress: httpError(
    409,
    'invalid_request_error',
    'The call with this Idempotency-Key is still running (request {subject}).',
    '使用该 Idempotency-Key 的请求仍在进行（请求 {subject}）。',
  ),
  idempotency_replayed: httpError(
    409,
    'invalid_request_error',
    'The call with this Idempotency-Key has ended (request {subject}). Its answer is not stored.',
    '使用该 Idempotency-Key 的请求已结束（请求 {subject}），其结果未保存。',
  ),
  idempotency_submitted: {
    ...httpError(
      409,
      'invalid_request_error',
      "A request with this Idempotency-Key was accepted before. Look up '{subject}' instead.",
      '使用该 Idempotency-Key 的请求此前已受理，请查询 “{subject}” 的状态。',
    ),
    code: 'idempotency_replayed',
  },
  idempotency_key_reused: httpError(
    422,
    'invalid_request_error',
    'This Idempotency-Key was used for another request.',
    '该 Idempotency-Key 已用于其他请求。',
  ),
  rate_limited: httpError(
    429,
    'rate_limit_error',
    'Too many calls: the limit is {subject}.',
    '请求过于频繁：限制为 {subject}。',
  ),
  too_many_failed_keys: httpError(
    429,
    'rate_limit_error',
    'Too many calls with a wrong key from your address.',
    '您的地址使用无效令牌的次数过多。',
  ),
  too_many_concurrent: httpError(
    429,
    'rate_limit_error',
    'Too many calls at once: the limit is {subject}.',
    '同时进行的请求过多：限制为 {subject}。',
  ),
  overloaded: httpError(
    503,
    'server_error',
    'The gateway is at its limit. Try again shortly.',
    '系统繁忙，请稍后重试。',
  ),
  draining: httpError(
    503,
    'server_error',
    'The gateway is restarting. Try again shortly.',
    '系统正在重启，请稍后重试。',
  ),
  store_unavailable: httpError(
    503,
    'server_error',
    'The gateway cannot record calls right now. Try again shortly.',
    '系统暂时无法记账，请稍后重试。',
  ),
  ...PROVIDER_AND_TASK_ERRORS,
  internal_error: httpError(500, 'server_error', 'An internal error occurred.', '系统内部错误。'),
}

export type Language = 'zh' | 'en'

/**
 * Returns `zh` if Chinese is the first language of `Accept-Language`, otherwise `en`. Client
 * libraries don't send this header and get English.
 */
export const languageOf = (acceptLanguage: string | undefined): Language =>
  acceptLanguage?.trimStart().slice(0, 2).toLowerCase() === 'zh' ? 'zh' : 'en'
