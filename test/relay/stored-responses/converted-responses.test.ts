import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { OPTIONS } from '#domain/options/option-registry.ts'
import { tokensStream } from '#domain/tokens/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { storedResponsesInMemory } from '../support/in-memory-stores.ts'
import { KEY, relayRig, TOKEN, USER } from '../support/relay-rig.ts'
import { type Scripted, scriptedProvider } from '../support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const MODEL = 'claude-opus-4-5'
const OTHER_KEY = 'otherotherotherotherotherotherotherotherother'
const PATH = 'POST /v1/messages'
const MIB = 1024 * 1024
const STORING = 'StoreConvertedResponsesEnabled'

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.addToken(4, USER, OTHER_KEY)
  await rig.setOption(STORING, 'true')
})

type Block = { readonly type: string; readonly [name: string]: unknown }
const text = (value: string): Block => ({ type: 'text', text: value })
const THINKING: Block = { type: 'thinking', thinking: 'I ask.', signature: 'c2lnbmF0dXJl' }
const CALL: Block = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } }
const USAGE = { input_tokens: 100, output_tokens: 10 }

/** The same id in each answer, as of servers that number nothing. */
const messageOf = (content: readonly Block[]) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, content, usage: USAGE },
  stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
})

function eventsOf(content: readonly Block[]): Buffer {
  const { stop_reason, ...message } = messageOf(content)
  const deltasOf = (block: Block): readonly object[] => {
    if (block.type === 'text') return [{ type: 'text_delta', text: block.text }]
    if (block.type === 'tool_use') {
      return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
    }
    const { thinking, signature } = block
    return [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature },
    ]
  }
  const startOf = (block: Block): object => {
    if (block.type === 'text') return { ...block, text: '' }
    if (block.type === 'tool_use') return { ...block, input: {} }
    return { ...block, thinking: '', signature: '' }
  }
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: startOf(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason }, usage: USAGE },
    { type: 'message_stop' },
  ]
  const lines = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return Buffer.from(lines.join(''))
}

/** Lets the provider give these answers one after another. */
function answerWith(isStream: boolean, ...contents: readonly (readonly Block[])[]): void {
  const headers = { 'content-type': 'text/event-stream' }
  const answerOf = (content: readonly Block[]): Scripted =>
    isStream ? { headers, pieces: [eventsOf(content)] } : { body: messageOf(content) }
  const chain = contents.reduceRight<Scripted | undefined>((next, content) => {
    return { ...answerOf(content), ...(next && { next }) }
  }, undefined)
  if (chain !== undefined) provider.answers.set(PATH, chain)
}

type Sent = { readonly messages: readonly { role: string; content: unknown }[] }
const sent = (): readonly Sent[] => provider.requests.map(({ body }) => JSON.parse(body))
const lastMessages = () => sent().at(-1)?.messages ?? []

async function ask(
  method: string,
  path: string,
  body: object | null = null,
  key = KEY,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: { ...headers, authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  })
  const json = JSON.parse(await response.text())
  return { status: response.status, json, losses: response.headers.get('x-conversion-loss') }
}

const call = (members: object = {}, key = KEY) =>
  ask('POST', '/v1/responses', { model: MODEL, input: 'Hi', ...members }, key)

const openAi = () =>
  new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0, logLevel: 'off' })

