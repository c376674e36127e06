import { Buffer } from 'node:buffer'

/**
 * One turn of a coding agent with two parallel tool calls, as its program sends it. The texts and
 * the lists of tools are shorter than in the recordings. Everything else is unchanged.
 */
export type RecordedTurn = {
  readonly name: string
  readonly channelType: number
  readonly model: string
  readonly path: string
  /** The path at the provider, if the gateway uses another one. */
  readonly providerPath?: string
  readonly headers: Readonly<Record<string, string>>
  /** The headers that the provider must receive as they were sent. */
  readonly passed: readonly string[]
  readonly body: Buffer
  /** The provider's stream. */
  readonly answer: Buffer
  /** With a model ratio of 1.5, a completion ratio of 5, and cache ratios of 0.1 and 1.25. */
  readonly charge: number
}

const FILES = { a: '{"path":"a.txt"}', b: '{"path":"b.txt"}' }
const SCHEMA = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const json = (value: object): Buffer => Buffer.from(JSON.stringify(value))
type NamedEvent = { readonly type: string; readonly [name: string]: unknown }
const named = (...events: readonly NamedEvent[]): Buffer =>
  Buffer.from(
    events.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
  )

const MESSAGES_USAGE = {
  input_tokens: 100,
  cache_creation_input_tokens: 500,
  cache_read_input_tokens: 2000,
  cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 0 },
  output_tokens: 1,
  service_tier: 'standard',
}

const CLAUDE_CODE: RecordedTurn = {
  name: 'Claude Code',
  channelType: 14,
  model: 'claude-sonnet-5-5',
  path: '/v1/messages?beta=true',
  providerPath: '/v1/messages',
  headers: {
    accept: 'application/json',
    authorization: 'Bearer KEY',
    'content-type': 'application/json',
    'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)',
    'x-claude-code-session-id': '52ea3c1d-5743-44da-ade2-6c78c2fa46df',
    'x-stainless-lang': 'js',
    'x-stainless-retry-count': '0',
    'x-stainless-timeout': '600',
    'anthropic-beta':
      'claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,' +
      'context-management-2025-06-27,prompt-caching-scope-2026-01-05,' +
      'mid-conversation-system-2026-04-07,effort-2025-11-24',
    'anthropic-dangerous-direct-browser-access': 'true',
    'anthropic-version': '2023-06-01',
    'x-app': 'cli',
  },
  passed: ['anthropic-beta', 'anthropic-version', 'anthropic-dangerous-direct-browser-access'],
  body: json({
    model: 'claude-sonnet-5-5',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>\nThe project is small.\n</system-reminder>\n' },
          { type: 'text', text: 'Compare a.txt and b.txt.', cache_control: { type: 'ephemeral' } },
        ],
      },
      { role: 'system', content: 'The caller’s time zone is UTC.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Both are needed.', signature: 'EqQBCkYIARgCKkBz' },
          { type: 'tool_use', id: 'toolu_01A', name: 'Read', input: { path: 'a.txt' } },
          { type: 'tool_use', id: 'toolu_01B', name: 'Read', input: { path: 'b.txt' } },
        ],
      },
      {
        role: 'user',
        content: [
          { tool_use_id: 'toolu_01A', type: 'tool_result', content: '1\tone' },
          {
            tool_use_id: 'toolu_01B',
            type: 'tool_result',
            content: [{ type: 'text', text: '1\ttwo' }],
            is_error: false,
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
    ],
    system: [
      {
        type: 'text',
        text: 'x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=sdk-cli;',
      },
      {
        type: 'text',
        text: 'You are a coding agent.',
        cache_control: { type: 'ephemeral' },
      },
    ],
    tools: [
      { name: 'Read', description: 'Reads a file.', input_schema: SCHEMA },
      {
        name: 'Bash',
        description: 'Runs a command.',
        input_schema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: { command: { type: 'string' } },
          required: ['command'],
          additionalProperties: false,
        },
      },
    ],
    metadata: { user_id: '{"device_id":"1b4cd0","account_uuid":"","session_id":"52ea3c1d"}' },
    max_tokens: 64000,
    thinking: { type: 'adaptive' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
    stream: true,
  }),
  answer: named(
    {
      type: 'message_start',
      message: {
        id: 'msg_01',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-5-5',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: MESSAGES_USAGE,
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'They differ.' },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'signature_delta', signature: 'EqQBCkYI' },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'ping' },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'text_delta', text: 'The files differ.' },
    },
    { type: 'content_block_stop', index: 1 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...MESSAGES_USAGE, output_tokens: 50 },
      context_management: { applied_edits: [] },
    },
    { type: 'message_stop' },
  ),
  charge: Math.round((100 + 2000 * 0.1 + 500 * 1.25 + 50 * 5) * 1.5),
}

