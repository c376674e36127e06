import type { ConvertedFormatName } from '#relay/dialects/wire-format.ts'

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const PICTURE = 'data:image/png;base64,iVBORw0KGgo='
const DATA = 'iVBORw0KGgo='

/**
 * The members whose values belong to the caller, such as JSON schemas and the arguments of calls.
 * Every member in them is carried.
 */
export const VALUES_OF_CALLER: ReadonlySet<string> = new Set([
  ...['parameters', 'input_schema', 'schema', 'parametersJsonSchema', 'responseJsonSchema'],
  ...['args', 'response', 'metadata', 'responseSchema', 'properties'],
])

const CHAT = {
  model: 'm',
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: PICTURE, detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'file', file: { file_data: `data:application/pdf;base64,${DATA}`, filename: 'a' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I ask.',
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'weather', arguments: '{"city":"P"}' },
        },
        { id: 'call_2', type: 'custom', custom: { name: 'patch', input: 'x' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '21' },
    { role: 'tool', tool_call_id: 'call_2', content: 'done' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I ask.', signature: 'c2ln' },
        { type: 'tool_use', id: 'toolu_1', name: 'time', input: { city: 'P' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } },
          ],
        },
      ],
    },
  ],
  system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }],
  tools: [
    { type: 'function', function: { name: 'weather', parameters: SCHEMA, strict: true } },
    { name: 'time', input_schema: SCHEMA },
    {
      type: 'custom',
      custom: {
        name: 'patch',
        format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } },
      },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'weather' } },
  response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } },
  stream_options: { include_usage: true },
  reasoning: { effort: 'low' },
}

const RESPONSES = {
  model: 'm',
  instructions: 'Be brief.',
  input: [
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?', prompt_cache_breakpoint: { mode: 'auto' } },
        { type: 'input_image', image_url: PICTURE, detail: 'low' },
        { type: 'input_file', file_data: `data:application/pdf;base64,${DATA}`, filename: 'a.pdf' },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'I ask.' }],
      encrypted_content: 'abc',
    },
    { role: 'assistant', content: [{ type: 'output_text', text: 'I ask.', annotations: [] }] },
    { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"P"}' },
    { type: 'function_call_output', call_id: 'call_1', output: '21' },
    { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: 'done' },
    { type: 'local_shell_call', call_id: 'call_3', action: { type: 'exec', command: ['ls'] } },
    { type: 'local_shell_call_output', id: 'call_3', output: 'a' },
  ],
  tools: [
    { type: 'function', name: 'weather', parameters: SCHEMA, strict: true },
    {
      type: 'custom',
      name: 'patch',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
    },
    {
      type: 'namespace',
      name: 'files',
      tools: [{ type: 'function', name: 'read', parameters: SCHEMA }],
    },
  ],
  tool_choice: { type: 'function', name: 'weather' },
  text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA }, verbosity: 'medium' },
  reasoning: { effort: 'low', summary: 'auto' },
  stream_options: { include_obfuscation: false },
}

const MESSAGES = {
  model: 'm',
  max_tokens: 2_000,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '5m' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } },
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'A text.' },
          citations: { enabled: false },
        },
        {
          type: 'document',
          source: { type: 'content', content: [{ type: 'text', text: 'Another.' }] },
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I ask.', signature: 'c2ln' },
        {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'weather',
          input: { city: 'P' },
          caller: { type: 'direct' },
        },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: '21' }],
        },
      ],
    },
  ],
  tools: [{ name: 'weather', description: 'Returns it.', input_schema: SCHEMA }],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 1_024 },
  output_config: { format: { type: 'json_schema', schema: SCHEMA } },
  metadata: { user_id: 'u' },
}

const GEMINI = {
  contents: [
    {
      role: 'user',
      parts: [
        { text: 'What is this?' },
        { inlineData: { mimeType: 'image/png', data: DATA } },
        { fileData: { mimeType: 'image/png', fileUri: 'https://a.example/a.png' } },
      ],
    },
    { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'P' } } }] },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'weather', response: { output: '21' } } }],
    },
  ],
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: SCHEMA }] }],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
  generationConfig: {
    maxOutputTokens: 100,
    thinkingConfig: { thinkingBudget: 0 },
    responseFormat: { text: { mimeType: 'application/json', schema: SCHEMA } },
  },
}

const COMPLETIONS = { model: 'm', prompt: 'Hi', stream_options: { include_usage: true } }

/** For each format, a request with an object at every place where the conversions read one. */
export const REQUESTS: Readonly<Record<ConvertedFormatName, object>> = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
  gemini: GEMINI,
  completions: COMPLETIONS,
}

const CHAT_TOOL = { type: 'function', function: { name: 'weather', parameters: SCHEMA } }

