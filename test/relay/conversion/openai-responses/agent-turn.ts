/** A request as an agent such as Codex sends it after two parallel calls. */
export const AGENT_TURN = {
  model: 'gpt-5.1-codex',
  instructions: 'You are a coding agent.',
  input: [
    {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: 'The sandbox is read-only.' }],
    },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'Which files are here, and what is in the picture?' },
        { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' },
      ],
    },
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'I list the files.' }],
      encrypted_content: 'gAAAAAB_one',
    },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'I look.' }],
    },
    { type: 'reasoning', summary: [], encrypted_content: 'gAAAAAB_two' },
    { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"command":["ls"]}' },
    { type: 'function_call', call_id: 'call_2', name: 'view_image', arguments: '{"path":"a.png"}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'a.png' },
    {
      type: 'function_call_output',
      call_id: 'call_2',
      output: [{ type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,BBBB' }],
    },
    {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: 'Answer briefly.' }],
    },
  ],
  tools: [
    {
      type: 'function',
      name: 'shell',
      description: 'Runs a command.',
      parameters: {
        type: 'object',
        properties: { command: { type: 'array', items: { type: 'string' } } },
        required: ['command'],
      },
      strict: false,
    },
    {
      type: 'function',
      name: 'view_image',
      parameters: { type: 'object', properties: { path: { type: 'string' } } },
      strict: false,
    },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { effort: 'medium', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'conversation-1',
}