const response = (more: object) => ({
  id: 'resp_01',
  object: 'response',
  created_at: 1795819035,
  model: 'gpt-5.1-codex',
  ...more,
})
export const CODEX: RecordedTurn = {
  name: 'Codex',
  channelType: 1,
  model: 'gpt-5.1-codex',
  path: '/v1/responses',
  headers: {
    accept: 'text/event-stream',
    authorization: 'Bearer KEY',
    'content-type': 'application/json',
    originator: 'codex_exec',
    'user-agent': 'codex_exec/0.171.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.171.0)',
    'session-id': '01a21f27-d85a-7390-b47b-a79b2de32574',
    'thread-id': '01a21f27-d85a-7390-b47b-a79b2de32574',
    'x-client-request-id': '01a21f27-d85a-7390-b47b-a79b2de32574',
    'x-codex-beta-features': 'remote_compaction_v2',
    'x-codex-window-id': '01a21f27-d85a-7390-b47b-a79b2de32574:0',
  },
  passed: ['originator', 'x-codex-beta-features', 'x-codex-window-id'],
  body: json({
    model: 'gpt-5.1-codex',
    stream: true,
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Compare the files.' }],
      },
      { type: 'reasoning', summary: [], encrypted_content: 'gAAAAABo' },
      { type: 'function_call', name: 'exec_command', arguments: FILES.a, call_id: 'call_a' },
      { type: 'function_call', name: 'exec_command', arguments: FILES.b, call_id: 'call_b' },
      { type: 'function_call_output', call_id: 'call_a', output: 'one' },
      { type: 'function_call_output', call_id: 'call_b', output: 'two' },
    ],
    tools: [
      {
        type: 'function',
        name: 'exec_command',
        description: 'Runs a command.',
        strict: false,
        parameters: SCHEMA,
      },
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Edits files.',
        format: { type: 'text' },
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { summary: 'auto' },
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: '01a21f27-dcb4-7b71-960d-830f77cd755f',
    client_metadata: { thread_id: '01a21f27-dcb4-7b71-960d-830f77cd755f' },
  }),
  answer: named(
    { type: 'response.created', sequence_number: 0, response: response({ status: 'in_progress' }) },
    {
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] },
    },
    {
      type: 'response.output_text.delta',
      sequence_number: 2,
      output_index: 0,
      item_id: 'msg_1',
      content_index: 0,
      delta: 'They differ.',
    },
    {
      type: 'response.completed',
      sequence_number: 3,
      response: response({
        status: 'completed',
        output: [],
        usage: {
          input_tokens: 2100,
          input_tokens_details: { cached_tokens: 2000 },
          output_tokens: 50,
          output_tokens_details: { reasoning_tokens: 20 },
          total_tokens: 2150,
        },
      }),
    },
  ),
  charge: Math.round((100 + 2000 * 0.1 + 50 * 5) * 1.5),
}

const chunk = (value: object): string => `data: ${JSON.stringify(value)}\r\n\r\n`
const GEMINI_CLI: RecordedTurn = {
  name: 'Gemini CLI',
  channelType: 24,
  model: 'gemini-2.5-pro',
  path: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
  headers: {
    accept: '*/*',
    'accept-language': '*',
    'content-type': 'application/json',
    'user-agent': 'GeminiCLI-tui/0.61.0/gemini-2.5-pro (linux; x64; terminal)',
    'x-goog-api-client': 'google-genai-sdk/1.30.0 gl-node/v24.21.0',
    'x-goog-api-key': 'KEY',
  },
  passed: ['x-goog-api-client'],
  body: json({
    contents: [
      { role: 'user', parts: [{ text: 'Compare the files.' }] },
      {
        role: 'model',
        parts: [
          {
            functionCall: { name: 'read_file', args: { path: 'a.txt' } },
            thoughtSignature: 'CiQB0e2Kb',
          },
          { functionCall: { name: 'read_file', args: { path: 'b.txt' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'read_file', response: { output: 'one' } } },
          { functionResponse: { id: 'b', name: 'read_file', response: { output: 'two' } } },
        ],
      },
    ],
    systemInstruction: { role: 'user', parts: [{ text: 'You are a coding agent.' }] },
    tools: [
      {
        functionDeclarations: [
          { name: 'read_file', description: 'Reads.', parametersJsonSchema: SCHEMA },
        ],
      },
    ],
    generationConfig: {
      temperature: 1,
      topP: 0.95,
      topK: 64,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
    },
  }),
  answer: Buffer.from(
    [
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Hm', thought: true }] } }] },
      { candidates: [{ content: { role: 'model', parts: [{ text: 'They differ.' }] } }] },
      {
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }],
        usageMetadata: {
          promptTokenCount: 2100,
          cachedContentTokenCount: 2000,
          candidatesTokenCount: 30,
          thoughtsTokenCount: 20,
          totalTokenCount: 2150,
        },
        modelVersion: 'gemini-2.5-pro',
        responseId: 'r1',
      },
    ]
      .map(chunk)
      .join(''),
  ),
  charge: Math.round((100 + 2000 * 0.1 + 50 * 5) * 1.5),
}

export const TURNS: readonly RecordedTurn[] = [CLAUDE_CODE, CODEX, GEMINI_CLI]
