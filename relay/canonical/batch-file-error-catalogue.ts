import { httpError } from './relay-error.ts'

const invalid = (en: string, zh: string) => ({
  ...httpError(400, 'invalid_request_error', en, zh),
  code: 'invalid_parameter',
})

/**
 * The HTTP status and message of every error about the lines of a batch's file and about members
 * with a wrong kind or number of values. `param` names the line or the member.
 */
export const BATCH_FILE_ERRORS = {
  value_not_possible: invalid(
    "Invalid value for '{param}'. Possible values: {subject}.",
    '参数 “{param}” 的值无效，可选：{subject}。',
  ),
  list_too_long: invalid(
    "'{param}' has more than {subject} elements.",
    '参数 “{param}” 超过 {subject} 个元素。',
  ),
  text_missing: {
    ...invalid(
      "Missing required parameter: '{param}'. Send a string that is not empty.",
      '缺少必填参数：“{param}”，应为非空字符串。',
    ),
    code: 'missing_parameter',
  },
  text_empty: invalid(
    "Invalid value for '{param}': it must be a string that is not empty.",
    '参数 “{param}” 的值无效：必须为非空字符串。',
  ),
  file_without_lines: invalid(
    "The file '{param}' contains no requests: send one JSON object per line.",
    '文件 “{param}” 中没有请求：每行应为一个 JSON 对象。',
  ),
  file_has_bom: invalid(
    "'{param}' begins with a byte order mark: save the file as UTF-8 without BOM.",
    '“{param}” 以字节顺序标记（BOM）开头，请将文件保存为无 BOM 的 UTF-8。',
  ),
  line_not_json: invalid(
    "'{param}' is not valid JSON: the fault is at column {subject}.",
    '“{param}” 不是有效的 JSON：错误位于第 {subject} 列。',
  ),
  line_not_object: invalid(
    "'{param}' must be a JSON object with custom_id, method, url and body.",
    '“{param}” 必须是包含 custom_id、method、url 和 body 的 JSON 对象。',
  ),
  line_too_long: invalid(
    "'{param}' is longer than {subject} MiB.",
    '“{param}” 超过 {subject} MiB。',
  ),
  too_many_lines: invalid(
    "'{param}' is one line too many: a batch has at most {subject} requests.",
    '“{param}” 超出上限：每个批处理最多包含 {subject} 个请求。',
  ),
  custom_id_repeated: invalid(
    "'{param}' repeats the custom_id of an earlier request in this batch.",
    '“{param}” 与同一批处理中此前请求的 custom_id 重复。',
  ),
}
