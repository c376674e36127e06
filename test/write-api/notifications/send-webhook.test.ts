import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { userPolicy } from '#infra/outbound/outbound-policy.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { sendWebhook, WEBHOOK_LIMITS } from '#write-api/notifications/send-webhook.ts'
import { startHookServer } from './webhook-server.ts'

const server = startedOnce(startHookServer)

const NOW = 1_800_000_000_500
const HOOK = {
  url: 'https://hooks.example.com/quota',
  secret: 'whs-1',
  eventId: 'event-1',
  body: { remaining_quota: -5, text: '额度' },
}
const untilStopped = new AbortController().signal
const send = (change: object = {}, stop = untilStopped) =>
  sendWebhook(server, { ...HOOK, ...change }, { now: () => NOW, stop })

describe('a webhook', () => {
  it('carries its secret, a signature over time and body, and the event’s id', async () => {
    server.answer(204)
    expect(await send()).toBe(true)
    const [{ headers, body } = { headers: {}, body: '' }] = server.posted
    expect(JSON.parse(body)).toEqual(HOOK.body)
    const v1 = createHmac('sha256', 'whs-1').update(`1800000000.${body}`).digest('hex')
    expect(headers).toMatchObject({
      authorization: 'Bearer whs-1',
      'x-gw-signature': `t=1800000000,v1=${v1}`,
      'x-gw-event-id': 'event-1',
      'content-type': 'application/json',
      host: 'hooks.example.com',
    })
  })

  it('carries neither secret nor signature if it has no secret', async () => {
    server.answer(200)
    expect(await send({ secret: null })).toBe(true)
    expect(server.posted[0]?.headers).not.toHaveProperty('authorization')
    expect(server.posted[0]?.headers).not.toHaveProperty('x-gw-signature')
  })

  it('is tried up to three times, as the same event, and then fails', async () => {
    server.answer(500, 429, 200)
    expect(await send()).toBe(true)
    expect(new Set(server.posted.map(({ headers }) => headers['x-gw-event-id'])).size).toBe(1)
    expect(server.posted).toHaveLength(3)
    server.answer(503)
    expect(await send()).toBe(false)
    expect(server.posted).toHaveLength(3)
  })

  it('fails at once with an old secret that no header can carry', async () => {
    server.answer(200)
    for (const secret of ['密钥-geheim', 'a\nb']) {
      await expect(send({ secret })).rejects.toThrow('invalid authorization header')
    }
    expect(server.posted).toEqual([])
  })

  it.each([301, 307, 400, 404])(
    'is neither redirected nor retried after the answer %s',
    async (status) => {
      server.answer(status)
      expect(await send()).toBe(false)
      expect(server.posted).toHaveLength(1)
    },
  )

  it('is not retried after a request to stop', async () => {
    server.answer(500)
    expect(await send({}, AbortSignal.abort())).toBe(false)
    expect(server.posted).toHaveLength(1)
  })

  it.each(['http://hooks.example.com/', 'https://127.0.0.1/', 'https://hooks.example.com:8443/'])(
    'is never sent to %s, even if that address was saved',
    async (url) => {
      server.answer(200)
      expect(await send({ url })).toBe(false)
      expect(server.posted).toEqual([])
    },
  )

  it('is not sent to a host name that resolves to a private address', async () => {
    const outbound = createOutbound(userPolicy, WEBHOOK_LIMITS, (_name, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]),
    )
    const stop = AbortSignal.abort()
    expect(await sendWebhook(outbound, HOOK, { now: () => NOW, stop })).toBe(false)
    await outbound.close()
  })
})