describe.each([
  ['plain', false],
  ['streamed', true],
])('the provider openai of the package ai, %s', (_name, isStream) => {
  it('holds a conversation of two turns with a tool call', async () => {
    const bodies: string[] = []
    const watched: typeof fetch = (url, init) => {
      bodies.push(String(init?.body))
      return fetch(url, init)
    }
    const connection = { apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, fetch: watched }
    const schema = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
    const weather = tool({ inputSchema: jsonSchema(schema), execute: async () => '21 °C' })
    const params = {
      model: createOpenAI(connection)(MODEL),
      tools: { weather },
      stopWhen: isStepCount(3),
      maxRetries: 0,
    }
    const messages: ModelMessage[] = [{ role: 'user', content: 'How is Paris?' }]
    const turn = async (): Promise<string> => {
      const errors: unknown[] = []
      const onError = ({ error }: { error: unknown }) => void errors.push(error)
      const answer = isStream
        ? streamText({ ...params, messages, onError })
        : await generateText({ ...params, messages })
      const steps = await answer.steps
      expect(errors).toEqual([])
      for (const { response } of steps) messages.push(...response.messages)
      return await answer.text
    }
    const first = [THINKING, text('Let me see.'), CALL]
    answerWith(isStream, first, [text('It is warm.')], [text('You are welcome.')])
    expect(await turn()).toBe('It is warm.')
    messages.push({ role: 'user', content: 'Thanks' })
    expect(await turn()).toBe('You are welcome.')
    expect(bodies.at(-1)).toContain('"item_reference"')
    expect(lastMessages()).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: first },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
      { role: 'assistant', content: 'It is warm.' },
      { role: 'user', content: 'Thanks' },
    ])
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends).toHaveLength(3)
  })

  it('continues a response by its id, as often as the conversation needs', async () => {
    answerWith(isStream, [text('One')], [text('Two')], [text('Three')])
    const send = (params: OpenAI.Responses.ResponseCreateParamsNonStreaming) =>
      isStream
        ? openAi()
            .responses.stream({ ...params, stream: true })
            .finalResponse()
        : openAi().responses.create(params)
    const first = await send({ model: MODEL, input: 'a' })
    const second = await send({ model: MODEL, input: 'b', previous_response_id: first.id })
    await send({ model: MODEL, input: 'c', previous_response_id: second.id })
    const texts = lastMessages().map(({ content }) => JSON.stringify(content))
    expect(texts).toHaveLength(5)
    for (const [at, word] of ['a', 'One', 'b', 'Two', 'c'].entries()) {
      expect(texts[at]).toContain(`"${word}"`)
    }
    expect(first).toMatchObject({ store: true })
  })
})

