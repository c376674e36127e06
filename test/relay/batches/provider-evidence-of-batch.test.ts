import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { CallReleased, CallSettled } from '#domain/accounts/events.ts'
import { type BatchEvent, batchStream } from '#domain/batches/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, PROVIDER_KEY, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig({ batchPollEveryMs: 3_600_000 }))

const CLAUDE = 'claude-sonnet-5-5'
const GPT = 'gpt-4o-mini'
const GEMINI = 'gemini-2.5-flash'
const MESSAGE_BATCHES = '/v1/messages/batches'
const REQUEST_ID = { 'request-id': 'req_of-the-provider' }

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [CLAUDE]: 1, [GPT]: 1, [GEMINI]: 1 })
})

const digestOf = (text: string) => ({
  bytes: Buffer.byteLength(text),
  sha256: createHash('sha256').update(text).digest('hex'),
})

async function call(method: string, path: string, body?: string | FormData) {
  const key = path.startsWith('/v1beta') ? 'x-goog-api-key' : 'x-api-key'
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: { [key]: `sk-${KEY}`, ...type },
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

async function onlyEnd(): Promise<(CallSettled | CallReleased)['data']> {
  const ends = (await rig.callEvents()).filter(({ type }) => type !== 'CallAdmitted')
  expect(ends).toHaveLength(1)
  return ends[0]?.data as (CallSettled | CallReleased)['data']
}

async function billedLines() {
  const [admission] = await rig.callEvents()
  if (admission?.type !== 'CallAdmitted') throw new Error('not admitted')
  const events = (await rig.eventsOf(batchStream(admission.data.call))) as readonly BatchEvent[]
  return events.flatMap((event) => (event.type === 'BatchLinesBilled' ? event.data.lines : []))
}

const HOST_HASH = expect.stringMatching(/^[0-9a-f]{16}$/)

describe('the evidence of a message batch', () => {
  const UPSTREAM = 'msgbatch_provider1'
  const description = (status: string) => ({
    ...{ id: UPSTREAM, type: 'message_batch', processing_status: status },
    request_counts: { processing: 0, succeeded: 1, errored: 0, canceled: 0, expired: 0 },
  })
  const params = { model: CLAUDE, max_tokens: 64, messages: [{ role: 'user', content: 'Hi' }] }
  const submit = (...ids: string[]) => {
    const requests = ids.map((custom_id) => ({ custom_id, params }))
    return call('POST', MESSAGE_BATCHES, JSON.stringify({ requests }))
  }
  const result = (custom_id: string, model: string) => {
    const usage = { input_tokens: 10, output_tokens: 5, service_tier: 'batch' }
    const message = { id: `msg_${custom_id}`, type: 'message', model, content: [], usage }
    return JSON.stringify({ custom_id, result: { type: 'succeeded', message } })
  }
  beforeEach(async () => {
    const modelMapping = JSON.stringify({ [CLAUDE]: 'vendor-model' })
    await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [CLAUDE], modelMapping })
    const body = description('in_progress')
    provider.answers.set(`POST ${MESSAGE_BATCHES}`, { headers: REQUEST_ID, body })
  })

  it('has the submission in the call, and what each billed line tells', async () => {
    const { id } = (await submit('a', 'b')).body
    const ended = description('ended')
    const lines = [result('a', 'vendor-model'), result('b', 'cheaper-model')]
    provider.answers.set(`GET ${MESSAGE_BATCHES}/${UPSTREAM}`, { body: ended })
    const path = `GET ${MESSAGE_BATCHES}/${UPSTREAM}/results`
    provider.answers.set(path, { body: lines.join('\n') })
    expect((await call('GET', `${MESSAGE_BATCHES}/${id}`)).status).toBe(200)
    expect(await onlyEnd()).toMatchObject({
      ...{ upstreamModel: 'vendor-model', anomaly: 'other-model' },
      attempts: [
        {
          ...{ channelId: 2, status: 200, error: null, latencyMs: expect.any(Number) },
          evidence: {
            ...{ sentAt: expect.any(Number), hostHash: HOST_HASH },
            sent: digestOf(provider.requests[0]?.body ?? ''),
            received: digestOf(JSON.stringify(description('in_progress'))),
            ...{ requestId: 'req_of-the-provider', model: 'cheaper-model' },
            fingerprint: { id: UPSTREAM },
          },
        },
      ],
    })
    const usage = '{"input_tokens":10,"output_tokens":5,"service_tier":"batch"}'
    const shown = { sentModel: 'vendor-model', usage }
    const [a = '', b = ''] = lines
    expect(await billedLines()).toMatchObject([
      {
        line: 0,
        evidence: {
          ...{ ...shown, model: 'vendor-model' },
          ...{ received: digestOf(a), fingerprint: { id: 'msg_a' } },
        },
      },
      {
        ...{ line: 1, isOtherModel: true },
        evidence: {
          ...{ ...shown, model: 'cheaper-model' },
          ...{ received: digestOf(b), fingerprint: { id: 'msg_b' } },
        },
      },
    ])
  })

  it('is recorded for a batch that the provider refused, without its key', async () => {
    const body = { type: 'error', error: { type: 'invalid_request_error', message: 'no' } }
    const headers = { 'request-id': PROVIDER_KEY }
    provider.answers.set(`POST ${MESSAGE_BATCHES}`, { status: 400, headers, body })
    expect((await submit('a')).status).toBe(400)
    const { attempts } = await onlyEnd()
    expect(attempts).toEqual([
      {
        ...{ channelId: 2, status: 400, error: 'status', latencyMs: expect.any(Number) },
        evidence: {
          ...{ sentAt: expect.any(Number), hostHash: HOST_HASH },
          sent: digestOf(provider.requests[0]?.body ?? ''),
          received: digestOf(JSON.stringify(body)),
        },
      },
    ])
  })
})

