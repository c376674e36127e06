import { describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)

describe('calls from browser extensions', () => {
  const from = async (origin: string) => (await chat(rig, {}, { origin })).status

  it.each(['chrome-extension://abcdef', 'moz-extension://1-2-3', 'safari-web-extension://X'])(
    'the relay accepts %s until an admin blocks extensions',
    async (origin) => {
      expect(await from(origin)).toBe(200)
      await rig.setOption('global.block_browser_extension_enabled', 'true')
      expect(await from(origin)).toBe(403)
      expect(await from('https://chat.example.com')).toBe(200)
      expect((await chat(rig)).status).toBe(200)
      expect(rig.provider.journal.count).toBe(3)
    },
  )
})

describe('the provider’s text of an error', () => {
  const failed = async () => {
    rig.provider.script.push({ kind: 'status', status: 418, code: 'teapot_code' })
    return await chat(rig)
  }

  it('the text reaches the caller without secrets, unless the site hides it', async () => {
    const open = await failed()
    expect([open.status, errorOf(open).code]).toEqual([418, 'teapot_code'])
    await rig.setOption('global.hide_upstream_error_enabled', 'true')
    const hidden = await failed()
    expect(hidden.status).toBe(418)
    expect(errorOf(hidden)).toMatchObject({
      code: 'upstream_error',
      message: 'The provider answered 418.',
    })
    expect(hidden.text).not.toContain('teapot')
  })

  it('the text is hidden in a stream, too', async () => {
    await rig.setOption('global.hide_upstream_error_enabled', 'true')
    rig.provider.script.push({ kind: 'error-in-stream', afterChunks: 2, code: 'secret_code' })
    const { text } = await chat(rig, { stream: true })
    expect(text).toContain('"error"')
    expect(text).not.toContain('secret_code')
  })
})

it('only users who accept models without a price can call one', async () => {
  await rig.addChannel(5, { models: ['no-price-at-all'] })
  const call = () => chat(rig, { model: 'no-price-at-all', max_tokens: 5 })
  expect(errorOf(await call()).code).toBe('model_unpriced')
  await rig.setOption('SelfUseModeEnabled', 'true')
  expect((await call()).status).toBe(200)
  await rig.setOption('SelfUseModeEnabled', 'false')
  expect(errorOf(await call()).code).toBe('model_unpriced')
  await rig.append('user-7', {
    type: 'UserSettingsChanged',
    v: 1,
    data: { userId: 7, settings: { acceptUnsetModelRatioModel: true, showIpInLogs: false } },
  })
  expect((await call()).status).toBe(200)
  await rig.setOption('fallback_single_price', '0.01')
  await rig.setOption('fallback_pricing_enabled', 'true')
  const before = await rig.balance()
  expect((await call()).status).toBe(200)
  expect(before - (await rig.balance())).toBe(5_000n)
})
