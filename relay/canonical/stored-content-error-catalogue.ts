import { httpError } from './relay-error.ts'

/** The HTTP status and message of every error about references to stored content. */
export const STORED_CONTENT_ERRORS = {
  stored_input: httpError(
    400,
    'invalid_request_error',
    "'{param}' refers to stored content that can't be used here. Send the content itself.",
    '“{param}” 引用了此处无法使用的已保存内容，请直接发送该内容。',
  ),
  repeated_item: httpError(
    400,
    'invalid_request_error',
    "'{param}' refers to the item {subject} again. Refer to each item once.",
    '“{param}” 重复引用了项目 {subject}，每个项目只能引用一次。',
  ),
  response_not_found: httpError(
    404,
    'invalid_request_error',
    'Response with id {subject} not found.',
    '找不到 id 为 {subject} 的响应。',
  ),
  response_not_cancellable: httpError(
    400,
    'invalid_request_error',
    'The response with id {subject} was not created in the background, so it can’t be cancelled.',
    'id 为 {subject} 的响应不是后台响应，无法取消。',
  ),
  input_items_not_stored: httpError(
    404,
    'invalid_request_error',
    'This site does not store the input of the response with id {subject}.',
    '本站未保存 id 为 {subject} 的响应的输入。',
  ),
  previous_response_not_found: httpError(
    400,
    'invalid_request_error',
    'Previous response with id {subject} not found. Send the complete input.',
    '找不到 id 为 {subject} 的上一次响应，请发送完整的输入。',
  ),
  item_not_stored: {
    ...httpError(
      400,
      'invalid_request_error',
      "'{param}' refers to a response that this site does not store. Send the content itself.",
      '“{param}” 引用的响应未被本站保存，请直接发送该内容。',
    ),
    code: 'stored_input',
  },
  previous_response_not_stored: {
    ...httpError(
      400,
      'invalid_request_error',
      'This site does not store the response with id {subject}. Send the complete input.',
      '本站未保存 id 为 {subject} 的响应，请发送完整的输入。',
    ),
    code: 'previous_response_not_found',
  },
}
