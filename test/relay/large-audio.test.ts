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
/** Long enough that all buffers which are not yet collected count in the usual memory as well. */
const USUAL_LENGTH = 48 * MIB
const GROWTH_MB_MAX = 30

let relay: MeasuredRelay
/** Answers the next call as the provider, and counts the bytes that the provider has got. */
let answer: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}
let uploaded = 0

beforeAll(async () => {
  relay = await startMeasuredRelay('audio-relay.ts', (request, response) => {
    answer(request, response)
  })
})

afterAll(() => relay.close())

/** Returns the most memory for shorter audio, after calls that let the heap grow as usual. */
const usualPeak = (work: () => Promise<void>): Promise<number> => relay.peakDuring(work, 4)

const AUDIO = {
  path: '/v1/audio/transcriptions',
  head: `${formPart('model')}letters\r\n${formPart('file', '; filename="a.wav"')}`,
  tail: `\r\n--${BOUNDARY}--\r\n`,
}
/** An edit of an image, whose fields follow the file. */
const IMAGE = {
  path: '/v1/images/edits',
  head: formPart('image', '; filename="a.png"'),
  tail: `\r\n${formPart('prompt')}hats\r\n${formPart('model')}pictures\r\n--${BOUNDARY}--\r\n`,
}

/** Sends a form with a file. `length` is the declared length of the file. */
function upload(length: number, content: Iterable<Buffer>, { path, head, tail } = AUDIO) {
  const request = httpRequest(`${relay.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer sk-${KEY}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'content-length': head.length + length + tail.length,
    },
  })
  const body = function* () {
    yield Buffer.from(head)
    yield* content
    yield Buffer.from(tail)
  }
  return { request, sent: pipeline(Readable.from(body()), request) }
}

const send = async (length: number, form = AUDIO): Promise<number | undefined> => {
  const { request, sent } = upload(length, bytesOfLength(length), form)
  const answered = once(request, 'response')
  await sent
  const [response] = (await answered) as [IncomingMessage]
  for await (const _ of response);
  return response.statusCode
}

const countUpload = (request: IncomingMessage, response: ServerResponse): void => {
  uploaded = 0
  request.on('data', (chunk: Buffer) => {
    uploaded += chunk.length
  })
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end('{"text":"hello","usage":{"type":"duration","seconds":600}}')
  })
}

const speakFor = (length: number) => (request: IncomingMessage, response: ServerResponse) => {
  request.resume()
  response.setHeader('content-type', 'audio/pcm')
  pipeline(Readable.from(bytesOfLength(length)), response).catch(() => {})
}

const speak = (model = 'letters', signal: AbortSignal | null = null) =>
  fetch(`${relay.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'Hello '.repeat(2_000), voice: 'alloy' }),
    signal,
  })

async function lengthOf(response: Response): Promise<number> {
  let length = 0
  for await (const chunk of response.body ?? []) length += chunk.length
  return length
}

describe('audio of more than 100 MB', () => {
  it('is uploaded with flat memory, and leaves no file', async () => {
    answer = countUpload
    const usual = await usualPeak(async () => {
      expect(await send(USUAL_LENGTH)).toBe(200)
    })
    const most = await relay.lowestPeakDuring(async () => {
      expect(await send(LENGTH)).toBe(200)
    }, usual + GROWTH_MB_MAX)
    expect(uploaded).toBeGreaterThan(LENGTH)
    expect(most - usual).toBeLessThan(GROWTH_MB_MAX)
    expect(relay.uploadedFiles()).toEqual([])
    expect((await relay.ends()).at(-1)).toMatchObject({
      type: 'CallSettled',
      data: { usage: { inputUncached: 10_000, seconds: 600 } },
    })
  })

  it('is as flat for an image to edit', async () => {
    answer = (request, response) => {
      uploaded = 0
      request.on('data', (chunk: Buffer) => {
        uploaded += chunk.length
      })
      request.on('end', () => response.end('{"data":[{"url":"https://images.example/a"}]}'))
    }
    const usual = await usualPeak(async () => {
      expect(await send(USUAL_LENGTH, IMAGE)).toBe(200)
    })
    const most = await relay.lowestPeakDuring(async () => {
      expect(await send(LENGTH, IMAGE)).toBe(200)
    }, usual + GROWTH_MB_MAX)
    expect(uploaded).toBeGreaterThan(LENGTH)
    expect(most - usual).toBeLessThan(GROWTH_MB_MAX)
    expect((await relay.ends()).at(-1)).toMatchObject({
      data: { charge: 10_000, usage: { images: 1 } },
    })
  })

  it('is downloaded with flat memory, also by a slow reader', async () => {
    answer = speakFor(USUAL_LENGTH)
    const usual = await usualPeak(async () => {
      expect(await lengthOf(await speak())).toBe(USUAL_LENGTH)
    })
    answer = speakFor(LENGTH)
    const most = await relay.lowestPeakDuring(async () => {
      const response = await speak()
      // The relay must stop reading from the provider while nothing is read here.
      await new Promise((resume) => setTimeout(resume, 500))
      expect(await lengthOf(response)).toBe(LENGTH)
    }, usual + GROWTH_MB_MAX)
    expect(most - usual).toBeLessThan(GROWTH_MB_MAX)
    expect((await relay.ends()).at(-1)).toMatchObject({
      type: 'CallSettled',
      data: { usage: { characters: 12_000, inputUncached: 12_000 }, end: 'done' },
    })
  })

  it('ends once and costs nothing if the upload is cut in the middle', async () => {
    const before = (await relay.ends()).length
    const { request, sent } = upload(LENGTH, bytesOfLength(LENGTH / 2))
    request.on('error', () => {})
    sent.catch(() => {})
    await new Promise((resume) => setTimeout(resume, 300))
    request.destroy()
    await expect.poll(() => relay.uploadedFiles()).toEqual([])
    expect(await relay.ends()).toHaveLength(before)
  })

  it('is billed by what was delivered if the download is cut in the middle', async () => {
    const before = (await relay.ends()).length
    answer = (request, response) => {
      request.resume()
      response.setHeader('content-type', 'audio/pcm')
      response.write(Buffer.alloc(4_800_000), () => response.destroy())
    }
    await expect(speak('sounds').then(lengthOf)).rejects.toThrow()
    await expect.poll(async () => (await relay.ends()).length).toBe(before + 1)
    expect((await relay.ends()).at(-1)).toMatchObject({
      type: 'CallSettled',
      // 100 seconds of 1 250 tokens per minute.
      data: { usage: { outputAudio: 2_084 }, usageSource: 'partial', end: 'incomplete' },
    })
  })
})
