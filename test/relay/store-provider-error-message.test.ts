import { afterEach, expect, it } from 'vitest'
import type { ProviderMessage } from '#infra/provider-messages/store-provider-error-messages.ts'
import { chat, errorOf, onlyEnd, type RelayRig, relayRig, USER } from './support/relay-rig.ts'

let rig: RelayRig
afterEach(() => rig.close())

/** The messages that the relay keeps, opened. */
async function startRig(): Promise<() => Promise<(ProviderMessage & { text: string | null })[]>> {
  const kept: ProviderMessage[] = []
  const providerMessages = {
    add: (message: ProviderMessage) => void kept.push(message),
    find: async () => new Map(),
    sweep: async () => {},
    flush: async () => {},
  }
  rig = await relayRig({ providerMessages })
  return async () => {
    await expect.poll(() => kept.length).toBeGreaterThan(0)
    return Promise.all(
      kept.map(async (message) => ({
        ...message,
        text: await rig.core.vault.open(USER, message.message),
      })),
    )
  }
}

it('the relay stores the message of a failed call without keys and addresses', async () => {
  const messages = await startRig()
  rig.provider.script.push({ kind: 'status', status: 500 })
  const answer = await chat(rig)
  expect(answer.status).toBe(500)
  const [kept] = await messages()
  expect(kept).toMatchObject({ userId: USER, isShown: true })
  expect(kept?.text).toBe(errorOf(answer).message)
  expect(kept?.text).not.toMatch(/sk-provider|127\.0\.0\.1|http:/)
  expect((await onlyEnd(rig)).data).toMatchObject({ call: kept?.call })
})

it('the message is hidden from the caller if the provider refused the site’s account', async () => {
  const messages = await startRig()
  rig.provider.script.push({ kind: 'status', status: 401 })
  expect((await chat(rig)).status).toBe(502)
  expect(await messages()).toMatchObject([{ isShown: false }])
})

it('the message is hidden from the caller if the site hides provider errors', async () => {
  const messages = await startRig()
  await rig.setOption('global.hide_upstream_error_enabled', 'true')
  rig.provider.script.push({ kind: 'status', status: 500 })
  await chat(rig)
  expect(await messages()).toMatchObject([{ isShown: false }])
})

it('the relay stores the message of an error event that ends a stream', async () => {
  const messages = await startRig()
  rig.provider.script.push({ kind: 'error-in-stream', afterChunks: 3, code: 'server_error' })
  await chat(rig, { stream: true })
  expect(await messages()).toMatchObject([{ isShown: true, text: 'simulated failure' }])
})
