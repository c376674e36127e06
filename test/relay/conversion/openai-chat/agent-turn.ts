import type { JsonObject } from '#relay/conversion/canonical-request.ts'

const EPHEMERAL = { type: 'ephemeral' }
const CLAUDE = 'anthropic-claude-v1'

/** A turn of a coding agent at OpenRouter: cache marks, parallel calls, results, thinking. */
export const AGENT_TURN: JsonObject = {
  model: 'anthropic/claude-sonnet-4.5',
  messages: [
    {
      role: 'system',
      content: [
        { type: 'text', text: 'You are an agent.' },
        {
          type: 'text',
          text: 'Answer in JSON when asked.',
          cache_control: { ...EPHEMERAL, ttl: '1h' },
        },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is in this picture?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K', detail: 'high' } },
        {
          type: 'file',
          file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' },
        },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look at both files.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Two files.', signature: 'c2ln', format: CLAUDE, index: 0 },
        { type: 'reasoning.encrypted', data: 'b3BhcXVl', format: CLAUDE, index: 1 },
      ],
      tool_calls: [
        {
          id: 'toolu_1',
          type: 'function',
          function: { name: 'read_file', arguments: '{"path":"a.ts"}' },
        },
        {
          id: 'toolu_2',
          type: 'function',
          function: { name: 'read_file', arguments: '{"path":"b.ts"}' },
          extra_content: { google: { thought_signature: 'dGhvdWdodA==' } },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'export const a = 1' },
    {
      role: 'tool',
      tool_call_id: 'toolu_2',
      content: [
        { type: 'text', text: 'a picture:' },
        {
          type: 'image_url',
          image_url: { url: 'https://example.org/b.png' },
          cache_control: EPHEMERAL,
        },
      ],
    },
    { role: 'system', content: 'Be brief from now on.' },
    { role: 'user', content: 'Go on.' },
  ],
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 4096,
  temperature: 0.2,
  top_k: 20,
  stop: ['<end>'],
  tools: [
    {
      type: 'function',
      function: {
        name: 'read_file',
        description: 'Reads a file.',
        parameters: {
          type: 'object',
          properties: { path: { type: 'string' } },
          required: ['path'],
          additionalProperties: false,
        },
        strict: true,
      },
      cache_control: EPHEMERAL,
    },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { max_tokens: 2000 },
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'answer', schema: { type: 'object' }, strict: false },
  },
  logprobs: true,
  top_logprobs: 2,
  user: 'user-1',
  prompt_cache_key: 'session-1',
}
