import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { BodyMemory } from '#relay/limits/body-memory.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig, USER } from './support/relay-rig.ts'

const MB = 1024 * 1024
const bodies = new BodyMemory(64 * MB)
const rig = startedForEach(() => relayRig({ bodies }))

const BODY = JSON.stringify({
  model: 'sim-small',
  messages: [{ role: 'user', content: 'The capital of France? '.repeat(10) }],
})

const CODINGS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const

async function send(coding: string, body: Buffer, path = '/v1/chat/completions') {
  const headers = {
    authorization: `Bearer sk-${KEY}`,
    'content-type': 'application/json',
    'content-encoding': coding,
  }
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  })
  const text = await response.text()
  const { error } = JSON.parse(text) as { error?: { code: string } }
  return { status: response.status, text, code: error?.code ?? null }
}

/** All memory is free again. */
function expectNothingHeld(): void {
  expect(bodies.taken).toEqual({ bodies: 0, decoders: 0 })
  const owner = { userId: USER, bytesMax: 1 }
  expect(bodies.reserve(owner, 1)).toBe(true)
  bodies.release(owner, 1)
}

/** A frame with a window of 2 to the power of `windowLog` bytes. */
function zstdStream(windowLog: number): Buffer {
  const params = { [constants.ZSTD_c_windowLog]: windowLog, [constants.ZSTD_c_contentSizeFlag]: 0 }
  const long = JSON.stringify({ ...JSON.parse(BODY), user: randomBytes(3 * MB).toString('hex') })
  return zstdCompressSync(long, { params })
}

/** A request that is sent piece by piece. Its errors are ignored. */
function upload(coding: string, { length }: Buffer, path = '/v1/chat/completions') {
  const request = httpRequest(`${rig.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer sk-${KEY}`,
      'content-type': 'application/json',
      'content-encoding': coding,
      'content-length': length,
    },
  })
  request.on('error', () => {})
  request.on('response', (response) => response.resume())
  return request
}

