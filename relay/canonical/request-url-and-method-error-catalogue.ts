import { httpError } from './relay-error.ts'

/** The HTTP status and message of every error about the URL or the method of a request. */
export const REQUEST_URL_AND_METHOD_ERRORS = {
  not_found: httpError(404, 'invalid_request_error', 'Unknown request URL.', '请求的地址不存在。'),
  invalid_path: httpError(
    400,
    'invalid_request_error',
    'The path of the request URL has a dot segment, a forbidden character or a broken encoding.',
    '请求地址的路径无效：包含 . 或 .. 段、不允许的字符或错误的百分号编码。',
  ),
  method_not_allowed: httpError(
    405,
    'invalid_request_error',
    'This method is not supported here. Use {subject}.',
    '不支持该请求方法，请使用 {subject}。',
  ),
  websocket_required: httpError(
    426,
    'invalid_request_error',
    'This address serves websockets only. Open a websocket here.',
    '该地址仅支持 WebSocket，请以 WebSocket 方式连接。',
  ),
  wrong_base_url: {
    ...httpError(
      404,
      'invalid_request_error',
      'Unknown request URL. Did you mean {subject}? Check the base URL of your client.',
      '请求的地址不存在，是否应为 {subject}？请检查客户端的 Base URL。',
    ),
    code: 'not_found',
  },
}
