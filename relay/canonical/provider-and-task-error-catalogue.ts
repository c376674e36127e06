import { BATCH_FILE_ERRORS } from './batch-file-error-catalogue.ts'
import { httpError } from './relay-error.ts'

/**
 * The HTTP status and message of every error about providers, channels, batches, files and tasks.
 */
export const PROVIDER_AND_TASK_ERRORS = {
  ...BATCH_FILE_ERRORS,
  no_channel: httpError(
    503,
    'server_error',
    "No channel is available for the model '{subject}'.",
    '模型 “{subject}” 当前无可用渠道。',
  ),
  model_not_at_endpoint: httpError(
    404,
    'invalid_request_error',
    "The model '{subject}' is not offered at this endpoint. GET /v1/models lists its endpoints.",
    '该接口不提供模型 “{subject}”，可用接口见 GET /v1/models。',
  ),
  drawing_model_not_at_endpoint: {
    ...httpError(
      404,
      'invalid_request_error',
      "The model '{subject}' is not offered at this endpoint. It makes drawings, below /mj.",
      '该接口不提供模型 “{subject}”；它用于绘图，请使用 /mj 下的接口。',
    ),
    code: 'model_not_at_endpoint',
  },
  music_model_not_at_endpoint: {
    ...httpError(
      404,
      'invalid_request_error',
      "The model '{subject}' is not offered at this endpoint. It makes music, below /suno.",
      '该接口不提供模型 “{subject}”；它用于音乐，请使用 /suno 下的接口。',
    ),
    code: 'model_not_at_endpoint',
  },
  no_batch_channel: httpError(
    400,
    'invalid_request_error',
    "No channel accepts batches of the model '{subject}', or of it and the models before it.",
    '没有渠道接受模型 “{subject}” 的批处理，或无法与此前的模型同批处理。',
  ),
  batch_not_found: httpError(
    404,
    'invalid_request_error',
    "The batch '{subject}' does not exist.",
    '批处理 “{subject}” 不存在。',
  ),
  batch_not_ended: httpError(
    400,
    'invalid_request_error',
    "The batch '{subject}' has not ended yet.",
    '批处理 “{subject}” 尚未结束。',
  ),
  batch_not_accepted: httpError(
    409,
    'invalid_request_error',
    "No provider has accepted the batch '{subject}' yet. Please try again later.",
    '批处理 “{subject}” 尚未被上游接收，请稍后重试。',
  ),
  batch_above_limit: httpError(
    400,
    'invalid_request_error',
    'The batch alone exceeds a limit: {subject}. Please split it into smaller batches.',
    '该批处理本身已超出限制：{subject}。请拆分为更小的批处理。',
  ),
  channel_deleted: httpError(
    409,
    'invalid_request_error',
    "The channel to which '{subject}' was sent was deleted, so its provider can't be asked.",
    '“{subject}” 所用的渠道已被删除，无法再向上游查询。',
  ),
  file_channel_off: {
    ...httpError(
      503,
      'server_error',
      "The channel that stores the file '{subject}' is disabled, has no usable key or has expired.",
      '存储文件 “{subject}” 的渠道已停用、没有可用的密钥或已过期。',
    ),
    code: 'no_channel',
  },
  key_replaced: httpError(
    409,
    'invalid_request_error',
    "The provider's key with which '{subject}' was submitted was replaced, and the provider " +
      'does not allow this with the new key.',
    '提交 “{subject}” 所用的上游密钥已被更换，上游不允许用新密钥执行此操作。',
  ),
  file_purpose_not_supported: httpError(
    400,
    'invalid_request_error',
    "'{param}' must be 'batch': calls can't refer to files. Send their content in the request.",
    '“{param}” 只支持 batch：调用无法引用已上传的文件，请在请求中直接发送文件内容。',
  ),
  file_not_found: httpError(
    404,
    'invalid_request_error',
    "The file '{subject}' does not exist.",
    '文件 “{subject}” 不存在。',
  ),
  too_many_files: httpError(
    400,
    'invalid_request_error',
    'You have {subject} files, which is the maximum. Delete files that you no longer need.',
    '文件数量已达上限 {subject}，请先删除不再需要的文件。',
  ),
  file_storage_full: httpError(
    413,
    'invalid_request_error',
    'Your files would have more than {subject} GB together, which is the maximum. ' +
      'Delete files that you no longer need.',
    '文件总容量将超过上限 {subject} GB，请先删除不再需要的文件。',
  ),
  tasks_off: httpError(
    403,
    'permission_error',
    'This kind of task is switched off on this site.',
    '本站未启用该类任务。',
  ),
  task_not_found: httpError(
    404,
    'invalid_request_error',
    "The task '{subject}' does not exist.",
    '任务 “{subject}” 不存在。',
  ),
  task_not_finished: httpError(
    400,
    'invalid_request_error',
    "The task '{subject}' has not succeeded, so it can't be continued.",
    '任务 “{subject}” 尚未成功，无法继续操作。',
  ),
  task_step_running: httpError(
    409,
    'invalid_request_error',
    "Another step '{subject}' of this task is running. Send the next one after its end.",
    '该任务的另一步 “{subject}” 正在进行，请等待其结束后再提交。',
  ),
  task_step_too_late: httpError(
    400,
    'invalid_request_error',
    "The task '{subject}' has ended or is about to expire. Submit a new task.",
    '任务 “{subject}” 已结束或即将过期，请重新提交任务。',
  ),
  video_option_invalid: httpError(
    400,
    'invalid_request_error',
    "'{param}' has a value that this model does not offer. Possible values: {subject}.",
    '该模型不支持参数 “{param}” 的取值，可选：{subject}。',
  ),
  too_many_pictures: httpError(
    400,
    'invalid_request_error',
    "'{param}' has more pictures than this model takes: at most {subject}.",
    '参数 “{param}” 中的图片过多，该模型最多接受 {subject} 张。',
  ),
  video_not_ready: httpError(
    400,
    'invalid_request_error',
    "The video '{subject}' is not finished yet.",
    '视频 “{subject}” 尚未完成。',
  ),
  video_unavailable: httpError(
    404,
    'invalid_request_error',
    'The file of this video does not exist, or its provider has deleted it.',
    '该视频文件不存在，或已被上游删除。',
  ),
  file_fetch_failed: httpError(
    503,
    'upstream_error',
    "The provider's file server does not deliver the file at the moment. Please try again later.",
    '上游文件服务器暂时无法提供该文件，请稍后重试。',
  ),
  video_expired: httpError(
    410,
    'invalid_request_error',
    "The file of the video '{subject}' has expired: its provider keeps files for a limited time.",
    '视频 “{subject}” 的文件已过期：上游只在有限时间内保留文件。',
  ),
  video_link_expired: httpError(
    410,
    'invalid_request_error',
    'This link has expired. Fetch the video again with your key for a new link, as long as the ' +
      'provider keeps the file.',
    '该链接已过期。在上游保留文件期间，可使用令牌重新查询视频以获取新链接。',
  ),
  notify_refused: httpError(
    403,
    'permission_error',
    'This callback address is not valid.',
    '无效的回调地址。',
  ),
  image_unavailable: httpError(
    404,
    'invalid_request_error',
    'The picture does not exist, or its provider has deleted it.',
    '图片不存在，或已被上游删除。',
  ),
  channels_busy: httpError(
    429,
    'rate_limit_error',
    "Every channel for the model '{subject}' is at its limit. Try again shortly.",
    '模型 “{subject}” 的渠道均已达到上限，请稍后重试。',
  ),
  provider_tool_in_input: httpError(
    400,
    'invalid_request_error',
    "'{param}' contains a tool that the provider runs. Only 'tools' may contain it.",
    '“{param}” 包含由上游执行的工具，此类工具只能放在 “tools” 中。',
  ),
  context_length_exceeded: httpError(
    400,
    'invalid_request_error',
    "The input is longer than this model's maximum context length here: {subject} tokens.",
    '输入超过该模型在本站的最大上下文长度：{subject} tokens。',
  ),
  upstream_error: httpError(
    502,
    'upstream_error',
    'The provider answered with an error.',
    '上游返回错误。',
  ),
  upstream_account: httpError(
    502,
    'upstream_error',
    "The provider refused the gateway's own key or account. Your key is not at fault.",
    '上游拒绝了本站的密钥或账户，与您的令牌无关。',
  ),
  upstream_timeout: httpError(
    504,
    'upstream_error',
    'The provider did not answer in time.',
    '上游响应超时。',
  ),
  upstream_unreachable: httpError(
    502,
    'upstream_error',
    'The provider could not be reached.',
    '无法连接上游。',
  ),
  upstream_incomplete: httpError(
    502,
    'upstream_error',
    "The provider's answer ended early.",
    '上游响应中断。',
  ),
  upstream_too_large: httpError(
    502,
    'upstream_error',
    "The provider's answer is larger than {subject} MiB. Request fewer or smaller results.",
    '上游响应超过 {subject} MiB，请减少结果数量或缩小结果尺寸。',
  ),
  // With another status, clients would repeat a call that may be charged.
  upstream_no_image: httpError(
    400,
    'invalid_request_error',
    "The provider's answer contains no image. The provider may refuse the prompt.",
    '上游响应中没有图片，可能是上游拒绝了该提示词。',
  ),
  image_blocked: httpError(
    400,
    'invalid_request_error',
    'The provider refuses to make an image of this prompt.',
    '上游拒绝为该提示词生成图片。',
  ),
  upstream_format: httpError(
    502,
    'upstream_error',
    "The provider's answer was not in the expected format.",
    '上游响应格式错误。',
  ),
}
