import type { JsonObject } from '#relay/conversion/canonical-request.ts'

/** A turn of a coding agent: cached instructions, parallel calls, an image as result, thinking. */
export const AGENT_TURN: JsonObject = {
  model: 'claude-sonnet-4-5-20250929',
  max_tokens: 32_000,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1' },
    {
      type: 'text',
      text: 'You are a coding agent.',
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
  ],
  messages: [
    { role: 'user', content: 'Show me the logo and the readme.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I need two files.', signature: 'EqQBsigned' },
        { type: 'redacted_thinking', data: 'EmwKencrypted' },
        { type: 'text', text: 'Reading both.' },
        { type: 'tool_use', id: 'toolu_01A', name: 'read', input: { path: 'logo.png' } },
        { type: 'tool_use', id: 'toolu_01B', name: 'read', input: { path: 'README.md' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_01A',
          content: [
            { type: 'text', text: 'logo.png, 16 × 16' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0' } },
          ],
        },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_01B',
          content: 'No such file.',
          is_error: true,
        },
        {
          type: 'text',
          text: '<system-reminder>Be brief.</system-reminder>',
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ],
  tools: [
    {
      name: 'read',
      description: 'Reads a file.',
      input_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { path: { type: 'string', minLength: 1 } },
        required: ['path'],
        additionalProperties: false,
      },
      cache_control: { type: 'ephemeral' },
    },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 31_999 },
  metadata: { user_id: 'user_abc_session_1' },
  stream: true,
}