/** For each format, a short request that the members below are added to. */
export const SHORT_REQUESTS = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'm', input: 'Hi' },
  messages: { model: 'm', max_tokens: 2_000, messages: [{ role: 'user', content: 'Hi' }] },
  gemini: { contents: [{ parts: [{ text: 'Hi' }] }] },
}

/**
 * The documented members of each format's requests, with values that differ from their defaults.
 * `store` of responses is left out, because the gateway itself stores converted responses.
 */
export const MEMBERS: Readonly<
  Record<keyof typeof SHORT_REQUESTS, Readonly<Record<string, unknown>>>
> = {
  chat: {
    ...{ audio: { voice: 'a', format: 'wav' }, enable_thinking: true, extra_body: { a: 1 } },
    ...{ frequency_penalty: 0.3, functions: [{ name: 'f', parameters: SCHEMA }] },
    ...{ logit_bias: { '5': 1 }, logprobs: true, max_completion_tokens: 9, max_tokens: 7 },
    ...{ metadata: { a: 'b' }, modalities: ['text', 'audio'], prediction: { content: 'x' } },
    ...{ presence_penalty: 0.4, prompt_cache_key: 'k', prompt_cache_retention: '24h' },
    ...{ reasoning_effort: 'high', response_format: { type: 'json_object' }, seed: 3 },
    ...{ safety_identifier: 's', service_tier: 'flex', stop: ['Z'], store: true },
    ...{ temperature: 0.3, thinking: { type: 'enabled', budget_tokens: 3_000 } },
    ...{ thinking_budget: 2_000, tools: [CHAT_TOOL], top_k: 5, top_logprobs: 3, top_p: 0.4 },
    ...{ user: 'u', verbosity: 'low', web_search_options: {} },
  },
  responses: {
    ...{ background: true, context_management: [{ type: 'compaction' }], conversation: 'c' },
    ...{ include: ['message.output_text.logprobs'], instructions: 'Be brief.' },
    ...{ max_output_tokens: 99, max_tool_calls: 3, metadata: { a: 'b' }, moderation: {} },
    ...{ previous_response_id: 'resp_1', prompt: { id: 'p' }, prompt_cache_key: 'k' },
    ...{ prompt_cache_retention: '24h', reasoning: { effort: 'high' }, safety_identifier: 's' },
    ...{ service_tier: 'flex', temperature: 0.3, text: { format: { type: 'json_object' } } },
    ...{ tool_choice: 'required', tools: [{ type: 'function', name: 'f' }], top_logprobs: 2 },
    ...{ top_p: 0.4, truncation: 'auto', user: 'u' },
  },
  messages: {
    ...{ cache_control: { type: 'ephemeral' }, container: 'c', context_management: { edits: [] } },
    ...{ fallbacks: [{}], inference_geo: 'us', mcp_servers: [{}], metadata: { user_id: 'u' } },
    ...{ output_config: { effort: 'low' }, service_tier: 'standard_only', speed: 'fast' },
    ...{ output_format: { type: 'json_schema', schema: SCHEMA }, stop_sequences: ['Z'] },
    ...{ system: 'Be brief.', temperature: 0.3, top_k: 5, top_p: 0.4 },
    ...{ thinking: { type: 'enabled', budget_tokens: 1_500 }, tool_choice: { type: 'any' } },
    ...{ tools: [{ name: 'f', input_schema: SCHEMA }] },
  },
  gemini: {
    ...{ cachedContent: 'c', generationConfig: { temperature: 0.3 }, labels: { a: 'b' } },
    ...{ safetySettings: [{ category: 'a', threshold: 'b' }], serviceTier: 'flex', store: true },
    ...{ systemInstruction: 'Be brief.', tools: [{ functionDeclarations: [{ name: 'f' }] }] },
    toolConfig: { functionCallingConfig: { mode: 'ANY' } },
  },
}

/** The documented members of Gemini's `generationConfig`. */
export const GENERATION_MEMBERS: Readonly<Record<string, unknown>> = {
  ...{ audioTimestamp: true, enableAffectiveDialog: true, enableEnhancedCivicAnswers: true },
  ...{ frequencyPenalty: 0.3, imageConfig: {}, logprobs: 3, maxOutputTokens: 9 },
  ...{ mediaResolution: 'X', presencePenalty: 0.3, responseJsonSchema: SCHEMA },
  ...{ responseFormat: { text: { mimeType: 'application/json' } }, responseLogprobs: true },
  ...{ responseMimeType: 'application/json', responseModalities: 'IMAGE' },
  ...{ responseSchema: { type: 'STRING' }, seed: 4, speechConfig: {}, stopSequences: ['Z'] },
  ...{ temperature: 0.3, thinkingConfig: { thinkingBudget: 99 }, topK: 5, topP: 0.4 },
}