describe('a compressed request body', () => {
  it.each(Object.entries(CODINGS))(
    'with the coding %s reaches the provider plain',
    async (...of) => {
      const [coding, compress] = of
      const { status } = await send(coding, compress(BODY))
      expect(status).toBe(200)
      expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', usageSource: 'upstream' })
      expectNothingHeld()
    },
  )

  it('may consist of several members of gzip', async () => {
    const members = [gzipSync(BODY.slice(0, 20)), gzipSync(BODY.slice(20))]
    expect(await send('gzip', Buffer.concat(members))).toMatchObject({ status: 200 })
  })

  it('is accepted where tokens are counted', async () => {
    await rig.setOption('ModelRatio', { 'claude-test': 1 })
    await rig.addChannel(2, { type: 14, models: ['claude-test'] })
    const body = JSON.stringify({ ...JSON.parse(BODY), model: 'claude-test' })
    const answer = await send('zstd', zstdCompressSync(body), '/v1/messages/count_tokens')
    expect(answer.status).toBe(200)
    expectNothingHeld()
  })

  it.each([
    ['compress', gzipSync(BODY)],
    ['gzip, gzip', gzipSync(gzipSync(BODY))],
    ['gzip,identity', gzipSync(BODY)],
  ])('with the coding %s is refused', async (coding, body) => {
    expect(await send(coding, body)).toMatchObject({
      status: 415,
      code: 'unsupported_content_encoding',
    })
  })

  it.each([
    ['that is not compressed', 'gzip', Buffer.from(BODY)],
    ['that is cut', 'gzip', gzipSync(BODY).subarray(0, 60)],
    ['that is cut', 'zstd', zstdCompressSync(BODY).subarray(0, 60)],
    ['that is cut', 'br', brotliCompressSync(BODY).subarray(0, 60)],
    ['with bytes behind it', 'deflate', Buffer.concat([deflateSync(BODY), Buffer.from('{}')])],
    ['with bytes behind it', 'br', Buffer.concat([brotliCompressSync(BODY), Buffer.from('{}')])],
    ['that is empty', 'gzip', Buffer.alloc(0)],
  ])('%s (%s) is refused', async (_name, coding, body) => {
    const { status, code } = await send(coding, body)
    expect([status, code]).toEqual([400, 'invalid_content_encoding'])
    expectNothingHeld()
  })

  it('whose window is larger than the standard allows is refused', async () => {
    const params = { [constants.ZSTD_c_windowLog]: 26, [constants.ZSTD_c_contentSizeFlag]: 0 }
    const large = zstdCompressSync(Buffer.alloc(80 * MB, BODY), { params })
    expect(await send('zstd', large)).toMatchObject({ status: 400 })
  })

  it.each(Object.entries(CODINGS))('that is a bomb (%s) is refused early', async (...of) => {
    const [coding, compress] = of
    const bomb = compress(Buffer.alloc(300 * MB, 32))
    expect(await send(coding, bomb)).toMatchObject({ status: 413, code: 'compressed_too_far' })
    expectNothingHeld()
  })

  // The connection is not read any further, so another request on it would never be answered.
  it.each(['/v1/chat/completions', '/v1/videos', '/kling/v1/videos/text2video'])(
    'that is refused early at %s ends the connection',
    async (path) => {
      const bomb = gzipSync(Buffer.alloc(300 * MB, 32))
      const request = upload('gzip', bomb, path)
      const answered = once(request, 'response') as Promise<[IncomingMessage]>
      request.end(bomb)
      const [response] = await answered
      expect([response.statusCode, response.headers.connection]).toEqual([413, 'close'])
      expectNothingHeld()
    },
  )

  it('is limited by the length of its plain bytes', async () => {
    // Random digits are compressed to about half of their length.
    const digits = Buffer.from(
      Array.from({ length: 40 }, () => Math.random().toString().slice(2, 12)).join(''),
    )
    const long = Buffer.concat(
      Array.from({ length: 33 * 1024 * 4 }, (_, at) =>
        Buffer.from(`${at}${digits}`).subarray(0, 256),
      ),
    )
    const answer = await send('gzip', gzipSync(long, { level: 1 }))
    expect(answer.status).toBe(413)
    expectNothingHeld()
  })

  /** A coding with a window of its own size, and the memory of its decoder in MB. */
  const WINDOWS = [
    ['br', brotliCompressSync(BODY, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }), 20],
    ['br', brotliCompressSync(BODY, { params: { [constants.BROTLI_PARAM_LGWIN]: 16 } }), 4.0625],
    ['br', brotliCompressSync(BODY, { params: { [constants.BROTLI_PARAM_LGWIN]: 10 } }), 4],
    ['zstd', zstdCompressSync(BODY), 0.5],
    ['zstd', zstdStream(21), 2.5],
    ['gzip', gzipSync(BODY), 0.1],
  ] as const

  it.each(WINDOWS)('with %s is counted with the window that it demands', async (...row) => {
    const [coding, compressed, megabytes] = row
    const request = upload(coding, compressed)
    request.write(compressed.subarray(0, 20))
    await expect.poll(() => bodies.taken.decoders).toBeGreaterThan(0)
    const { decoders } = bodies.taken
    expect(decoders / MB).toBeGreaterThan(megabytes * 0.9)
    expect(decoders / MB).toBeLessThan(megabytes * 1.1)
    request.end(compressed.subarray(20))
    await expect.poll(() => bodies.taken).toEqual({ bodies: 0, decoders: 0 })
  })

  it('of a caller who leaves in the middle holds no memory', async () => {
    const compressed = brotliCompressSync(BODY)
    const request = upload('br', compressed)
    request.write(compressed.subarray(0, 10))
    await expect.poll(() => bodies.taken.decoders).toBeGreaterThan(MB)
    request.destroy()
    await expect.poll(() => bodies.taken.decoders).toBe(0)
    expectNothingHeld()
  })

  it('that is slow keeps no other caller from sending a body', async () => {
    const compressed = WINDOWS[0][1]
    const slow = Array.from({ length: 5 }, () => upload('br', compressed))
    for (const request of slow) request.write(compressed.subarray(0, 10))
    await expect.poll(() => bodies.taken.decoders).toBe(3 * 20 * MB)
    expect(await send('br', compressed)).toMatchObject({ code: 'overloaded' })
    expect(await send('gzip', gzipSync(BODY))).toMatchObject({ status: 200 })
    expect(await send('identity', Buffer.from(BODY))).toMatchObject({ status: 200 })
    for (const request of slow) request.destroy()
    await expect.poll(() => bodies.taken.decoders).toBe(0)
  })

  it('with a larger window in a later frame is refused', async () => {
    const later = Buffer.concat([zstdStream(18), zstdStream(22)])
    expect(await send('zstd', later)).toMatchObject({ code: 'invalid_content_encoding' })
    expectNothingHeld()
  })

  it('of a user who can not pay is refused before it is read', async () => {
    await rig.addUser(8)
    await rig.addToken(4, 8, `${KEY}x`)
    const response = await fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer sk-${KEY}x`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: new Uint8Array(gzipSync(BODY)),
    })
    expect(response.status).toBe(402)
    await response.body?.cancel()
  })
})
