import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BOUNDARY,
  bytesOfLength,
  formPart,
  type MeasuredRelay,
  startMeasuredRelay,
} from './support/measured-relay.ts'
import { KEY } from './support/relay-rig.ts'

const MIB = 1024 * 1024
const LENGTH = 112 * MIB
const USUAL_LENGTH = 48 * MIB
/**
 * So often is the shorter content sent to measure the usual memory. Together it is longer than the
 * long content, so only what grows with the length of one file differs, and not the garbage.
 */
const USUAL_TIMES = 3
const GROWTH_MB_MAX = 30
const HEADERS = { authorization: `Bearer sk-${KEY}` }
const FILE = '/v1/files/file-provider1/content'
const VIDEO = '/v1/videos/video_1/content'

let relay: MeasuredRelay
/** The number of bytes that the provider has got with the last upload. */
let uploaded = 0
let uploads = 0
/** How the provider answers a request for content. */
let answerContent: (response: ServerResponse) => void = () => {}

function json(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { method, url: path } = request
  if (path === FILE || path === VIDEO) return answerContent(response)
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
  })
  request.on('end', () => {
    if (path === '/v1/videos') return json(response, { id: 'video_1', status: 'queued' })
    if (path === '/v1/videos/video_1') {
      return json(response, { id: 'video_1', status: 'completed', seconds: '4' })
    }
    if (method === 'POST') {
      uploaded = length
      uploads += 1
    }
    json(response, { id: 'file-provider1', object: 'file' })
  })
}

beforeAll(async () => {
  relay = await startMeasuredRelay('large-files-relay.ts', answer)
})

afterAll(() => relay.close())

const LINE_TEXT = 'Hello '.repeat(10_000)
function lineOf(index: number): Buffer {
  const messages = [{ role: 'user', content: LINE_TEXT }]
  const body = { model: 'letters', max_completion_tokens: 8, messages }
  const line = { custom_id: `${index}`, method: 'POST', url: '/v1/chat/completions', body }
  return Buffer.from(`${JSON.stringify(line)}\n`)
}

/** Yields lines of a batch with about `length` bytes together. */
function* lines(length: number): Generator<Buffer> {
  let sent = 0
  for (let index = 0; sent < length; index += 1) {
    const line = lineOf(index)
    sent += line.length
    yield line
  }
}

function upload(content: Iterable<Buffer> | AsyncIterable<Buffer>) {
  const request = httpRequest(`${relay.url}/v1/files`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  })
  const body = async function* () {
    yield Buffer.from(`${formPart('purpose')}batch\r\n${formPart('file', '; filename="a.jsonl"')}`)
    yield* content
    yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
  }
  return { request, sent: pipeline(Readable.from(body()), request) }
}

async function sendFile(length: number): Promise<string> {
  const { request, sent } = upload(lines(length))
  const answered = once(request, 'response')
  await sent
  const [response] = (await answered) as [IncomingMessage]
  let text = ''
  for await (const chunk of response) text += chunk
  expect(response.statusCode, text).toBe(200)
  return JSON.parse(text).id
}

const contentOf = (length: number) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': length })
  pipeline(Readable.from(bytesOfLength(length)), response).catch(() => {})
}

/** Answers with half of the announced content, and then closes the connection. */
const cutContent = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 2 * MIB })
  response.write(Buffer.alloc(MIB, 7), () => response.destroy())
}

async function lengthOf(path: string): Promise<number> {
  const response = await fetch(`${relay.url}${path}`, { headers: HEADERS })
  expect(response.status).toBe(200)
  let length = 0
  for await (const chunk of response.body ?? []) length += chunk.length
  return length
}

async function expectFlatDownload(path: string): Promise<void> {
  answerContent = contentOf(USUAL_LENGTH)
  const usual = await relay.peakDuring(async () => {
    expect(await lengthOf(path)).toBe(USUAL_LENGTH)
  }, USUAL_TIMES)
  answerContent = contentOf(LENGTH)
  const most = await relay.lowestPeakDuring(async () => {
    expect(await lengthOf(path)).toBe(LENGTH)
  }, usual + GROWTH_MB_MAX)
  expect(most - usual).toBeLessThan(GROWTH_MB_MAX)
}

/** Expects that the provider's connection closes when the reader leaves in the middle. */
async function expectAbandonedDownload(path: string): Promise<void> {
  let isClosed = false
  answerContent = (response) => {
    response.on('close', () => {
      isClosed = !response.writableFinished
    })
    contentOf(LENGTH)(response)
  }
  const leaving = new AbortController()
  const response = await fetch(`${relay.url}${path}`, { headers: HEADERS, signal: leaving.signal })
  await response.body?.getReader().read()
  leaving.abort()
  await expect.poll(() => isClosed).toBe(true)
}

describe('a file of more than 100 MB', () => {
  it('is uploaded with flat memory, and leaves nothing on disk', async () => {
    const usual = await relay.peakDuring(async () => {
      await sendFile(USUAL_LENGTH)
    }, USUAL_TIMES)
    const most = await relay.lowestPeakDuring(async () => {
      await sendFile(LENGTH)
    }, usual + GROWTH_MB_MAX)
    expect(uploaded).toBeGreaterThan(LENGTH)
    expect(most - usual).toBeLessThan(GROWTH_MB_MAX)
    expect(relay.uploadedFiles()).toEqual([])
  })

  it('is downloaded with flat memory, and a cut in the middle ends the download', async () => {
    const path = `/v1/files/${await sendFile(MIB)}/content`
    await expectFlatDownload(path)
    answerContent = cutContent
    await expect(lengthOf(path)).rejects.toThrow()
    await expectAbandonedDownload(path)
  })

  it('does not reach the provider if its upload is cut in the middle', async () => {
    const [before, listed] = [uploads, await listedFiles()]
    const unfinished = async function* () {
      yield* lines(8 * MIB)
      await new Promise(() => {})
    }
    const { request, sent } = upload(unfinished())
    request.on('error', () => {})
    sent.catch(() => {})
    await expect.poll(() => request.socket?.bytesWritten ?? 0).toBeGreaterThan(8 * MIB)
    request.destroy()
    await sendFile(MIB)
    expect([uploads, await listedFiles()]).toEqual([before + 1, listed + 1])
    expect(relay.uploadedFiles()).toEqual([])
  })
})

async function listedFiles(): Promise<number> {
  const response = await fetch(`${relay.url}/v1/files`, { headers: HEADERS })
  return ((await response.json()) as { data: unknown[] }).data.length
}

it('a video of more than 100 MB is downloaded with flat memory, and is charged once', async () => {
  const created = await fetch(`${relay.url}/v1/videos`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sora-2', prompt: 'the sea' }),
  })
  const { id } = (await created.json()) as { id: string }
  const statusOf = async () => {
    const response = await fetch(`${relay.url}/v1/videos/${id}`, { headers: HEADERS })
    return ((await response.json()) as { status: string }).status
  }
  await expect.poll(statusOf).toBe('completed')
  const path = `/v1/videos/${id}/content`
  await expectFlatDownload(path)
  answerContent = cutContent
  await expect(lengthOf(path)).rejects.toThrow()
  await expectAbandonedDownload(path)
  expect(await relay.ends()).toMatchObject([{ type: 'CallSettled', data: { call: id } }])
})