describe('the evidence of a batch in a file', () => {
  it('has the digest of the file, and the request id of each line', async () => {
    await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [GPT] })
    const body = { model: GPT, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
    const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body }
    const content = `${JSON.stringify(line)}\n`
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([content]), 'requests.jsonl')
    const file = { id: 'file-provider1', object: 'file', bytes: content.length, created_at: 1 }
    provider.answers.set('POST /v1/files', { body: { ...file, status: 'processed' } })
    provider.answers.set('GET /v1/files/file-provider1/content', { body: content })
    const uploaded = await call('POST', '/v1/files', form)
    expect(uploaded.status, JSON.stringify(uploaded.body)).toBe(200)
    const described = { id: 'batch_provider1', input_file_id: 'file-provider1' }
    const created = { ...described, status: 'validating' }
    provider.answers.set('POST /v1/batches', { headers: REQUEST_ID, body: created })
    const submission = {
      ...{ input_file_id: uploaded.body.id, endpoint: line.url, completion_window: '24h' },
    }
    const { status, body: batch } = await call('POST', '/v1/batches', JSON.stringify(submission))
    expect(status, JSON.stringify(batch)).toBe(200)
    const counts = { total: 1, completed: 1, failed: 0 }
    const done = { ...described, status: 'completed', output_file_id: 'file-out' }
    const answered = { ...done, request_counts: counts }
    provider.answers.set('GET /v1/batches/batch_provider1', { body: answered })
    const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 }
    const answer = { id: 'chatcmpl-1', model: GPT, choices: [], system_fingerprint: 'fp_1', usage }
    const response = { status_code: 200, request_id: 'req_line-1', body: answer }
    const output = JSON.stringify({ id: 'batch_req_1', custom_id: 'a', response, error: null })
    provider.answers.set('GET /v1/files/file-out/content', { body: `${output}\n` })
    provider.answers.set('GET /v1/files/file-out', { body: { id: 'file-out', bytes: 9 } })
    await call('GET', `/v1/batches/${batch.id}`)
    const [attempt] = (await onlyEnd()).attempts
    const posted = provider.requests.find(
      ({ method, path }) => method === 'POST' && path === '/v1/batches',
    )
    expect(attempt?.evidence).toMatchObject({
      hostHash: HOST_HASH,
      sent: digestOf(posted?.body ?? ''),
      ...{ received: digestOf(JSON.stringify(created)), file: digestOf(content) },
      ...{ requestId: 'req_of-the-provider', fingerprint: { id: 'batch_provider1' } },
    })
    const [billed] = await billedLines()
    expect(billed?.evidence).toEqual({
      ...{ received: digestOf(output), requestId: 'req_line-1', model: GPT },
      fingerprint: { id: 'chatcmpl-1', system_fingerprint: 'fp_1' },
      usage: JSON.stringify(usage),
    })
  })
})

describe('the evidence of a batch of Gemini', () => {
  it('has the bytes of each result in the description', async () => {
    await rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [GEMINI] })
    const path = `/v1beta/models/${GEMINI}:batchGenerateContent`
    const name = 'batches/provider1'
    const running = { name, metadata: { state: 'BATCH_STATE_RUNNING' } }
    provider.answers.set(`POST ${path}`, { body: running })
    const request = { contents: [{ parts: [{ text: 'Hi' }] }] }
    const input_config = { requests: { requests: [{ request }] } }
    const submitted = await call('POST', path, JSON.stringify({ batch: { input_config } }))
    expect(submitted.status, JSON.stringify(submitted.body)).toBe(200)
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
    const response = { responseId: 'r-1', modelVersion: GEMINI, candidates: [], usageMetadata }
    const inlinedResponses = { inlinedResponses: [{ response }] }
    const metadata = { state: 'BATCH_STATE_SUCCEEDED', output: { inlinedResponses } }
    provider.answers.set('GET /v1beta/batches/provider1', { body: { name, metadata } })
    const { name: ours } = submitted.body as { readonly name: string }
    await call('GET', `/v1beta/${ours}`)
    const [attempt] = (await onlyEnd()).attempts
    expect(attempt?.evidence?.fingerprint).toEqual({ id: 'provider1' })
    const [billed] = await billedLines()
    expect(billed?.evidence).toEqual({
      ...{ received: digestOf(JSON.stringify({ response })), model: GEMINI },
      ...{ fingerprint: { responseId: 'r-1' }, usage: JSON.stringify(usageMetadata) },
    })
  })
})
