import { httpError } from './relay-error.ts'

/** The HTTP status and message of every error about the conversion of a request. */
export const CONVERSION_ERRORS = {
  invalid_in_format: {
    ...httpError(
      400,
      'invalid_request_error',
      "'{param}' is empty or not valid in the format of this API.",
      '“{param}” 为空或不符合该 API 的格式。',
    ),
    code: 'invalid_parameter',
  },
  not_convertible: httpError(
    400,
    'invalid_request_error',
    "The provider of this model uses another API format, which can't express '{param}'.",
    '该模型的上游使用其他 API 格式，无法表达 “{param}”。',
  ),
  duplicate_tool_name: {
    ...httpError(
      400,
      'invalid_request_error',
      "'{param}' has the same name as another tool.",
      '“{param}” 与另一个工具同名。',
    ),
    code: 'invalid_parameter',
  },
  required_tool_missing: {
    ...httpError(
      400,
      'invalid_request_error',
      "'{param}' requires a tool call, but allows no tool that the request defines.",
      '“{param}” 要求调用工具，但请求没有定义任何允许调用的工具。',
    ),
    code: 'invalid_parameter',
  },
  schema_too_large: httpError(
    400,
    'invalid_request_error',
    "The provider accepts no '$ref', and without references the schema '{param}' is too large.",
    '该模型的上游不支持 “$ref”，展开引用后 “{param}” 的 Schema 过大。',
  ),
  needs_provider_tool: httpError(
    400,
    'invalid_request_error',
    "The model '{subject}' needs a tool of its provider. Call it with POST /v1/responses.",
    '模型 “{subject}” 必须使用上游的工具，请改用 POST /v1/responses。',
  ),
  request_too_large_to_convert: httpError(
    413,
    'invalid_request_error',
    'The body is larger than {subject} MiB, the limit of a conversion to the provider’s format.',
    '该模型的上游使用其他 API 格式，格式转换时请求体不能超过 {subject} MiB。',
  ),
}
