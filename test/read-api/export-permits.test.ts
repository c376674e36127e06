import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createPermits, limitReading } from '#read-api/logs/export-permits-and-streaming.ts'

it('exports at once are limited in total and per user; a permit is released once', () => {
  const long = { inFlight: 0 }
  const take = createPermits({ all: 3, each: 2 }, long)
  const [first, second] = [take(1), take(1)]
  expect(() => take(1)).toThrow(expect.objectContaining({ code: 'TooManyExports', status: 429 }))
  const other = take(2)
  expect(() => take(3)).toThrow(expect.objectContaining({ code: 'TooManyExports' }))
  expect(long.inFlight).toBe(3)
  first()
  first()
  expect(long.inFlight).toBe(2)
  const third = take(3)
  for (const release of [second, other, third]) release()
  expect(long.inFlight).toBe(0)
})

it('admins get a reserved permit when all others are in use', () => {
  const take = createPermits({ all: 4, each: 2, reservedForAdmins: 1 }, { inFlight: 0 })
  for (const user of [1, 1, 2]) take(user)
  expect(() => take(3)).toThrow(expect.objectContaining({ code: 'TooManyExports' }))
  const release = take(9, true)
  expect(() => take(9, true)).toThrow(expect.objectContaining({ code: 'TooManyExports' }))
  release()
  expect(() => take(3)).toThrow(expect.objectContaining({ code: 'TooManyExports' }))
})

it('an export whose client reads too slowly is aborted at the time limit', async () => {
  const ends: string[] = []
  const trickle = async function* () {
    for (;;) yield 'x'
  }
  const limits = { stallMs: 60_000, totalMs: 100 }
  for await (const _ of limitReading(trickle(), limits, ({ message }) => ends.push(message))) {
    if (ends.length > 0) break
    await delay(5)
  }
  expect(ends).toEqual(['reading an export took too long'])
})

it('an export is aborted when its client stops reading, but not while it reads', async () => {
  // At first as slow as who reads it, then more than any socket takes unread.
  const endless = async function* () {
    for (let piece = 0; piece < 30; piece += 1) {
      yield 'x'
      await delay(20)
    }
    for (;;) yield 'x'.repeat(100_000)
  }
  const ends: string[] = []
  const server = createServer((_request, response) => {
    const pieces = limitReading(endless(), { stallMs: 200, totalMs: 60_000 }, (why) =>
      file.destroy(why),
    )
    const file: Readable = Readable.from(pieces, { objectMode: false })
    file.on('error', ({ message }) => {
      ends.push(message)
      response.destroy()
    })
    file.pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  for (let read = 0; read < 30; ) read += ((await once(answer, 'data')) as [Buffer])[0].length
  expect(ends).toEqual([])
  answer.pause()
  await expect.poll(() => ends).toEqual(['the client stopped reading an export'])
  request.destroy()
  server.close()
})