describe('a converted response', () => {
  beforeEach(() => answerWith(false, [text('Hello')]))

  it('is read and deleted by its id, at no cost and without its provider', async () => {
    const { json: response, losses } = await call({ store: true })
    expect(losses ?? '').not.toContain('store')
    const at = `/v1/responses/${response.id}`
    expect(await ask('GET', at)).toMatchObject({ status: 200, json: response })
    const deleted = { id: response.id, object: 'response', deleted: true }
    expect(await ask('DELETE', at)).toMatchObject({ status: 200, json: deleted })
    expect((await ask('GET', at)).status).toBe(404)
    expect((await ask('DELETE', at)).status).toBe(404)
    expect((await call({ previous_response_id: response.id })).status).toBe(400)
    expect(provider.requests).toHaveLength(1)
  })

  it('is counted with the tokens of a request that refers to it, at no cost', async () => {
    const { json: response } = await call({ input: 'word '.repeat(1_000) })
    const count = (members: object, key = KEY) =>
      ask('POST', '/v1/responses/input_tokens', { model: MODEL, input: 'Hi', ...members }, key)
    const { json: alone } = await count({})
    const { json: continued } = await count({ previous_response_id: response.id })
    expect(continued.input_tokens - alone.input_tokens).toBeGreaterThan(1_000)
    const item = { type: 'item_reference', id: response.output[0].id }
    const { json: complete } = await count({ input: [{ role: 'user', content: 'Hi' }, item] })
    expect(complete.input_tokens).toBeGreaterThan(alone.input_tokens)
    const refused = { status: 400, json: { error: { param: 'previous_response_id' } } }
    const ofOther = await count({ previous_response_id: response.id }, OTHER_KEY)
    expect(ofOther).toMatchObject(refused)
    const ofProvider = await count({ previous_response_id: 'resp_of_a_provider' })
    expect(ofProvider).toMatchObject(refused)
    expect(ofProvider.json.error.code).toBe('stored_input')
    await rig.setOption(STORING, 'false')
    const unstored = await count({ previous_response_id: response.id })
    expect(unstored.json.error.message).toContain('not store')
    expect(provider.requests).toHaveLength(1)
    expect((await rig.callEvents()).map(({ type }) => type)).toEqual([
      'CallAdmitted',
      'CallSettled',
    ])
  })

  it('is used only by the token that made it', async () => {
    const { json: response } = await call()
    const [item] = response.output
    const input = [
      { role: 'user', content: 'Hi' },
      { type: 'item_reference', id: item.id },
    ]
    expect(await call({ input }, OTHER_KEY)).toMatchObject({
      ...{ status: 400, json: { error: { code: 'stored_input', param: 'input[1]' } } },
    })
    const continued = await call({ previous_response_id: response.id }, OTHER_KEY)
    expect(continued.json.error).toMatchObject({
      ...{ code: 'previous_response_not_found', param: 'previous_response_id' },
    })
    for (const method of ['GET', 'DELETE']) {
      const found = await ask(method, `/v1/responses/${response.id}`, null, OTHER_KEY)
      expect(found.status).toBe(404)
    }
    expect(provider.requests).toHaveLength(1)
    expect((await call({ input })).status).toBe(200)
  })

  it('that is continued names losses and errors as the request of the caller does', async () => {
    const lost = { type: 'input_text', text: 'Hi', unknown: 1 }
    const { json: response } = await call({ input: [{ role: 'user', content: [lost] }] })
    const previous_response_id = response.id
    const input = [
      { role: 'user', content: 'More' },
      { role: 'user', content: [lost] },
    ]
    const { losses } = await call({ previous_response_id, input })
    expect(losses?.split(', ')).toEqual(['previous_response_id', 'input[1].content[0].unknown'])
    const reference = { type: 'item_reference', id: 'msg_unknown' }
    const { json } = await call({ previous_response_id, input: [...input, reference] })
    expect(json.error).toMatchObject({ code: 'stored_input', param: 'input[2]' })
    const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'ogg' } }
    const unreadable = { role: 'user', content: [audio, { type: 'input_image', detail: 5 }] }
    const refused = await call({ previous_response_id, input: [unreadable] })
    expect(refused.json.error).toMatchObject({ code: 'invalid_parameter' })
    expect(refused.json.error.param).toMatch(/^input\[0\]/)
  })

  it('leaves the caller’s own items byte for byte, also in a body with other spaces', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 14, baseUrl: provider.url, models: [MODEL] })
    const { json: response } = await call()
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [3] } })
    await rig.addChannel(4, { baseUrl: provider.url, models: [MODEL], type: 1 })
    provider.answers.set('POST /v1/responses', { body: { ...response, id: 'resp_of_provider' } })
    const own = '{"role":"user", "content":"a", "metadata":{"n":12345678901234567890.0}}'
    const reference = `{ "type":"item_reference", "id":"${response.output[0].id}" }`
    const send = (members: string) =>
      fetch(`${rig.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
        body: `{"model":"${MODEL}", ${members}}`,
      })
    expect((await send(`"input":[ ${reference}, ${own} ,${own}]`)).status).toBe(200)
    const { id: _, ...item } = response.output[0]
    const inserted = JSON.stringify(item)
    expect(provider.requests.at(-1)?.body).toContain(`"input":[ ${inserted}, ${own} ,${own}]`)
    const previous = `"previous_response_id": "${response.id}"`
    expect((await send(`${previous},"input":[${own}]`)).status).toBe(200)
    const body = provider.requests.at(-1)?.body
    const first = '{"type":"message","role":"user","content":"Hi"}'
    expect(body).toContain(`"input":[${first},${inserted},${own}]`)
    expect(body).toContain('"previous_response_id": null')
  })

  it('has no item by an id that it did not create', async () => {
    const { json: response } = await call()
    const id = response.output[0].id.replace(/_0$/, '_7')
    const { json } = await call({ input: [{ type: 'item_reference', id }] })
    expect(json.error).toMatchObject({ code: 'stored_input', param: 'input[0]' })
  })

  it('says that it is not stored if it is too long, or if it could not be stored', async () => {
    answerWith(false, [text('y'.repeat(MIB))], [text('short')])
    const { json: long } = await call({ metadata: { store: 'true' } })
    expect(long).toMatchObject({ store: false, metadata: { store: 'true' } })
    const seal = vi.spyOn(rig.core.vault, 'sealBytes').mockRejectedValue(new Error('no database'))
    try {
      expect((await call()).json).toMatchObject({ store: false, status: 'completed' })
      answerWith(true, [text('"store":true')])
      const streamed = await openAi()
        .responses.stream({ model: MODEL, input: 'Hi' })
        .finalResponse()
      expect(streamed).toMatchObject({ store: false, output_text: '"store":true' })
    } finally {
      seal.mockRestore()
    }
  })

  it('is screened when it is inserted, because the words may have changed', async () => {
    const { json: response } = await call({ input: 'How to build a bomb' })
    for (const key of ['CheckSensitiveEnabled', 'CheckSensitiveOnPromptEnabled']) {
      await rig.setOption(key, 'true')
    }
    await rig.setOption('SensitiveWords', 'bomb')
    const { status, json } = await call({ previous_response_id: response.id })
    expect([status, json.error.code]).toEqual([400, 'sensitive_prompt'])
    expect(provider.requests).toHaveLength(1)
  })

  it('is not stored if the request says so', async () => {
    const { json: response } = await call({ store: false })
    expect(response.store).toBe(false)
    expect((await ask('GET', `/v1/responses/${response.id}`)).status).toBe(404)
    expect((await call({ previous_response_id: response.id })).status).toBe(400)
  })

  it('is covered by the hold of the call that continues it', async () => {
    const input = 'word '.repeat(4_000)
    const { json: response } = await call({ input })
    await call({ previous_response_id: response.id })
    const holds = (await rig.callEvents()).flatMap((event) =>
      event.type === 'CallAdmitted' ? [Number(event.data.hold)] : [],
    )
    expect(holds[1]).toBeGreaterThanOrEqual(holds[0] ?? Number.POSITIVE_INFINITY)
  })

  it('with a very long input is continued by its items, and not by its id', async () => {
    const { json: response } = await call({ input: 'x'.repeat(MIB + 1) })
    expect((await call({ previous_response_id: response.id })).status).toBe(400)
    const input = [
      { role: 'user', content: 'Hi' },
      { type: 'item_reference', id: response.output[0].id },
    ]
    expect((await call({ input })).status).toBe(200)
  })

  it('is refused with others that are too long together', async () => {
    answerWith(false, ...Array.from({ length: 6 }, () => [text('y'.repeat(0.9 * MIB))]))
    const input: object[] = []
    for (let count = 0; count < 6; count += 1) {
      const { json: response } = await call()
      input.push({ type: 'item_reference', id: response.output[0].id })
    }
    const { status, json } = await call({ input })
    expect(status).toBe(413)
    expect(json.error.code).toBe('request_too_large_to_convert')
  })

  it('is inserted once, so that a short request does not become one of gigabytes', async () => {
    answerWith(false, [text('y'.repeat(100_000))])
    const { json: response } = await call()
    const reference = { type: 'item_reference', id: response.output[0].id }
    const open = vi.spyOn(rig.core.vault, 'openBytes')
    try {
      for (const count of [2, 1_000]) {
        const { status, json } = await call({ input: Array(count).fill(reference) })
        expect(status).toBe(400)
        expect(json.error).toMatchObject({ code: 'repeated_item', param: 'input[1]' })
      }
      expect(open).not.toHaveBeenCalled()
    } finally {
      open.mockRestore()
    }
    expect(provider.requests).toHaveLength(1)
    expect((await call({ input: [reference, { role: 'user', content: 'Hi' }] })).status).toBe(200)
  })

  it('is not confused with one that has the same ids of the provider', async () => {
    const callWith = (city: string): Block => ({ ...CALL, input: { city } })
    answerWith(false, [callWith('Paris')], [callWith('Rome')], [text('Warm.')])
    const first = (await call()).json
    const second = (await call()).json
    expect(first.id).not.toBe(second.id)
    const result = (output: string) => ({ type: 'function_call_output', call_id: CALL.id, output })
    const reference = ({ output: [{ id }] }: typeof first) => ({ type: 'item_reference', id })
    const input = [
      { role: 'user', content: 'Hi' },
      ...[reference(second), result('of Rome'), reference(first), result('of Paris')],
    ]
    expect((await call({ input })).status).toBe(200)
    const blocks = lastMessages().flatMap(({ content }) => content as Block[])
    const uses = blocks.filter(({ type }) => type === 'tool_use')
    expect(uses.map((use) => use.input)).toEqual([{ city: 'Rome' }, { city: 'Paris' }])
    expect(new Set(uses.map(({ id }) => id)).size).toBe(2)
    const results = blocks.filter(({ type }) => type === 'tool_result')
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(uses.map(({ id }) => id))
    expect(JSON.stringify(results[0])).toContain('of Rome')
  })

  it('fifty at once are each continued as themselves', async () => {
    const numbers = Array.from({ length: 50 }, (_, at) => at)
    const made = await Promise.all(numbers.map((at) => call({ input: `number ${at};` })))
    expect(new Set(made.map(({ json }) => json.id)).size).toBe(50)
    await Promise.all(made.map(({ json }) => call({ previous_response_id: json.id })))
    const continued = sent().slice(50)
    const firsts = continued.map(({ messages }) => JSON.stringify(messages[0]?.content))
    for (const at of numbers) {
      expect(firsts.filter((content) => content.includes(`number ${at};`))).toHaveLength(1)
    }
  })
})

describe('stored content', () => {
  const LIMITED = 'limitedlimitedlimitedlimitedlimitedlimitedlim'

  /** Refuses a continuation without opening the content. Returns the answer. */
  async function refused(members: object, key: string) {
    const open = vi.spyOn(rig.core.vault, 'openBytes')
    try {
      const answer = await call(members, key)
      expect(open).not.toHaveBeenCalled()
      return answer
    } finally {
      open.mockRestore()
    }
  }

  it('is not loaded for a call that has no model or no permit', async () => {
    answerWith(false, [text('Hello')])
    await rig.addToken(6, USER, LIMITED, {
      rateLimit: { isEnabled: true, count: 2, success: 0, periodSeconds: 600 },
    })
    const { json: response } = await call({}, LIMITED)
    const continued = { previous_response_id: response.id }
    const unknown = await refused({ ...continued, model: 'unknown' }, LIMITED)
    expect(unknown).toMatchObject({ status: 404, json: { error: { code: 'model_not_found' } } })
    expect((await call(continued, LIMITED)).status).toBe(200)
    const tooMany = await refused(continued, LIMITED)
    expect(tooMany).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } })
  })

  it('occupies the permit of its call only once, and not after its end', async () => {
    answerWith(false, [text('Hello')])
    await rig.addToken(6, USER, LIMITED, { maxConcurrency: 1 })
    const { json: response } = await call({}, LIMITED)
    const continued = { previous_response_id: response.id }
    expect((await call(continued, LIMITED)).status).toBe(200)
    const reference = { type: 'item_reference', id: response.output[0].id.replace(/_0$/, '_7') }
    expect((await call({ ...continued, input: [reference] }, LIMITED)).status).toBe(400)
    expect((await call(continued, LIMITED)).status).toBe(200)
  })
})

describe('a site that does not store converted responses', () => {
  beforeEach(async () => {
    await rig.setOption(STORING, OPTIONS.get(STORING)?.defaultText)
    answerWith(false, [text('Hello')])
  })

  it('is the default, stores no content and says so', async () => {
    const seal = vi.spyOn(rig.core.vault, 'sealBytes')
    onTestFinished(() => seal.mockRestore())
    const { json: response, losses } = await call({ store: true })
    expect(response).toMatchObject({ store: false })
    expect(losses?.split(', ')).toContain('store')
    expect((await call()).losses ?? '').not.toContain('store')
    answerWith(true, [text('Hello')])
    const streamed = openAi().responses.stream({ model: MODEL, input: 'Hi' })
    expect(await streamed.finalResponse()).toMatchObject({ store: false })
    expect(seal).not.toHaveBeenCalled()
    expect((await ask('GET', `/v1/responses/${response.id}`)).status).toBe(404)
  })

  it('refuses references to converted responses, and says why', async () => {
    const { json: response } = await call()
    const [item] = response.output
    const ofResponse = await call({ previous_response_id: response.id })
    expect(ofResponse).toMatchObject({
      ...{ status: 400, json: { error: { code: 'previous_response_not_found' } } },
    })
    const ofItem = await call({ input: [{ type: 'item_reference', id: item.id }] })
    expect(ofItem).toMatchObject({
      ...{ status: 400, json: { error: { code: 'stored_input', param: 'input[0]' } } },
    })
    for (const { json } of [ofResponse, ofItem]) expect(json.error.message).toContain('not store')
    expect(provider.requests).toHaveLength(1)
  })

  it('does not use what it stored before', async () => {
    await rig.setOption(STORING, 'true')
    const { json: response } = await call()
    await rig.setOption(STORING, 'false')
    expect((await call({ previous_response_id: response.id })).status).toBe(400)
  })
})

it('contents that nobody can read any more are deleted, and those of others are kept', async () => {
  const storedResponses = storedResponsesInMemory()
  const withDataKey = async (userIds: readonly number[]) => userIds.filter((id) => id !== 9)
  const options = { vault: { withDataKey } }
  const deleting = await relayRig({ storedResponses, deleteEveryMs: 5 }, {}, undefined, options)
  onTestFinished(() => deleting.close())
  const { contents } = storedResponses
  const text = Buffer.from('text')
  const content = { response: text, output: text, input: null, outputBytes: 4, inputBytes: 4 }
  await deleting.addToken(4, USER, OTHER_KEY)
  await deleting.addUser(9)
  await deleting.addToken(5, 9, `${OTHER_KEY}9`)
  const tokensOf = [
    ...[TOKEN, 4, -USER].map((tokenId) => ({ tokenId, userId: USER })),
    ...[5, -9].map((tokenId) => ({ tokenId, userId: 9 })),
  ]
  for (const owner of tokensOf) {
    await contents.add({ ...owner, ...content, responseId: 'resp_a', at: Date.now() })
  }
  const fact = { type: 'TokensDeleted', v: 1, data: { userId: USER, tokenIds: [4] } } as const
  await deleting.append(tokensStream(USER), fact)
  const left = [TOKEN, -USER].map((tokenId) => ({ tokenId, userId: USER }))
  await expect.poll(contents.owners).toEqual(left)
})

const UNPAID_KEY = 'unpaidunpaidunpaidunpaidunpaidunpaidunpaid'

/** Stores a response to 900 kB of input for a user who can pay it. Returns the id. */
async function storeLongResponse(): Promise<string> {
  await rig.addUser(9)
  await rig.addToken(5, 9, UNPAID_KEY)
  await rig.grant(9, 10_000_000n)
  answerWith(false, [text('Hello')])
  const { json } = await call({ input: 'word '.repeat(180_000) }, UNPAID_KEY)
  return json.id
}

/** Takes all but `left` of the user's quota. */
async function leave(left: bigint): Promise<void> {
  const amount = (await rig.balance(9)) - left
  const taken = { userId: 9, deductionId: `all but ${left}`, amount }
  const command = { type: 'DeductQuota', ...taken, reason: 'admin' } as const
  const context = { actor: 'user:1', cause: null, at: Date.now() }
  await rig.core.actors.handle(accountDecider, accountStream(9), command, context)
}

/** Continues a response, and returns the answer and how often content was decrypted for it. */
async function continueResponse(id: string, path = '/v1/responses', keyed: string | null = null) {
  const body = { model: MODEL, input: 'Hi', previous_response_id: id, max_output_tokens: 16 }
  const headers = keyed === null ? {} : { 'idempotency-key': keyed }
  const open = vi.spyOn(rig.core.vault, 'openBytes')
  try {
    const { status, json } = await ask('POST', path, body, UNPAID_KEY, headers)
    return { status, code: json.error?.code, opened: open.mock.calls.length }
  } finally {
    open.mockRestore()
  }
}

const REFUSED = { status: 402, code: 'insufficient_quota', opened: 0 }

// 500 tokens pay for the short request alone, and no number here for one with 900 kB of content.
it.each([
  ...[0n, 1n, 500n, 20_000n].map((left) => ({ left, path: '/v1/responses' })),
  { left: 500n, path: '/v1/responses/input_tokens' },
])('no long content is inserted for a caller who has $left at $path', async ({ left, path }) => {
  const id = await storeLongResponse()
  await leave(left)
  expect(await continueResponse(id, path)).toEqual(REFUSED)
})

it('for a caller without quota, long content is inserted only to repeat a call', async () => {
  const id = await storeLongResponse()
  expect(await continueResponse(id, undefined, 'admitted')).toMatchObject({ status: 200 })
  // This pays for the least that the content can cost, but not for what is held for it.
  await leave(200_000n)
  const refused = await continueResponse(id, undefined, 'refused')
  expect(refused).toMatchObject({ status: 402, code: 'insufficient_quota' })
  expect(refused.opened).toBeGreaterThan(0)
  await leave(500n)
  const repeated = await continueResponse(id, undefined, 'admitted')
  expect(repeated).toMatchObject({ status: 409, code: 'idempotency_replayed' })
  expect(repeated.opened).toBeGreaterThan(0)
  for (const keyed of ['refused', 'new']) {
    expect(await continueResponse(id, undefined, keyed)).toEqual(REFUSED)
  }
})
