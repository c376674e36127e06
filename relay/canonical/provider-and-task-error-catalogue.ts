import { answer } from './relay-error.ts'

export const PROVIDER_AND_TASK_ERRORS = {
  no_channel: answer(
    503,
    'server_error',
    "No channel is available for the model '{subject}'.",
    '模型 “{subject}” 当前无可用渠道。',
  ),
  no_batch_channel: answer(
    400,
    'invalid_request_error',
    "No channel accepts batches of the model '{subject}' together with the requests before it.",
    '没有渠道可在同一批处理中处理模型 “{subject}” 及此前的请求。',
  ),
  batch_not_found: answer(
    404,
    'invalid_request_error',
    "The batch '{subject}' does not exist.",
    '批处理 “{subject}” 不存在。',
  ),
  batch_not_ended: answer(
    400,
    'invalid_request_error',
    "The batch '{subject}' has not ended yet.",
    '批处理 “{subject}” 尚未结束。',
  ),
  tasks_off: answer(
    403,
    'permission_error',
    'This kind of task is switched off on this site.',
    '本站未启用该类任务。',
  ),
  task_not_found: answer(
    404,
    'invalid_request_error',
    "The task '{subject}' does not exist.",
    '任务 “{subject}” 不存在。',
  ),
  task_not_finished: answer(
    400,
    'invalid_request_error',
    "The task '{subject}' has not succeeded, so it can't be continued.",
    '任务 “{subject}” 尚未成功，无法继续操作。',
  ),
  video_option_invalid: answer(
    400,
    'invalid_request_error',
    "'{param}' has a value that this model does not offer. Possible values: {subject}.",
    '该模型不支持参数 “{param}” 的取值，可选：{subject}。',
  ),
  video_not_ready: answer(
    400,
    'invalid_request_error',
    "The video '{subject}' is not finished yet.",
    '视频 “{subject}” 尚未完成。',
  ),
  video_unavailable: answer(
    404,
    'invalid_request_error',
    'The video does not exist or has expired.',
    '视频不存在或已失效。',
  ),
  notify_refused: answer(
    403,
    'permission_error',
    'This callback address is not valid.',
    '无效的回调地址。',
  ),
  image_unavailable: answer(
    404,
    'invalid_request_error',
    'The picture does not exist or has expired.',
    '图片不存在或已失效。',
  ),
  channels_busy: answer(
    429,
    'rate_limit_error',
    "Every channel for the model '{subject}' is at its limit. Try again shortly.",
    '模型 “{subject}” 的渠道均已达到上限，请稍后重试。',
  ),
  context_length_exceeded: answer(
    400,
    'invalid_request_error',
    "The input is longer than this model's maximum context length here: {subject} tokens.",
    '输入超过该模型在本站的最大上下文长度：{subject} tokens。',
  ),
  upstream_error: answer(
    502,
    'upstream_error',
    'The provider answered with an error.',
    '上游返回错误。',
  ),
  upstream_account: answer(
    502,
    'upstream_error',
    "The provider refused the gateway's own key or account. Your key is not at fault.",
    '上游拒绝了本站的密钥或账户，与您的令牌无关。',
  ),
  upstream_timeout: answer(
    504,
    'upstream_error',
    'The provider did not answer in time.',
    '上游响应超时。',
  ),
  upstream_unreachable: answer(
    502,
    'upstream_error',
    'The provider could not be reached.',
    '无法连接上游。',
  ),
  upstream_incomplete: answer(
    502,
    'upstream_error',
    "The provider's answer ended early.",
    '上游响应中断。',
  ),
  upstream_format: answer(
    502,
    'upstream_error',
    "The provider's answer was not in the expected format.",
    '上游响应格式错误。',
  ),
}
