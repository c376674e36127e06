import { httpError } from './relay-error.ts'

/**
 * The HTTP status and message of every error about the URL or the method of a request, and about
 * the parts of the Realtime API that are not offered.
 */
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
  webrtc_not_supported: httpError(
    400,
    'invalid_request_error',
    'Realtime calls over WebRTC are not supported. Use the websocket GET /v1/realtime.',
    '不支持 WebRTC 实时通话，请使用 WebSocket：GET /v1/realtime。',
  ),
  transcription_sessions_not_supported: httpError(
    400,
    'invalid_request_error',
    'Realtime sessions that only transcribe are not supported. Use POST /v1/audio/transcriptions.',
    '不支持仅转写的实时会话，请使用 POST /v1/audio/transcriptions。',
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
