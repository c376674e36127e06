import {
  type BodyNames,
  CHAT_NAMES,
  meanings,
  namesOfTool,
} from '../openai-chat/find-message-parts-and-tools.ts'

/**
 * The types and members of content blocks with at most one token per byte, because their content is
 * in the request itself. The types of pictures and documents are missing from this list, because
 * these may have more tokens than bytes.
 */
const PLAIN = [
  ...['text', 'thinking', 'signature', 'redacted_thinking', 'data', 'cache_control', 'citations'],
  ...['tool_use', 'id', 'name', 'input', 'caller', 'tool_result', 'tool_use_id', 'content'],
  ...['is_error', 'source', 'type', 'title', 'context', 'search_result', 'tool_reference'],
  ...['tool_name', 'server_tool_use', 'web_search_tool_result', 'web_search_result', 'url'],
  ...['encrypted_content', 'page_age', 'web_fetch_tool_result', 'code_execution_tool_result'],
  ...['bash_code_execution_tool_result', 'text_editor_code_execution_tool_result'],
  ...['tool_search_tool_result', 'compaction'],
]

/**
 * Matches the types of tools that have no separate price. The caller runs most of them, such as
 * Anthropic's `bash_20250124`. The tool search only finds other tools of the request.
 */
const CALLER_TOOL = /^(?:custom|(?:bash|text_editor|computer|memory|tool_search_tool_\w+)_\d{8})$/

export const MESSAGES_NAMES: BodyNames = {
  list: CHAT_NAMES.list,
  contents: CHAT_NAMES.contents,
  inPart: meanings(PLAIN),
  inMessage: meanings([]),
  callerTool: CALLER_TOOL,
  untypedTool: namesOfTool([
    ...['name', 'description', 'input_schema', 'cache_control', 'strict', 'defer_loading'],
    ...['allowed_callers', 'input_examples', 'eager_input_streaming'],
  ]),
  hasResults: true,
}
