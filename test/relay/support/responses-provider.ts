/** What a provider of the Responses API answers in tests. */
export const MODEL = 'gpt-6'
export const PATH = 'POST /v1/responses'

export const USAGE = {
  input_tokens: 1_000,
  input_tokens_details: { cached_tokens: 600 },
  output_tokens: 500,
  output_tokens_details: { reasoning_tokens: 400 },
  total_tokens: 1_500,
}
/** 400 tokens at full price, 600 cached ones at half of it, and 500 of output at four times. */
export const CHARGE = 3_375

export const REASONING = {
  ...{ id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAAA' },
  summary: [{ type: 'summary_text', text: 'The file comes first.' }],
}
export const TEXT = 'It says "response.completed".'
export const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: TEXT, annotations: [] }],
}
export const CALL = {
  ...{ id: 'fc_1', type: 'function_call', call_id: 'call_1', status: 'completed' },
  ...{ name: 'read', arguments: '{"path":"a.txt"}' },
}
const TOOL = {
  type: 'function',
  name: 'read',
  parameters: { type: 'object', properties: { usage: { type: 'string' }, error: {} } },
}

/** A complete response. */
export const responseOf = (output: readonly object[] = [REASONING, MESSAGE]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  error: null,
  model: MODEL,
  output,
  tools: [TOOL],
  usage: USAGE as object | null,
})

export const REQUEST = {
  model: MODEL,
  instructions: 'Be brief.',
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Read a.txt' }] }],
  tools: [TOOL],
  reasoning: { effort: 'high' },
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'session-1',
  max_output_tokens: 2_000,
}

export const event = (data: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

export const BEGUN = event({
  type: 'response.created',
  sequence_number: 0,
  response: { ...responseOf([]), status: 'in_progress', usage: null },
})

const place = { item_id: 'msg_1', output_index: 1, content_index: 0 }

export const textDelta = (delta: string): string =>
  event({ type: 'response.output_text.delta', ...place, delta })

export const ENDED_TEXT = event({ type: 'response.output_text.done', ...place, text: TEXT })

const itemEvents = (item: object, output_index: number): string =>
  event({ type: 'response.output_item.added', output_index, item }) +
  event({ type: 'response.output_item.done', output_index, item })

/** The events of a response, from its first item to its last. */
const ITEMS = [
  itemEvents(REASONING, 0),
  event({ type: 'response.output_item.added', output_index: 1, item: { ...MESSAGE, content: [] } }),
  textDelta('It says '),
  textDelta('"response.completed".'),
  ENDED_TEXT,
  event({ type: 'response.output_item.done', output_index: 1, item: MESSAGE }),
].join('')

export const ENDED = event({ type: 'response.completed', response: responseOf() })
export const STREAM = BEGUN + ITEMS + ENDED

/** A stream whose response has one call of a tool. */
export const CALL_STREAM = [
  BEGUN,
  itemEvents(REASONING, 0),
  itemEvents(CALL, 1),
  event({ type: 'response.completed', response: responseOf([REASONING, CALL]) }),
].join('')

/** The data of each event of a stream. */
export const dataOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)
