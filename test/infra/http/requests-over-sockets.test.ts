import { connect } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { httpFixture } from './http-fixture.ts'

const fixture = startedOnce(() => httpFixture(['127.0.0.1/32']))
let url: string
let port: number

beforeAll(async () => {
  url = await fixture.app.listen({ port: 0, host: '127.0.0.1' })
  port = Number(new URL(url).port)
})

const json = { 'content-type': 'application/json' }

/**
 * Sends raw bytes. Resolves with everything that was received until the server closed the
 * connection.
 */
const raw = (bytes: string): Promise<string> =>
  new Promise((done, failed) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => done(text))
    socket.on('error', failed)
  })

describe('requests over a real socket', () => {
  it('ten megabytes are refused with an answer that arrives during the upload', async () => {
    for (let n = 0; n < 10; n += 1) {
      const body = '['.repeat(10_000_000)
      const answer = await fetch(`${url}/api/echo`, { method: 'POST', headers: json, body })
      expect(answer.status).toBe(413)
      expect(await answer.json()).toMatchObject({ success: false, code: 'TooLarge' })
    }
  })

  it('an upload without a length is cut off at 1 MB, and other requests are served', async () => {
    const chunk = Buffer.alloc(100_000, '[')
    const body = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 100; n += 1) controller.enqueue(chunk)
        controller.close()
      },
    })
    const answer = await fetch(`${url}/api/echo`, {
      method: 'POST',
      headers: json,
      body,
      duplex: 'half',
    } as RequestInit)
    expect(answer.status).toBe(413)
    expect((await fetch(`${url}/api/open`)).status).toBe(200)
  })

  it('bytes that are not HTTP are answered in the envelope', async () => {
    const text = await raw('NONSENSE\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text).toContain('"code":"InvalidRequest"')
  })

  it('headers beyond 16 KiB are refused', async () => {
    const text = await raw(`GET /api/open HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 431 /)
  })

  it('the scheme from a trusted proxy decides whether cookies are secure', async () => {
    fixture.addUser(1)
    const answer = await fetch(`${url}/api/enter/1`, {
      method: 'POST',
      headers: { 'x-forwarded-proto': 'https' },
    })
    expect(answer.headers.get('set-cookie')).toMatch(/; Secure/)
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
  })

  it('long lists are compressed, and the answer names the header that decided it', async () => {
    const { server } = fixture.app
    expect([server.requestTimeout, server.headersTimeout, server.keepAliveTimeout]).toEqual([
      120_000, 15_000, 72_000,
    ])
    const answer = await fetch(`${url}/api/long`, { headers: { 'accept-encoding': 'gzip' } })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('vary')?.toLowerCase()).toContain('accept-encoding')
    expect(answer.headers.get('vary')).toContain('Cookie')
    const body = (await answer.json()) as { data: string }
    expect(body.data).toHaveLength(10_000)
  })

  it('an event stream is never held back for compression', async () => {
    const answer = await fetch(`${url}/api/stream`, { headers: { 'accept-encoding': 'gzip' } })
    expect(answer.headers.get('content-encoding')).toBeNull()
    await answer.text()
  })
})
