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
  batch_not_accepted: answer(
    409,
    'invalid_request_error',
    "No provider has accepted the batch '{subject}' yet. Please try again later.",
    '批处理 “{subject}” 尚未被上游接收，请稍后重试。',
  ),
  channel_deleted: answer(
    409,
    'invalid_request_error',
    "The channel to which '{subject}' was sent was deleted, so its provider can't be asked.",
    '“{subject}” 所用的渠道已被删除，无法再向上游查询。',
  ),
  key_replaced: answer(
    409,
    'invalid_request_error',
    "The provider's key with which '{subject}' was submitted was replaced, and the provider " +
      'does not allow this with the new key.',
    '提交 “{subject}” 所用的上游密钥已被更换，上游不允许用新密钥执行此操作。',
  ),
  file_not_found: answer(
    404,
    'invalid_request_error',
    "The file '{subject}' does not exist.",
    '文件 “{subject}” 不存在。',
  ),
  too_many_files: answer(
    400,
    'invalid_request_error',
    'You have {subject} files, which is the maximum. Delete files that you no longer need.',
    '文件数量已达上限 {subject}，请先删除不再需要的文件。',
  ),
  file_storage_full: answer(
    413,
    'invalid_request_error',
    'Your files would have more than {subject} GB together, which is the maximum. ' +
      'Delete files that you no longer need.',
    '文件总容量将超过上限 {subject} GB，请先删除不再需要的文件。',
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
  too_many_pictures: answer(
    400,
    'invalid_request_error',
    "'{param}' has more pictures than this model takes: at most {subject}.",
    '参数 “{param}” 中的图片过多，该模型最多接受 {subject} 张。',
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
  upstream_too_large: answer(
    502,
    'upstream_error',
    "The provider's answer is larger than {subject} MiB. Request fewer or smaller results.",
    '上游响应超过 {subject} MiB，请减少结果数量或缩小结果尺寸。',
  ),
  upstream_format: answer(
    502,
    'upstream_error',
    "The provider's answer was not in the expected format.",
    '上游响应格式错误。',
  ),
}
