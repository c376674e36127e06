import { expect, it, vi } from 'vitest'
import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { startCore } from '#infra/start-core.ts'
import { startViews } from '#relay/views/start-views.ts'
import { testConfig } from '../support/test-core.ts'
import { NO_ROWS } from './support/empty-view-rows.ts'

const WITHIN_MS = 1_000

it('a relay in another process follows each change of an option within a second', async () => {
  const { config, drop } = await testConfig()
  const [writing, relaying] = [await startCore(config), await startCore(config)]
  const views = await startViews(
    relaying.core,
    NO_ROWS,
    operatorPolicy(config),
    async () => NO_ROWS.channels,
  )
  const set = (key: string, value: string) =>
    writing.core.actors.handle(
      optionsDecider,
      OPTIONS_STREAM,
      { type: 'SetOption', key, value },
      { actor: 'user:1', cause: null, at: Date.now() },
    )
  const changes: readonly (readonly [key: string, value: string, seen: () => boolean])[] = [
    ['RetryTimes', '3', () => views.options.options.retryTimes === 3],
    [
      'global.hide_upstream_error_enabled',
      'true',
      () => views.options.options.isUpstreamErrorHidden,
    ],
    ['ModelRatio', '{"m":7}', () => views.options.prices.set.get('ModelRatio')?.get('m') === '7'],
    ['RetryTimes', '0', () => views.options.options.retryTimes === 0],
  ]
  for (const [key, value, seen] of changes) {
    expect(seen(), key).toBe(false)
    expect(await set(key, value)).toMatchObject({ isDone: true })
    await vi.waitFor(() => expect(seen(), key).toBe(true), { timeout: WITHIN_MS, interval: 5 })
  }
  await views.stop()
  await writing.close()
  await relaying.close()
  await drop()
})
