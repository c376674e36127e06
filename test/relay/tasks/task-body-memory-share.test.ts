import { request as httpRequest } from 'node:http'
import { beforeAll, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { tasksRig } from './tasks-rig.ts'

const UNPAID_KEY = 'zyxwvutsrqponmlkjihgfedcba9876543210ABCDEFGHIJKL'
const LARGE_BYTES = 20 * 1024 * 1024

const rig = startedOnce(tasksRig)
beforeAll(async () => {
  await rig.addUser(8)
  await rig.addToken(4, 8, UNPAID_KEY)
})

/** Declares a large body and sends only its first bytes, until `abort`. */
function startUpload() {
  const upload = httpRequest(`${rig.url}/mj/submit/imagine`, {
    method: 'POST',
    headers: {
      authorization: `Bearer sk-${UNPAID_KEY}`,
      'content-type': 'application/json',
      'content-length': LARGE_BYTES,
    },
  })
  const status = new Promise<number>((resolve) => {
    upload.on('error', () => resolve(0))
    upload.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
  })
  upload.write('{"prompt":"')
  return { status, abort: () => upload.destroy() }
}

it('large task bodies share the memory that their user may use', async () => {
  const uploads = Array.from({ length: 5 }, startUpload)
  const first = await Promise.race(uploads.map(({ status }) => status))
  expect(first).toBe(429)
  const refused: number[] = []
  for (const { status } of uploads) status.then((code) => refused.push(code))
  await expect.poll(() => refused.length).toBe(4)
  expect(refused).toEqual([429, 429, 429, 429])
  for (const { abort } of uploads) abort()
  // The share of an upload that its caller gave up is free again.
  const prompt = 'a'.repeat(LARGE_BYTES)
  const whole = { 'mj-api-secret': `sk-${UNPAID_KEY}` }
  const statusOf = async () => (await rig.ask('/mj/submit/imagine', { prompt }, whole)).status
  await expect.poll(statusOf).not.toBe(429)
})
